// SPDX-License-Identifier: Apache-2.0
// Whether a file is a shared library that a program like this one can load.
#pragma once

#include <string>

namespace pinscope::host {

// Empty if it is one for this machine, else why not, in words: "it is for aarch64", "it is no ELF file".
// Reads the file's header only (elf(5)).
std::string why_not_loadable(const std::string& path);

} // namespace pinscope::host
