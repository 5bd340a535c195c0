// SPDX-License-Identifier: Apache-2.0
// The largest request that is granted, by bisection.
#pragma once

#include "model/pin.h"
#include "pin/experiment.h"
#include "pin/registry.h"
#include "pin/trial_runner.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace pinscope::pin {

struct Bisection {
    std::optional<uint64_t> largest_granted; // nothing: not even the smallest size
    uint64_t smallest_refused = 0;
    uint64_t steps = 0;
};

// Narrows down, to the sizes that the mechanism comes in, between nothing and `refused`, a size that is not
// granted.
Bisection bisect(uint64_t refused, const RegisteredMechanism& mechanism,
                 const std::function<bool(uint64_t size)>& is_granted);

// The largest single pin, and the largest sum of pins held by one process.
Sweep sweep(const RegisteredMechanism& mechanism, const PinPlan& plan, const TrialRunner& runner,
            const Conditions& conditions);

} // namespace pinscope::pin
