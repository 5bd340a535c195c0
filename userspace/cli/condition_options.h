// SPDX-License-Identifier: Apache-2.0
// The options that several verbs share, and their reading.
#pragma once

#include "base/result.h"
#include "cli/verb.h"
#include "model/limit.h"

#include <optional>

namespace pinscope::cli {

Option with_cap_option();
Option without_cap_option();

// Fails where both are given.
Result<std::optional<bool>> read_capability(const Arguments& arguments);

// "8MiB", "0", "unlimited"
Result<Limit> read_limit(const std::string& text);

// A size above 0; `option` names it in the error.
Result<uint64_t> read_size(const std::string& option, const std::string& text);

// A whole number from 1 to `largest`.
Result<uint64_t> read_count(const std::string& option, const std::string& text, uint64_t largest);

} // namespace pinscope::cli
