// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace pinscope::host {

// Where the host's files are found: "" for the host itself, a folder for a tree that a test has made.
struct Root {
    std::string prefix;

    std::string at(std::string_view path) const { return prefix + std::string(path); }
};

} // namespace pinscope::host
