// SPDX-License-Identifier: Apache-2.0
// From argv to Arguments, by the verb's table. The only file that knows CLI11 is parser.cpp.
#pragma once

#include "base/result.h"
#include "cli/verb.h"

#include <string>
#include <vector>

namespace pinscope::cli {

struct CommandLine {
    std::vector<std::string> before; // what pinscope is to read
    std::vector<std::string> command;
    bool has_command = false; // there was a "--"
};

// Cuts at the first "--", before any parser sees what follows.
CommandLine cut(const std::vector<std::string>& words);

// `words`: after the verb's name.
Result<Arguments> parse(const Verb& verb, const CommandLine& line);

} // namespace pinscope::cli
