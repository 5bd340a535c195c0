// SPDX-License-Identifier: Apache-2.0
// A JSON document as text: for machines, and laid out for people.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace pinscope::report {

// Indented, with a final newline; always valid UTF-8, whatever bytes the host's names hold.
std::string dump(const nlohmann::ordered_json& document);

// Every value of the document, one a line, indented by depth: "size_bytes  16777216 (16 MiB)". Null is "-".
std::string outline(const nlohmann::ordered_json& document);

} // namespace pinscope::report
