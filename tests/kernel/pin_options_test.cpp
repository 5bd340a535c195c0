// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "kernel/host_under_test.h"
#include "support/schema.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <linux/capability.h>

namespace pinscope {
namespace {

using test::pin_json_unprobed;
using test::PinRun;
using test::ProgramOptions;

TEST(PinOptions, CountHoldsSeveralPinsInOneProcess) {
    const PinRun run = pin_json_unprobed(
        {"--mechanism", "mlock,mlockall,vmsplice", "--count", "8", "--size", "1MiB", "--memlock", "4MiB"});
    EXPECT_EQ(run.trial("mlock", "over").at("granted_count"), 4);
    EXPECT_EQ(run.document.at("trials").at(0).at("count"), 1) << "the control";
    const auto vmsplice = run.trial("vmsplice", "over");
    EXPECT_EQ(vmsplice.at("count"), 8);
    EXPECT_EQ(vmsplice.at("granted_count"), 8);
    EXPECT_EQ(vmsplice.at("held_bytes"), 8_MiB);
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    // Exactly the pins that the limit has room for.
    EXPECT_NE(run.reason("mlock").find("after 4 MiB were granted"), std::string::npos) << run.reason("mlock");
    EXPECT_EQ(run.verdict("mlockall"), "inconclusive");
    EXPECT_NE(run.reason("mlockall").find("several of it"), std::string::npos) << run.reason("mlockall");
}

TEST(PinOptions, SizesAreWholePages) {
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock", "--size", "4100001", "--memlock", "4MiB"});
    // 1000.98 pages are 1001, and within the limit.
    EXPECT_EQ(run.document.at("verdicts").at(0).at("verdict"), "inconclusive");
    bool found = false;
    for (const auto& trial : run.document.at("trials"))
        found = found || (trial.at("size_bytes") == 1001 * 4096 && trial.at("charged_bytes") == 1001 * 4096);
    EXPECT_TRUE(found);
}

TEST(PinOptions, SweepFindsTheLimitToThePage) {
    const PinRun run =
        pin_json_unprobed({"--sweep", "--mechanism", "mlock,vmsplice,mmap-locked", "--memlock", "1MiB"});
    ASSERT_EQ(run.document.at("sweeps").size(), 3U);
    for (const auto& sweep : run.document.at("sweeps")) {
        if (sweep.at("mechanism") == "vmsplice") {
            EXPECT_TRUE(sweep.at("single_refused_bytes").is_null());
            EXPECT_EQ(sweep.at("largest_single_bytes"), sweep.at("tested_up_to_bytes"));
            continue;
        }
        EXPECT_EQ(sweep.at("largest_single_bytes"), 1_MiB) << sweep;
        EXPECT_EQ(sweep.at("single_refused_bytes"), 1_MiB + 4096) << sweep;
        EXPECT_EQ(sweep.at("largest_cumulative_bytes"), 1_MiB) << sweep;
        EXPECT_FALSE(sweep.at("cumulative_error").is_null()) << sweep;
    }
}

TEST(PinOptions, SweepOfSharedBudgets) {
    if (!test::is_root())
        SKIP_HERE("it takes CAP_NET_RAW to make an AF_XDP socket");
    const PinRun run = pin_json_unprobed({"--sweep", "--mechanism", "af_xdp-umem", "--memlock", "1MiB"});
    const auto& sweep = run.document.at("sweeps").at(0);
    EXPECT_EQ(sweep.at("largest_single_bytes"), 1_MiB) << sweep;
    EXPECT_EQ(sweep.at("largest_cumulative_bytes"), 1_MiB) << sweep;
}

TEST(PinOptions, DryRunTriesNothing) {
    const auto text = test::run_pinscope({"pin", "--no-probes", "--dry-run", "--memlock", "8MiB"});
    EXPECT_EQ(text.status, 0);
    EXPECT_NE(text.out.find("nothing having been tried"), std::string::npos);
    const auto json = test::run_pinscope({"pin", "--no-probes", "--dry-run", "--json", "--memlock", "8MiB"});
    const auto document = nlohmann::json::parse(json.out);
    EXPECT_EQ(test::check_schema(document, "pin-plan-1.schema.json"), "");
    EXPECT_EQ(document.at("memlock_soft_bytes"), 8_MiB);
}

TEST(PinOptions, TimeoutEndsATrialThatHangs) {
    // A trial that is stopped answers no more.
    test::RunningProgram pinscope({test::pinscope_program(), "pin", "--json", "--mechanism", "mlock",
                                   "--timeout", "300ms", "--hold-at", "initialised"});
    ASSERT_TRUE(pinscope.wait_for_error_text("is held at 'initialised': process "));
    // The hold is not counted, so the trial gets its time after it.
    ::usleep(400000);
    const std::string children = [&] {
        const auto run = test::run_program(
            {"/bin/sh", "-c", "cat /proc/" + std::to_string(pinscope.pid()) + "/task/*/children"});
        return run.out;
    }();
    // The janitor is the first child, the trial the second.
    int janitor = 0;
    int trial = 0;
    if (std::sscanf(children.c_str(), "%d %d", &janitor, &trial) != 2) // NOLINT(cert-err34-c)
        SKIP_HERE("this kernel does not list a process's children (CONFIG_PROC_CHILDREN)");
    ::kill(trial, SIGSTOP);
    pinscope.write_input("\n\n\n\n\n\n\n\n");
    const auto outcome = pinscope.finish();
    const auto document = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(document.at("trials").at(0).at("outcome"), "timeout") << document.at("trials").at(0);
    EXPECT_EQ(document.at("controls").at(0).at("state"), "unavailable");
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

} // namespace
} // namespace pinscope
