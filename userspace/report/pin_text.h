// SPDX-License-Identifier: Apache-2.0
// The answer of `pinscope pin` for people: what to know first comes first.
#pragma once

#include "model/pin.h"
#include "report/style.h"

#include <string>

namespace pinscope::report {

// With `verbose`, every value of the JSON document follows.
std::string pin_text(const PinFindings& findings, const PinAnswer& answer, const Style& style, bool verbose);

} // namespace pinscope::report
