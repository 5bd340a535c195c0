// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "run/clean_up.h"
#include "run/leaf_cgroup.h"
#include "run/stop_message.h"
#include "support/fake_tree.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace pinscope::run {
namespace {

using test::FakeTree;

TEST(PlanLeaf, NothingWithoutACgroup) {
    EXPECT_EQ(plan_leaf(std::nullopt).cgroup_version, 0);
}

TEST(PlanLeaf, V2RestoresTheControllerOnlyWhereItWasOff) {
    const FakeTree off = {{"g/cgroup.subtree_control", "cpu pids\n"}};
    const FakeTree on = {{"g/cgroup.subtree_control", "cpu memory pids\n"}};
    const FakeTree on_for_another_run = {{"g/cgroup.subtree_control", "memory\n"},
                                         {"g/pinscope-1/cgroup.procs", ""}};
    const auto plan = [](const FakeTree& tree) {
        return plan_leaf(host::CgroupPlace{2, "/g", tree.root() + "/g", tree.root()});
    };
    EXPECT_TRUE(plan(off).disable_memory);
    EXPECT_FALSE(plan(on).disable_memory);
    EXPECT_TRUE(plan(on_for_another_run).disable_memory);
}

TEST(CleanUp, FindsItsWorkDone) {
    const FakeTree tree = {{"g/cgroup.procs", ""}};
    CleanUpPlan plan;
    plan.cgroup_version = 1;
    plan.own_folder = tree.root() + "/g";
    plan.leaf_folder = plan.own_folder + "/pinscope-1";
    EXPECT_TRUE(clean_up(plan, {}));
    ::mkdir(plan.leaf_folder.c_str(), 0700);
    EXPECT_TRUE(clean_up(plan, {}));
    EXPECT_FALSE(exists(plan.leaf_folder));
}

TEST(CleanUp, V2GivesTheControllerBack) {
    const FakeTree tree = {{"g/cgroup.subtree_control", "cpu memory\n"}, {"g/cgroup.procs", ""}};
    CleanUpPlan plan;
    plan.cgroup_version = 2;
    plan.own_folder = tree.root() + "/g";
    plan.leaf_folder = plan.own_folder + "/pinscope-1";
    plan.self_folder = plan.leaf_folder + "-self";
    EXPECT_TRUE(clean_up(plan, {}));
    EXPECT_EQ(*read_file(plan.own_folder + "/cgroup.subtree_control"), "cpu memory\n") << "it was on before";
    plan.disable_memory = true;
    EXPECT_TRUE(clean_up(plan, {}));
    EXPECT_EQ(read_file(plan.own_folder + "/cgroup.subtree_control")->substr(0, 7), "-memory");
}

TEST(CleanUp, LeavesTheControllerToAnotherRun) {
    // Of a process id that begins with ours.
    const FakeTree tree = {{"g/cgroup.subtree_control", "memory\n"}, {"g/pinscope-12/cgroup.procs", ""}};
    CleanUpPlan plan;
    plan.cgroup_version = 2;
    plan.own_folder = tree.root() + "/g";
    plan.leaf_folder = plan.own_folder + "/pinscope-1";
    plan.self_folder = plan.leaf_folder + "-self";
    plan.disable_memory = true;
    EXPECT_TRUE(clean_up(plan, {}));
    EXPECT_EQ(*read_file(plan.own_folder + "/cgroup.subtree_control"), "memory\n");
}

TEST(StopMessage, TextFieldsCutAndTerminate) {
    StopMessage message;
    set_text(message.call, std::string(100, 'x'));
    EXPECT_EQ(get_text(message.call), std::string(message.call.size() - 1, 'x'));
    set_text(message.call, "mlock");
    EXPECT_EQ(get_text(message.call), "mlock");
}

} // namespace
} // namespace pinscope::run
