// SPDX-License-Identifier: Apache-2.0
// Who decided on the limit: every rule has a case on each side.
#include "analysis/limit_checks.h"
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace pinscope::analysis {
namespace {

LimitCheckSeen asked(const std::string& function, bool refused, const std::string& syscall = "mlock") {
    LimitCheckSeen seen;
    seen.function = function;
    seen.count = 1;
    seen.capability_refused = refused;
    seen.denied = refused;
    seen.result = refused ? -EPERM : 0;
    seen.syscall = syscall;
    return seen;
}

LimitCheckSeen answered(const std::string& function, int64_t result, bool denied) {
    LimitCheckSeen seen;
    seen.function = function;
    seen.tier = Tier::function;
    seen.count = 1;
    seen.result = result;
    seen.denied = denied;
    return seen;
}

Trial trial(Outcome outcome, int error, std::vector<LimitCheckSeen> checks,
            const std::string& failed_syscall = "mlock") {
    Trial out;
    out.outcome = outcome;
    if (error != 0)
        out.error = {ErrorDomain::errno_value, error};
    CallWindow window;
    window.checks = std::move(checks);
    SyscallsSeen call;
    call.name = failed_syscall;
    call.result = -error;
    window.syscalls.push_back(call);
    out.windows = TrialWindows();
    out.windows->sight = {true, true, true, false, false, true, false};
    out.windows->windows.push_back(window);
    return out;
}

std::string who(const Trial& of) {
    return deciding_functions(judge_limit_checks(of));
}

TEST(LimitChecks, OneThatAsksOnlyOverTheLimitDecides) {
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {asked("do_mlock", true)})), "do_mlock");
}

TEST(LimitChecks, NotWhereItWasGivenTheCapability) {
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {asked("do_mlock", false)})), "");
}

TEST(LimitChecks, NothingDecidesOnWhatWasGranted) {
    EXPECT_EQ(who(trial(Outcome::granted, 0, {asked("do_mlock", true)})), "");
    EXPECT_EQ(who(trial(Outcome::granted, 0, {asked("xdp_umem_create", true)})), "");
    EXPECT_EQ(who(trial(Outcome::granted, 0, {answered("mlock_future_ok", 0, true)})), "");
}

TEST(LimitChecks, NothingDecidesOnAnotherFailure) {
    EXPECT_EQ(who(trial(Outcome::failed, EINVAL, {asked("do_mlock", true)})), "");
    EXPECT_EQ(who(trial(Outcome::killed, 0, {asked("do_mlock", true)})), "");
}

TEST(LimitChecks, OneThatAsksAlwaysNeedsTheErrorOfItsOwnCall) {
    const auto check = asked("xdp_umem_create", true, "setsockopt");
    EXPECT_EQ(who(trial(Outcome::denied, ENOBUFS, {check}, "setsockopt")), "xdp_umem_create");
    EXPECT_EQ(who(trial(Outcome::denied, ENOBUFS, {check}, "bind")), "");
    // Asked at set-up, refused at a later call: not its doing.
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {asked("io_uring_setup", true, "io_uring_setup")},
                        "io_uring_register")),
              "");
}

TEST(LimitChecks, AnUnknownFunctionIsTakenToAskAlways) {
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {asked("new_driver", true, "ioctl")}, "ioctl")),
              "new_driver");
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {asked("new_driver", true, "ioctl")}, "mmap")), "");
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {asked("", true, "ioctl")}, "ioctl")),
              "a function whose name is not known");
}

TEST(LimitChecks, OnlyOverGoesBeforeAlways) {
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM,
                        {asked("shmctl_do_lock", true, "shmctl"), asked("user_shm_lock", true, "shmctl")},
                        "shmctl")),
              "user_shm_lock");
}

TEST(LimitChecks, AFunctionThatSaidNoGoesBeforeAll) {
    const auto checks = judge_limit_checks(
        trial(Outcome::denied, EAGAIN, {asked("do_mmap", true, "mmap"), answered("mlock_future_ok", 0, true)},
              "mmap"));
    EXPECT_EQ(deciding_functions(checks), "mlock_future_ok");
    EXPECT_EQ(deciding_tier(checks), Tier::function);
}

TEST(LimitChecks, NotOneThatSaidYesOrFailedOtherwise) {
    EXPECT_EQ(who(trial(Outcome::denied, EAGAIN, {answered("mlock_future_ok", 1, false)})), "");
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {answered("__account_locked_vm", -EINTR, true)})), "");
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {answered("__account_locked_vm", -ENOMEM, true)})),
              "__account_locked_vm");
}

// do_mlock fails with ENOMEM for unmapped memory too.
TEST(LimitChecks, OneThatDoesMoreMustHaveBeenRefusedTheCapabilityToo) {
    EXPECT_EQ(who(trial(Outcome::denied, ENOMEM, {answered("do_mlock", -ENOMEM, true)})), "");
    EXPECT_EQ(
        who(trial(Outcome::denied, ENOMEM, {asked("do_mlock", true), answered("do_mlock", -ENOMEM, true)})),
        "do_mlock");
}

TEST(LimitChecks, OneEntryAFunction) {
    auto second = asked("do_mlock", true);
    second.count = 3;
    const auto checks = judge_limit_checks(trial(
        Outcome::denied, ENOMEM, {asked("do_mlock", true), second, answered("do_mlock", -ENOMEM, true)}));
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_EQ(checks[0].asks, Asks::only_over);
    EXPECT_EQ(checks[0].count, 3U);
    EXPECT_EQ(checks[0].result, -ENOMEM);
    EXPECT_EQ(checks[0].capability_refused, true);
    EXPECT_EQ(checks[0].tier, Tier::function);
}

TEST(LimitChecks, ASignalIsNobodysAnswer) {
    Trial touched = trial(Outcome::denied, 0, {asked("mlock_future_ok", true, "mmap")}, "mmap");
    touched.error = {ErrorDomain::signal, SIGBUS};
    EXPECT_EQ(who(touched), "");
}

TEST(LimitChecks, WithoutWindowsThereIsNothing) {
    Trial unseen = trial(Outcome::denied, ENOMEM, {asked("do_mlock", true)});
    unseen.windows.reset();
    EXPECT_TRUE(judge_limit_checks(unseen).empty());
}

TEST(LimitChecks, TiersOfSight) {
    WindowSight sight;
    EXPECT_EQ(sight_tier(sight), Tier::user);
    sight.windows = true;
    EXPECT_EQ(sight_tier(sight), Tier::tracepoint);
    sight.functions = true;
    EXPECT_EQ(sight_tier(sight), Tier::function);
}

} // namespace
} // namespace pinscope::analysis
