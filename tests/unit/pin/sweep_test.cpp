// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "pin/sweep.h"
#include "support/fake_mechanisms.h"

#include <gtest/gtest.h>

namespace pinscope::pin {
namespace {

using test::plain;
using test::powers;

Bisection find(uint64_t most, uint64_t refused, const RegisteredMechanism& mechanism) {
    return bisect(refused, mechanism, [&](uint64_t size) {
        EXPECT_GT(size, 0U);
        EXPECT_LT(size, refused);
        return size <= most;
    });
}

TEST(Bisect, FindsThePage) {
    for (uint64_t pages = 1; pages < 40; ++pages) {
        const auto found = find(pages * 4096, 256_KiB, plain);
        EXPECT_EQ(found.largest_granted, pages * 4096);
        EXPECT_EQ(found.smallest_refused, (pages + 1) * 4096);
    }
}

TEST(Bisect, NothingGranted) {
    const auto found = find(0, 256_KiB, plain);
    EXPECT_FALSE(found.largest_granted);
    EXPECT_EQ(found.smallest_refused, 4096U);
    EXPECT_FALSE(find(0, 4096, plain).largest_granted);
}

TEST(Bisect, InTheSizesThatThereAre) {
    const auto found = find(5_MiB, 32_MiB, powers);
    EXPECT_EQ(found.largest_granted, 4_MiB);
    EXPECT_EQ(found.smallest_refused, 8_MiB);
}

TEST(Bisect, TakesLogarithmicallyManySteps) {
    EXPECT_LE(find(1_GiB + 4096, 4_GiB, plain).steps, 21U);
}

} // namespace
} // namespace pinscope::pin
