// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "pin/sizes.h"

#include <gtest/gtest.h>

#include <bit>

namespace pinscope::pin {
namespace {

uint64_t any_size(uint64_t bytes) {
    return bytes;
}
uint64_t power_of_two(uint64_t bytes) {
    return std::bit_ceil(bytes);
}
uint64_t nothing_free() {
    return 0;
}
uint64_t one_mib_free() {
    return 1_MiB;
}

const MechanismFacts facts;
const RegisteredMechanism plain = {facts, nullptr, &any_size, &nothing_free, true};
const RegisteredMechanism perf = {facts, nullptr, &power_of_two, &one_mib_free, true};

HostFacts host_with(Limit soft) {
    HostFacts host;
    host.memlock_soft = soft;
    host.perf_free_bytes = 1_MiB;
    return host;
}

TEST(ChooseSoftLimit, TakesTheCurrentOneWhereItCanBeTested) {
    const Room room{1_GiB};
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(8_MiB)), room), Limit::of(8_MiB));
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(64_KiB)), room), Limit::of(64_KiB));
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(0)), room), Limit::of(0));
}

TEST(ChooseSoftLimit, EightMebibytesWhereItCannot) {
    const Room room{1_GiB};
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::none()), room), Limit::of(8_MiB));
    EXPECT_EQ(choose_soft_limit({}, host_with(Limit::of(64_GiB)), room), Limit::of(8_MiB));
}

TEST(ChooseSoftLimit, LessWhereHostOrCgroupHaveNoRoom) {
    const Limit limit = choose_soft_limit({}, host_with(Limit::none()), Room{8_MiB});
    EXPECT_LE(2 * limit.bytes + 1_MiB, 8_MiB);
    EXPECT_GE(limit.bytes, 1_MiB);
}

TEST(ChooseSoftLimit, DoesAsItIsTold) {
    const Room room{1_GiB};
    EXPECT_EQ(choose_soft_limit({LimitChoice::Kind::current, {}}, host_with(Limit::none()), room),
              Limit::none());
    EXPECT_EQ(choose_soft_limit({LimitChoice::Kind::exactly, Limit::of(3)}, host_with(Limit::none()), room),
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
