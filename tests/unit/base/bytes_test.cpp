// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace pinscope {
namespace {

TEST(ParseBytes, TakesWhatPeopleWrite) {
    EXPECT_EQ(parse_bytes("0"), 0U);
    EXPECT_EQ(parse_bytes("4096"), 4096U);
    EXPECT_EQ(parse_bytes("4096B"), 4096U);
    EXPECT_EQ(parse_bytes("64MiB"), 64_MiB);
    EXPECT_EQ(parse_bytes("64M"), 64_MiB);
    EXPECT_EQ(parse_bytes("64 mib"), 64_MiB);
    EXPECT_EQ(parse_bytes("1.5GiB"), 1536_MiB);
    EXPECT_EQ(parse_bytes("0.25k"), 256U);
    EXPECT_EQ(parse_bytes("2TiB"), 2048_GiB);
    EXPECT_EQ(parse_bytes("9007199254740991"), 9007199254740991U);
}

TEST(ParseBytes, RefusesTheRestAndNamesIt) {
    for (const char* text :
         {"", "MiB", "-1", "1.5Q", "1,5M", "1.M", ".5M", "1.2.3M", "0.3", "1.0000001G", "64MB", "1e3",
          "9007199254740992", "99999999999999999999", "8388608TiB", "0x10", "12 34"}) {
        const auto bytes = parse_bytes(text);
        ASSERT_FALSE(bytes) << text << " gave " << *bytes;
        EXPECT_NE(bytes.error().text().find(text), std::string::npos) << bytes.error().text();
        EXPECT_FALSE(bytes.error().remedy.empty());
    }
    EXPECT_NE(parse_bytes("64MB").error().text().find("powers of ten or of two"), std::string::npos);
    EXPECT_NE(parse_bytes("1.5Q").error().text().find("'Q' is no unit"), std::string::npos);
}

TEST(FormatBytes, IsExactWhereItShowsNoDecimal) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1024), "1 KiB");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
    EXPECT_EQ(format_bytes(8_MiB), "8 MiB");
    EXPECT_EQ(format_bytes(8_MiB + 1), "8.0 MiB");
    EXPECT_EQ(format_bytes(342_GiB), "342 GiB");
}

TEST(FormatExactBytes, TakesTheLargestUnitThatIsExact) {
    EXPECT_EQ(format_exact_bytes(0), "0 B");
    EXPECT_EQ(format_exact_bytes(1), "1 B");
    EXPECT_EQ(format_exact_bytes(8_MiB), "8 MiB");
    EXPECT_EQ(format_exact_bytes(8_MiB + 4_KiB), "8196 KiB");
    EXPECT_EQ(format_exact_bytes(8_MiB + 1), "8388609 B");
}

} // namespace
} // namespace pinscope
