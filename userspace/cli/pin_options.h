// SPDX-License-Identifier: Apache-2.0
// The options of `pinscope pin`, and what they ask for.
#pragma once

#include "base/result.h"
#include "cli/verb.h"
#include "model/trial.h"
#include "pin/experiment.h"
#include "report/pin_plan.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope::cli {

struct PinRequest {
    pin::PinOptions options;
    // Libraries named by the user, for the search of the others.
    std::optional<std::string> cuda_lib;
    std::optional<std::string> cudart;
    std::optional<std::chrono::milliseconds> timeout;
    std::optional<StopPoint> hold_at;
    bool dry_run = false;
    bool verbose = false;
    bool json = false;
    bool no_probes = false;
};

std::vector<Option> pin_options();

Result<PinRequest> read_pin_request(const Arguments& arguments);

std::vector<report::PlanRow> plan_rows(const pin::PinPlan& plan);

} // namespace pinscope::cli
