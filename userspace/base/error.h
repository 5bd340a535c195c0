// SPDX-License-Identifier: Apache-2.0
// One failure, told so that a person can act on it: what failed, on what, why, and what to do.
#pragma once

#include <string>
#include <string_view>

namespace pinscope {

struct Error {
    std::string action;  // "cannot open"
    std::string subject; // "/sys/fs/cgroup/memory/x"; may be empty
    std::string reason;  // "Permission denied"; may be empty
    std::string remedy;  // "run as root"; may be empty
    int number = 0;      // the errno behind it, 0 where there is none

    // "cannot open /x: Permission denied; run as root"
    std::string text() const;
};

// An Error whose reason is the text of `number`, an errno.
Error os_error(std::string_view action, std::string_view subject, int number);

// "ENOMEM"; "errno 4095" for a number without a name.
std::string errno_name(int number);

// "SIGBUS"; "signal 99" for a number without a name.
std::string signal_name(int number);

} // namespace pinscope
