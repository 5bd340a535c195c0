// SPDX-License-Identifier: Apache-2.0
#include "model/trial.h"

#include <array>

namespace pinscope {
namespace {

constexpr std::array<std::string_view, 5> stop_points = {"initialised", "allocated", "touched", "verified",
                                                         "freed"};
constexpr std::array<std::string_view, 8> outcomes = {"granted", "denied",     "failed",  "killed",
                                                      "crashed", "not_mapped", "timeout", "unsupported"};
constexpr std::array<std::string_view, 7> roles = {"over",      "limit_lifted", "with_cap", "soft_low",
                                                   "soft_high", "under",        "sweep"};

} // namespace

std::string_view stop_point_name(StopPoint point) {
    return stop_points.at(static_cast<size_t>(point));
}

std::optional<StopPoint> stop_point_from(std::string_view name) {
    for (size_t i = 0; i < stop_points.size(); ++i)
        if (stop_points.at(i) == name)
            return static_cast<StopPoint>(i);
    return std::nullopt;
}

std::string_view outcome_name(Outcome outcome) {
    return outcomes.at(static_cast<size_t>(outcome));
}

std::string_view role_name(Role role) {
    return roles.at(static_cast<size_t>(role));
}

} // namespace pinscope
