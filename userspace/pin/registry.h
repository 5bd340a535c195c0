// SPDX-License-Identifier: Apache-2.0
// The mechanisms that this build knows, and the names by which pin/ calls the parts of a trial.
#pragma once

#include "trial/mapping.h"
#include "trial/mechanism.h"
#include "trial/step.h"

#include <span>
#include <string_view>

namespace pinscope::pin {

using trial::Mapping;
using trial::Mechanism;
using trial::RegisteredMechanism;
using trial::Step;

// Those of pinscope itself, in the order in which they are shown.
std::span<const RegisteredMechanism> all_mechanisms();

// Those that pinscope-cuda carries out: of them there are only the facts here.
std::span<const RegisteredMechanism> cuda_mechanisms();

// Of pinscope itself. Nothing for a name that is not registered.
const RegisteredMechanism* find_mechanism(std::string_view name);

} // namespace pinscope::pin
