// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <fmt/format.h>

#include <string.h>

#include <cerrno>

namespace pinscope {

std::string Error::text() const {
    std::string out = action;
    if (!subject.empty())
        out += " " + subject;
    if (!reason.empty())
        out += ": " + reason;
    if (!remedy.empty())
        out += "; " + remedy;
    return out;
}

Error os_error(std::string_view action, std::string_view subject, int number) {
    const char* reason = strerrordesc_np(number);
    // The one errno that says by itself what helps, whatever was tried.
    const char* remedy = number == EMFILE ? "allow more open files (ulimit -n)" : "";
    return {std::string(action), std::string(subject), reason ? reason : errno_name(number), remedy, number};
}

std::string errno_name(int number) {
    const char* name = strerrorname_np(number);
    return name ? name : fmt::format("errno {}", number);
}

std::string signal_name(int number) {
    const char* name = sigabbrev_np(number);
    return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

} // namespace pinscope
