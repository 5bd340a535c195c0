// SPDX-License-Identifier: Apache-2.0
// After success, a signal, or SIGKILL at any stop point: no process, cgroup or changed limit remains.
#include "kernel/host_under_test.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace pinscope {
namespace {

using Case = std::tuple<const char*, int>;

// What SIGKILL leaves is taken away by the janitor, which needs a moment.
std::vector<std::string> leftovers_in_the_end() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    auto left = test::leftovers();
    while (!left.empty() && std::chrono::steady_clock::now() < deadline) {
        ::usleep(10000);
        left = test::leftovers();
    }
    return left;
}

class CleanExitTest : public testing::TestWithParam<Case> {};

TEST_P(CleanExitTest, NothingRemains) {
    const auto [point, signal] = GetParam();
    rlimit before{};
    ::getrlimit(RLIMIT_MEMLOCK, &before);
    test::RunningProgram pinscope(
        {test::pinscope_program(), "pin", "--no-probes", "--mechanism", "vmsplice", "--hold-at", point});
    // The controls are held first, until one gets as far as this stop point.
    ASSERT_TRUE(pinscope.wait_for_error_text(std::string("is held at '") + point + "'"));
    EXPECT_FALSE(test::leftovers().empty()) << "the check sees nothing while it runs";
    pinscope.send(signal);
    const auto outcome = pinscope.finish();
    EXPECT_EQ(outcome.status, 128 + signal);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(leftovers_in_the_end(), std::vector<std::string>());
    rlimit after{};
    ::getrlimit(RLIMIT_MEMLOCK, &after);
    EXPECT_EQ(before.rlim_cur, after.rlim_cur);
    EXPECT_EQ(before.rlim_max, after.rlim_max);
}

INSTANTIATE_TEST_SUITE_P(AtEachStop, CleanExitTest,
                         testing::Combine(testing::Values("initialised", "allocated", "touched", "verified",
                                                          "freed"),
                                          testing::Values(SIGINT, SIGTERM, SIGHUP, SIGKILL)),
                         [](const auto& test_info) {
                             return std::string(std::get<0>(test_info.param)) + "Signal" +
                                    std::to_string(std::get<1>(test_info.param));
                         });

TEST(CleanExit, AfterSuccess) {
    EXPECT_EQ(test::run_pinscope({"pin", "--no-probes", "--mechanism", "mlock,shm-lock"}).status, 1);
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(CleanExit, SharedMemorySegmentsToo) {
    const auto count = [] {
        const auto list = test::run_program({"/bin/sh", "-c", "cat /proc/sysvipc/shm"});
        return std::count(list.out.begin(), list.out.end(), '\n');
    };
    const auto before = count();
    for (const char* point : {"initialised", "allocated"}) {
        test::RunningProgram pinscope(
            {test::pinscope_program(), "pin", "--no-probes", "--mechanism", "shm-lock", "--hold-at", point});
        ASSERT_TRUE(pinscope.wait_for_error_text("mlock"));
        pinscope.write_input("\n\n\n"); // past the controls
        ASSERT_TRUE(pinscope.wait_for_error_text("shm-lock"));
        pinscope.send(SIGKILL);
        (void)pinscope.finish();
    }
    EXPECT_EQ(leftovers_in_the_end(), std::vector<std::string>());
    EXPECT_EQ(count(), before);
}

} // namespace
} // namespace pinscope
