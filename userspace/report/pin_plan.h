// SPDX-License-Identifier: Apache-2.0
// What `pinscope pin --dry-run` shows.
#pragma once

#include "model/pin.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pinscope::report {

struct PlanRow {
    std::string mechanism;
    uint64_t size_bytes = 0;
    uint64_t count = 1;
    std::string summary;
    std::string needs;
};

std::string plan_text(const PinQuestion& question, const std::vector<PlanRow>& rows);

// pinscope.pin-plan/1
nlohmann::ordered_json plan_json(const PinQuestion& question, const std::vector<PlanRow>& rows);

} // namespace pinscope::report
