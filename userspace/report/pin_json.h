// SPDX-License-Identifier: Apache-2.0
// pinscope.pin/1, as docs/schema/pin-1.schema.json describes it.
#pragma once

#include "model/pin.h"

#include <nlohmann/json_fwd.hpp>

namespace pinscope::report {

nlohmann::ordered_json pin_json(const PinFindings& findings, const PinAnswer& answer);

} // namespace pinscope::report
