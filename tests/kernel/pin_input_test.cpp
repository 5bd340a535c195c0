// SPDX-License-Identifier: Apache-2.0
// Bad input: one clear line, status 2, nothing left.
#include "kernel/host_under_test.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>

namespace pinscope {
namespace {

struct BadInput {
    std::vector<std::string> arguments;
    std::string names; // what the message must name
};

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, OneClearLine) {
    const auto run = test::run_pinscope(GetParam().arguments);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(GetParam().names), std::string::npos) << run.err;
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    Pin, BadInputTest,
    testing::Values(
        BadInput{{"pin", "--mechanism", "mlok"}, "'mlok'"},
        BadInput{{"pin", "--size", "1.5Q"}, "'Q' is no unit"}, BadInput{{"pin", "--size", "0"}, "--size 0"},
        BadInput{{"pin", "--size", "4000TiB"}, "available"},
        BadInput{{"pin", "--mechanism", "mlock", "--size", "1TiB", "--count", "1024"}, "1024 times"},
        BadInput{{"pin", "--with-cap", "--without-cap"}, "contradict"},
        BadInput{{"pin", "--sweep", "--count", "2"}, "--sweep and --count"},
        BadInput{{"pin", "--like", "4000000"}, "4000000"}, BadInput{{"pin", "--like", "0"}, "--like '0'"},
        BadInput{{"pin", "--nonsense"}, "--nonsense"}, BadInput{{"pin", "--", "true"}, "runs no command"},
        BadInput{{"pni"}, "'pni'"}, BadInput{{}, "no verb"}, BadInput{{"run"}, "no command"},
        BadInput{{"run", "--memlock", "x", "--", "true"}, "'x'"}, BadInput{{"completion", "tcsh"}, "bash"},
        BadInput{{"pin", "--with-cap=false"}, "with-cap was given"},
        BadInput{{"pin", "--like", "2"}, "process 2"}),
    [](const auto& test_info) { return "Case" + std::to_string(test_info.index); });

TEST(PinInput, HelpAndVersionAnswer) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                      {"--version"},
                                                      {"pin", "--help"},
                                                      {"run", "--help"},
                                                      {"completion", "--help"}}) {
        const auto run = test::run_pinscope(arguments);
        EXPECT_EQ(run.status, 0);
        EXPECT_NE(run.out, "");
        EXPECT_EQ(run.err, "");
    }
    EXPECT_EQ(test::run_pinscope({"help", "run"}).out, test::run_pinscope({"run", "--help"}).out);
    EXPECT_EQ(test::run_pinscope({"help", "nonsense"}).status, 2);
}

TEST(PinInput, TooFewDescriptorsHaveARemedy) {
    test::ProgramOptions options;
    options.before_exec = [] {
        const rlimit few{5, 5};
        return ::setrlimit(RLIMIT_NOFILE, &few) == 0;
    };
    const auto run = test::run_pinscope({"pin", "--no-probes", "--mechanism", "mlock"}, options);
    EXPECT_EQ(run.status, 125);
    EXPECT_NE(run.err.find("ulimit -n"), std::string::npos) << run.err;
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(PinInput, ClosedDescriptorsAreNotMistakenForOthers) {
    const std::string pinscope = test::pinscope_program();
    const auto closed = test::run_program({"/bin/sh", "-c", pinscope + " pin --mechanism vmsplice <&- 2>&-"});
    EXPECT_EQ(closed.status, 0);
    EXPECT_NE(closed.out.find("not enforced"), std::string::npos) << closed.out;
    const auto nowhere = test::run_program({"/bin/sh", "-c", pinscope + " pin --mechanism vmsplice >&-"});
    EXPECT_EQ(nowhere.status, 125);
    EXPECT_NE(nowhere.err.find("standard output"), std::string::npos) << nowhere.err;
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(PinInput, ErrorsThatCannotBeWrittenDoNoHarm) {
    for (const char* closed : {" nonsense 2>&-", " nonsense 2>/dev/full"})
        EXPECT_EQ(test::run_program({"/bin/sh", "-c", test::pinscope_program() + closed}).status, 2)
            << closed;
}

TEST(PinInput, AnAnswerThatCannotBeWrittenIsAFailure) {
    const auto run =
        test::run_program({"/bin/sh", "-c", test::pinscope_program() + " pin --dry-run >/dev/full"});
    EXPECT_EQ(run.status, 125);
    EXPECT_NE(run.err.find("standard output"), std::string::npos) << run.err;
}

} // namespace
} // namespace pinscope
