// SPDX-License-Identifier: Apache-2.0
// What the kernel side saw of a trial, as JSON.
#pragma once

#include "model/pin.h"

#include <nlohmann/json_fwd.hpp>

namespace pinscope::report {

nlohmann::ordered_json probe_json(const Probe& probe);

// null where no windows could be seen.
nlohmann::ordered_json window_json(const Trial& trial, const std::vector<LimitCheck>& checks);

} // namespace pinscope::report
