// SPDX-License-Identifier: Apache-2.0
// Names of system calls, by their numbers on the machine that this was built for.
#pragma once

#include <cstdint>
#include <string>

namespace pinscope::probes {

// "mlock"; "syscall 999" for a number that the build did not know.
std::string syscall_name(uint32_t number);

// Which argument is a file descriptor, counted from 0; -1: none that is of interest.
int descriptor_argument(uint32_t number);

} // namespace pinscope::probes
