// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "base/text.h"

#include <climits>
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cerrno>

namespace pinscope {

std::string utc_now() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    ::gmtime_r(&now.tv_sec, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
}

int poll_milliseconds(MonotonicClock::time_point deadline) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - MonotonicClock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
    constexpr uint64_t longest_ms = uint64_t{365} * 24 * 3600 * 1000;
    const std::string_view body = trim(text);
    const size_t number_end = std::min(body.find_first_not_of("0123456789"), body.size());
    const std::string_view unit = body.substr(number_end);
    uint64_t factor = 0;
    if (unit == "ms")
        factor = 1;
    else if (unit.empty() || unit == "s")
        factor = 1000;
    else if (unit == "m" || unit == "min")
        factor = 60'000;
    else if (unit == "h")
        factor = 3'600'000;
    const auto number = parse_unsigned(body.substr(0, number_end));
    if (factor == 0 || !number || *number == 0 || *number > longest_ms / factor)
        return fail({"cannot read the time", fmt::format("'{}'", printable(text)), "",
                     "write a whole number with ms, s, m or h, such as 10s, up to 365 days", EINVAL});
    return std::chrono::milliseconds(*number * factor);
}

} // namespace pinscope
