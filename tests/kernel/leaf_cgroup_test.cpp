// SPDX-License-Identifier: Apache-2.0
// The leaf that trials run in: below the own cgroup, and on v2 only by emptying that first.
#include "base/bytes.h"
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>

namespace pinscope {
namespace {

using test::pin_json_unprobed;
using test::PinRun;
using test::ProgramOptions;

#define NEEDS_CGROUP(wanted_version)                                                                         \
    do {                                                                                                     \
        if (!test::is_root() || !test::own_cgroup())                                                         \
            SKIP_HERE("it takes root and a memory cgroup");                                                  \
        if ((wanted_version) != 0 && test::own_cgroup()->version != (wanted_version))                        \
            SKIP_HERE("this host's memory cgroups are of the other version");                                \
    } while (false)

TEST(LeafCgroup, LiesBelowTheOwnOne) {
    NEEDS_CGROUP(0);
    const PinRun run = pin_json_unprobed({"--mechanism", "vmsplice"});
    const auto& leaf = run.document.at("leaf");
    EXPECT_TRUE(leaf.at("shared_because").is_null()) << leaf;
    const std::string own = test::cgroup_of_programs()->folder;
    EXPECT_EQ(leaf.at("folder").get<std::string>().rfind(own + "/pinscope-", 0), 0U) << leaf;
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(LeafCgroup, KeepsTheLimitAbove) {
    NEEDS_CGROUP(0);
    const test::LimitedCgroup cgroup(200_MiB);
    if (!cgroup.place())
        SKIP_HERE(cgroup.why_not());
    ProgramOptions options;
    options.before_exec = [&] { return cgroup.enter(); };
    const PinRun run = pin_json_unprobed({"--mechanism", "vmsplice"}, options);
    EXPECT_EQ(run.document.at("host").at("cgroup").at("limit_bytes"), 200_MiB);
    EXPECT_EQ(run.trial("vmsplice", "over").at("conditions").at("cgroup_limit_bytes"), 200_MiB);
}

TEST(LeafCgroup, V2IsPutBackAfterAKillToo) {
    NEEDS_CGROUP(2);
    test::RunningProgram pinscope(
        {test::pinscope_program(), "pin", "--mechanism", "vmsplice", "--hold-at", "allocated"});
    ASSERT_TRUE(pinscope.wait_for_error_text("is held at"));
    const std::string own = test::cgroup_of_programs()->folder;
    EXPECT_EQ(read_file(own + "/cgroup.procs").value_or("cannot be read"), "") << "emptied";
    EXPECT_NE(read_file(own + "/cgroup.subtree_control")->find("memory"), std::string::npos);
    pinscope.send(SIGKILL);
    (void)pinscope.finish();
    for (int tries = 0; tries < 500 && !test::leftovers().empty(); ++tries)
        ::usleep(10000);
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(LeafCgroup, V2IsSharedWhereOthersAre) {
    NEEDS_CGROUP(2);
    ProgramOptions options;
    options.before_exec = &test::enter_cgroup_of_tests;
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock,vmsplice"}, options);
    const auto because = run.document.at("leaf").at("shared_because");
    ASSERT_TRUE(because.is_string());
    EXPECT_NE(because.get<std::string>().find("processes of others"), std::string::npos) << because;
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
}

// There a kill takes every process of the cgroup, pinscope's too: nothing that could be killed is run.
TEST(LeafCgroup, V2OomGroupForbidsTrialsThatMayBeKilled) {
    NEEDS_CGROUP(2);
    const test::LimitedCgroup cgroup(40_MiB);
    if (!cgroup.place())
        SKIP_HERE(cgroup.why_not());
    ASSERT_TRUE(write_file(cgroup.place()->folder + "/memory.oom.group", "1"));
    ProgramOptions options;
    options.before_exec = [&] { return cgroup.enter() && test::set_memlock(4_MiB, 8_MiB); };
    const PinRun run = pin_json_unprobed({"--mechanism", "vmsplice", "--size", "60MiB"}, options);
    EXPECT_EQ(run.verdict("vmsplice"), "inconclusive");
    EXPECT_NE(run.reason("vmsplice").find("memory.oom.group"), std::string::npos) << run.reason("vmsplice");
    EXPECT_TRUE(run.trial("vmsplice", "over").is_null());
    // What fits is run.
    const PinRun small = pin_json_unprobed({"--mechanism", "vmsplice", "--size", "9MiB"}, options);
    EXPECT_EQ(small.verdict("vmsplice"), "not_enforced") << small.reason("vmsplice");
}

} // namespace
} // namespace pinscope
