// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace pinscope {

using MonotonicClock = std::chrono::steady_clock;

// What is left until the deadline, as poll(2) takes it: from 0 to INT_MAX milliseconds.
int poll_milliseconds(MonotonicClock::time_point deadline);

// Now, as ISO 8601 in UTC with milliseconds: "2026-01-31T12:00:00.123Z".
std::string utc_now();

// The value of "500ms", "10s", "2m", "1h", or of plain seconds: "10". Whole numbers only; from 1 ms to 365
// days.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

} // namespace pinscope
