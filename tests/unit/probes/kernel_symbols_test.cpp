// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel_symbols.h"

#include <gtest/gtest.h>

namespace pinscope::probes {
namespace {

TEST(KernelSymbols, KallsymsHasFunctionsOnly) {
    const auto symbols = parse_kallsyms("ffffffff81000000 T _stext\n"
                                        "ffffffff81000100 t do_mlock\n"
                                        "ffffffff82000000 D jiffies\n"
                                        "ffffffffc0000000 t helper\t[module]\n"
                                        "broken line\n");
    ASSERT_EQ(symbols.size(), 3U);
    EXPECT_EQ(symbols.at(0xffffffff81000100), "do_mlock");
    EXPECT_EQ(symbols.at(0xffffffffc0000000), "helper");
}

TEST(KernelSymbols, HiddenAddressesAreNone) {
    EXPECT_TRUE(parse_kallsyms("0000000000000000 T _stext\n0000000000000000 T do_mlock\n").empty());
    EXPECT_TRUE(parse_kallsyms("").empty());
}

TEST(KernelSymbols, TheKernelIsAskedOnceAnAddress) {
    int calls = 0;
    KernelSymbols symbols([&](uint64_t address) {
        ++calls;
        return std::optional<std::string>(address == 7 ? "seven" : "other");
    });
    EXPECT_EQ(symbols.name(7), "seven");
    EXPECT_EQ(symbols.name(7), "seven");
    EXPECT_EQ(symbols.name(8), "other");
    EXPECT_EQ(calls, 2);
}

} // namespace
} // namespace pinscope::probes
