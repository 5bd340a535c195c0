// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/text.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace pinscope {
namespace {

TEST(Text, SplitKeepsEmptyPartsAndWordsDoNot) {
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
    EXPECT_EQ(split("a,", ','), (std::vector<std::string_view>{"a", ""}));
    EXPECT_TRUE(split("", ',').empty());
    EXPECT_EQ(words("  a \t b "), (std::vector<std::string_view>{"a", "b"}));
}

TEST(Text, FindValueReadsColonsAndBlanks) {
    const std::string_view text = "VmLckX:\t 1 kB\nVmLck:\t    65536 kB\nrss 42\nempty\n";
    EXPECT_EQ(find_value(text, "VmLck"), "65536 kB");
    EXPECT_EQ(find_value(text, "rss"), "42");
    EXPECT_FALSE(find_value(text, "Vm"));
    EXPECT_FALSE(find_value(text, "empty"));
}

TEST(Text, ParseUnsignedTakesDigitsAlone) {
    EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "18446744073709551616", "0x1"})
        EXPECT_FALSE(parse_unsigned(text)) << text;
}

TEST(Text, PrintableHidesControlCharacters) {
    EXPECT_EQ(printable("a\x1b[31mb\n\x7f"), "a\\x1b[31mb\\x0a\\x7f");
    EXPECT_EQ(printable("grün"), "grün");
}

TEST(Text, JoinAnd) {
    EXPECT_EQ(join_and({}), "");
    EXPECT_EQ(join_and({"a"}), "a");
    EXPECT_EQ(join_and({"a", "b"}), "a and b");
    EXPECT_EQ(join_and({"a", "b", "c"}), "a, b and c");
}

TEST(Error, SaysWhatOnWhatWhyAndWhatToDo) {
    Error error = os_error("cannot open", "/x", EACCES);
    EXPECT_EQ(error.text(), "cannot open /x: Permission denied");
    error.remedy = "run as root";
    EXPECT_EQ(error.text(), "cannot open /x: Permission denied; run as root");
    EXPECT_EQ(errno_name(ENOMEM), "ENOMEM");
    EXPECT_EQ(errno_name(4095), "errno 4095");
    EXPECT_EQ(signal_name(SIGBUS), "SIGBUS");
    EXPECT_EQ(signal_name(99), "signal 99");
}

} // namespace
} // namespace pinscope
