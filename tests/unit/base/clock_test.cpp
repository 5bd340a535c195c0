// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

#include <regex>

namespace pinscope {
namespace {

using std::chrono::milliseconds;

TEST(ParseDuration, TakesUnitsAndPlainSeconds) {
    EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
    EXPECT_EQ(parse_duration("10s"), milliseconds(10000));
    EXPECT_EQ(parse_duration("10"), milliseconds(10000));
    EXPECT_EQ(parse_duration("2m"), milliseconds(120000));
    EXPECT_EQ(parse_duration("1h"), milliseconds(3600000));
}

TEST(ParseDuration, RefusesTheRest) {
    for (const char* text : {"", "0", "0s", "-1s", "1.5s", "10x", "s", "99999999999h", "1 s"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(UtcNow, IsIso8601) {
    EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
}

} // namespace
} // namespace pinscope
