// SPDX-License-Identifier: Apache-2.0
#include "model/window.h"

namespace pinscope {

std::string_view window_end_name(WindowEnd end) {
    static constexpr std::array<std::string_view, 3> names = {"returned", "abandoned", "unfinished"};
    return names.at(static_cast<size_t>(end));
}

std::string_view window_cause_name(WindowCause cause) {
    static constexpr std::array<std::string_view, 5> names = {"none", "exit", "exec", "signal", "oom_kill"};
    return names.at(static_cast<size_t>(cause));
}

} // namespace pinscope
