// SPDX-License-Identifier: Apache-2.0
// pinscope run: arguments, conditions and status pass through as they are.
#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host_under_test.h"
#include "support/skip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>

namespace pinscope {
namespace {

using test::run_pinscope;
using test::this_program;

TEST(RunVerb, ArgumentsReachTheCommandByteForByte) {
    const auto run = run_pinscope(
        {"run", "--", this_program(), "echo-bytes", "[a,b]", "", "--", "--help", "{x}", "a b", "\xff\n"});
    EXPECT_EQ(run.status, 0);
    constexpr std::string_view expected("[a,b]\0\0--\0--help\0{x}\0a b\0\xff\n\0", 28);
    EXPECT_EQ(run.out, expected);
    EXPECT_EQ(run.err, "");
}

TEST(RunVerb, StatusPassesThrough) {
    EXPECT_EQ(run_pinscope({"run", "--", this_program(), "exit", "0"}).status, 0);
    EXPECT_EQ(run_pinscope({"run", "--", this_program(), "exit", "7"}).status, 7);
    EXPECT_EQ(run_pinscope({"run", "--", this_program(), "die", "9"}).status, 137);
    EXPECT_EQ(run_pinscope({"run", "--", "/no/such/command"}).status, 127);
    EXPECT_EQ(run_pinscope({"run", "--", "/etc"}).status, 126);
    const auto late = run_pinscope({"run", "--timeout", "100ms", "--", this_program(), "sleep"});
    EXPECT_EQ(late.status, 124);
    EXPECT_NE(late.err.find("100 ms"), std::string::npos);
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(RunVerb, InputPassesThrough) {
    test::ProgramOptions options;
    options.input = "some bytes";
    const auto run = run_pinscope({"run", "--", "cat"}, options);
    EXPECT_EQ(run.out, "some bytes");
}

TEST(RunVerb, ConditionsHoldInTheCommand) {
    const auto limits = run_pinscope({"run", "--memlock", "4MiB", "--", this_program(), "status", "limits"});
    EXPECT_EQ(words(*find_value(limits.out, "Max locked memory")),
              (std::vector<std::string_view>{"4194304", "4194304", "bytes"}));
    constexpr uint64_t ipc_lock = 1U << 14U;
    const auto capability = [&](const char* option) {
        const auto status = run_pinscope({"run", option, "--", this_program(), "status", "status"});
        return std::stoull(std::string(find_value(status.out, "CapEff").value_or("0")), nullptr, 16) &
               ipc_lock;
    };
    EXPECT_EQ(capability("--without-cap"), 0U);
    if (test::is_root()) {
        EXPECT_EQ(capability("--with-cap"), ipc_lock);
    }
}

TEST(RunVerb, MemoryMaxKillsTheCommandAndNotUs) {
    if (!test::is_root() || !test::own_cgroup())
        SKIP_HERE("it takes root and a memory cgroup to set a limit");
    const auto fits = run_pinscope({"run", "--memory-max", "64MiB", "--", this_program(), "fill", "16"});
    EXPECT_EQ(fits.status, 0);
    EXPECT_EQ(fits.err, "");
    const auto killed = run_pinscope({"run", "--memory-max", "32MiB", "--", this_program(), "fill", "200"});
    EXPECT_EQ(killed.status, 137);
    EXPECT_NE(killed.err.find("killed 1 of the command's processes; its memory cgroup's limit is 32 MiB"),
              std::string::npos)
        << killed.err;
    const auto not_by_the_kernel =
        run_pinscope({"run", "--memory-max", "64MiB", "--", this_program(), "die", "9"});
    EXPECT_EQ(not_by_the_kernel.status, 137);
    EXPECT_EQ(not_by_the_kernel.err, "");
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(RunVerb, MemoryMaxThatCannotBeSetIsSaid) {
    test::ProgramOptions options;
    options.before_exec = [] { return !test::is_root() || test::become_nobody(); };
    const auto run = run_pinscope({"run", "--memory-max", "64MiB", "--", "true"}, options);
    EXPECT_EQ(run.status, 77);
    EXPECT_NE(run.err.find("--memory-max"), std::string::npos) << run.err;
}

TEST(RunVerb, WhatTheCommandStartedEndsWithIt) {
    const auto run = run_pinscope({"run", "--", this_program(), "leave-child"});
    EXPECT_EQ(run.status, 0);
    const auto pid = parse_unsigned(trim(run.out));
    ASSERT_TRUE(pid) << run.out;
    // Gone, or a zombie that its new parent has not collected yet.
    const auto stat = read_file(fmt::format("/proc/{}/stat", *pid)).value_or(") Z");
    EXPECT_EQ(stat.substr(stat.rfind(") "), 3), ") Z") << "the grandchild still runs";
}

// An entry point starts a helper, then execs pinscope: the helper is none of pinscope's.
TEST(RunVerb, ChildrenFromBeforeAreSpared) {
    const auto run = test::run_program({"/bin/sh", "-c",
                                        "sleep 30 >/dev/null 2>&1 & helper=$!; " + test::pinscope_program() +
                                            " run -- true; kill -0 $helper && echo spared; kill $helper"});
    EXPECT_EQ(run.out, "spared\n") << run.err;
    test::ProgramOptions as_nobody;
    as_nobody.before_exec = [] { return !test::is_root() || test::become_nobody(); };
    const auto exec = test::run_program(
        {"/bin/sh", "-c",
         "sleep 30 >/dev/null 2>&1 & echo $!; exec " + test::pinscope_program() + " run -- true"},
        as_nobody);
    const auto helper = parse_unsigned(trim(exec.out));
    ASSERT_TRUE(helper) << exec.out << exec.err;
    EXPECT_EQ(::kill(static_cast<pid_t>(*helper), SIGKILL), 0) << "the helper was killed";
}

TEST(RunVerb, CgroupsThatTheCommandMadeGoToo) {
    if (!test::is_root() || !test::own_cgroup())
        SKIP_HERE("it takes root and a memory cgroup");
    const std::string own = test::cgroup_of_programs()->folder;
    const auto run = run_pinscope(
        {"run", "--", "/bin/sh", "-c", "for leaf in " + own + "/pinscope-*; do mkdir -p $leaf/a/b; done"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(RunVerb, LongTimeoutsAreNotShortOnes) {
    EXPECT_EQ(run_pinscope({"run", "--timeout", "600h", "--", this_program(), "exit", "3"}).status, 3);
}

// Some supervisors ignore SIGCHLD, and what is ignored stays so over an exec.
TEST(RunVerb, StatusPassesThroughWhereChildSignalsAreIgnored) {
    test::ProgramOptions options;
    options.before_exec = [] { return ::signal(SIGCHLD, SIG_IGN) != SIG_ERR; };
    EXPECT_EQ(run_pinscope({"run", "--", this_program(), "exit", "7"}, options).status, 7);
}

TEST(RunVerb, NohupReachesTheCommand) {
    test::ProgramOptions options;
    options.before_exec = [] { return ::signal(SIGHUP, SIG_IGN) != SIG_ERR; };
    EXPECT_EQ(run_pinscope({"run", "--", "/bin/sh", "-c", "kill -HUP $$; exit 5"}, options).status, 5);
}

TEST(RunVerb, SignalsPassOnAndTheCommandDecides) {
    test::RunningProgram pinscope({test::pinscope_program(), "run", "--", this_program(), "sleep"});
    ASSERT_TRUE(pinscope.wait_for_error_text("sleeping"));
    pinscope.send(SIGTERM);
    EXPECT_EQ(pinscope.finish().status, 128 + SIGTERM);
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(RunVerb, KilledPinscopeTakesTheCommandAlong) {
    test::RunningProgram pinscope({test::pinscope_program(), "run", "--", this_program(), "sleep"});
    ASSERT_TRUE(pinscope.wait_for_error_text("sleeping"));
    pinscope.send(SIGKILL);
    // Standard error stays open as long as the command lives.
    EXPECT_EQ(pinscope.finish().status, 128 + SIGKILL);
    ::usleep(200000);
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

} // namespace
} // namespace pinscope
