// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace pinscope::test {

// Empty where the document is what docs/schema/NAME describes, else what is wrong with it.
std::string check_schema(const nlohmann::json& document, const std::string& name);

} // namespace pinscope::test
