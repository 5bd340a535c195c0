// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

#include "model/pin.h"

#include <array>

namespace pinscope {

std::string_view control_state_name(ControlState state) {
    constexpr std::array<std::string_view, 3> names = {"holds", "fails", "unavailable"};
    return names.at(static_cast<size_t>(state));
}

std::string_view verdict_name(VerdictKind kind) {
    constexpr std::array<std::string_view, 5> names = {"enforced", "not_enforced", "blocked_elsewhere",
                                                       "unsupported", "inconclusive"};
    return names.at(static_cast<size_t>(kind));
}

std::string_view asks_name(Asks asks) {
    static constexpr std::array<std::string_view, 3> names = {"only_over", "always", "unknown"};
    return names.at(static_cast<size_t>(asks));
}

std::string_view tier_name(Tier tier) {
    constexpr std::array<std::string_view, 3> names = {"user", "tracepoint", "function"};
    return names.at(static_cast<size_t>(tier));
}

} // namespace pinscope
