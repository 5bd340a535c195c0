// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "pin/sizes.h"
#include "support/fake_mechanisms.h"

#include <gtest/gtest.h>

#include <bit>

namespace pinscope::pin {
namespace {

using test::plain;
constexpr const RegisteredMechanism& perf = test::powers_beyond_1_mib;

HostFacts host_with(Limit soft) {
    HostFacts host;
    host.memlock_soft = soft;
    host.perf_free_bytes = 1_MiB;
    return host;
}

TEST(ChooseSoftLimit, TakesTheCurrentOneWhereItCanBeTested) {
    const Room room{1_GiB};
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(8_MiB)), room).limit, Limit::of(8_MiB));
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(64_KiB)), room).limit, Limit::of(64_KiB));
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(0)), room).limit, Limit::of(0));
}

TEST(ChooseSoftLimit, EightMebibytesWhereItCannot) {
    const Room room{1_GiB};
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::none()), room).limit, Limit::of(8_MiB));
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(64_GiB)), room).limit, Limit::of(8_MiB));
}

TEST(ChooseSoftLimit, LessWhereHostOrCgroupHaveNoRoom) {
    const Limit limit = choose_soft_limit({}, host_with(Limit::none()), Room{8_MiB}).limit;
    EXPECT_LE(2 * limit.bytes + 1_MiB, 8_MiB);
    EXPECT_GE(limit.bytes, 1_MiB);
}

TEST(ChooseSoftLimit, SaysWhyItIsNotTheCurrentOne) {
    const auto because = [](Limit current, Room room) {
        return choose_soft_limit({}, host_with(current), room).because;
    };
    EXPECT_EQ(because(Limit::of(8_MiB), Room{1_GiB}), "");
    EXPECT_EQ(because(Limit::of(8_MiB), Room{}), "");
    EXPECT_NE(because(Limit::none(), Room{1_GiB}).find("unlimited"), std::string::npos);
    EXPECT_NE(because(Limit::of(64_GiB), Room{1_GiB}).find("64 GiB"), std::string::npos);
    EXPECT_NE(because(Limit::of(8_MiB), Room{9_MiB}).find("9 MiB"), std::string::npos);
    EXPECT_EQ(
        choose_soft_limit({LimitChoice::Kind::exactly, Limit::of(3)}, host_with(Limit::none()), Room{1_GiB})
            .because,
        "");
}

TEST(ChooseSoftLimit, DoesAsItIsTold) {
    const Room room{1_GiB};
    EXPECT_EQ(choose_soft_limit({LimitChoice::Kind::current, {}}, host_with(Limit::none()), room).limit,
              Limit::none());
    EXPECT_EQ(
        choose_soft_limit({LimitChoice::Kind::exactly, Limit::of(3)}, host_with(Limit::none()), room).limit,
        Limit::of(3));
}

TEST(FindRoom, TheLessOfHostAndCgroup) {
    HostFacts host;
    EXPECT_FALSE(find_room(host, std::nullopt).bytes);
    host.memory_available_bytes = 2_GiB;
    EXPECT_EQ(find_room(host, std::nullopt).bytes, 1_GiB);
    EXPECT_LT(find_room(host, 64_MiB).bytes, 64_MiB);
    EXPECT_EQ(find_room(host, 1_MiB).bytes, 0U);
}

TEST(Sizes, OverIsOverAndUnderIsUnder) {
    for (const uint64_t limit :
         {uint64_t{0}, uint64_t{100}, uint64_t{4096}, uint64_t{64_KiB}, uint64_t{8_MiB}}) {
        EXPECT_GT(size_over(limit, plain), limit);
        EXPECT_GT(size_over(limit, perf), limit + 1_MiB);
        EXPECT_TRUE(std::has_single_bit(size_over(limit, perf)));
        for (const auto* mechanism : {&plain, &perf}) {
            EXPECT_LE(size_under(limit, *mechanism).value_or(0), limit);
        }
    }
    EXPECT_FALSE(size_under(0, plain));
    EXPECT_FALSE(size_under(4095, plain));
    EXPECT_TRUE(size_under(64_KiB, plain));
}

TEST(Sizes, ThePairLiesBelowTheHardLimitAndAroundTheSize) {
    for (const auto* mechanism : {&plain, &perf}) {
        const auto pair = pair_below(8_MiB, *mechanism);
        ASSERT_TRUE(pair);
        EXPECT_LE(pair->size, 8_MiB);
        EXPECT_GT(pair->size, pair->soft_below + mechanism->allowance());
    }
    EXPECT_FALSE(pair_below(4096, plain));
    // A free megabyte covers all that fits below this limit.
    EXPECT_FALSE(pair_below(1_MiB, perf));
}

} // namespace
} // namespace pinscope::pin
