// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "host/cgroup.h"
#include "support/fake_tree.h"

#include <gtest/gtest.h>

namespace pinscope::host {
namespace {

using test::FakeTree;

constexpr const char* v2_mount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mount = "33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
constexpr const char* hybrid_mount = "31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(LocateMemoryCgroup, V2) {
    const auto place = locate_memory_cgroup("0::/user.slice/a.scope\n", v2_mount);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->version, 2);
    EXPECT_EQ(place->folder, "/sys/fs/cgroup/user.slice/a.scope");
}

TEST(LocateMemoryCgroup, V1AmongOtherHierarchies) {
    const auto place = locate_memory_cgroup(
        "4:memory:/a/b\n2:cpu,cpuacct:/c\n1:name=systemd:/d\n",
        std::string("32 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n") + v1_mount);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->version, 1);
    EXPECT_EQ(place->folder, "/sys/fs/cgroup/memory/a/b");
}

TEST(LocateMemoryCgroup, HybridGoesByTheController) {
    const auto place = locate_memory_cgroup("4:memory:/a\n0::/b\n", std::string(hybrid_mount) + v1_mount);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->version, 1);
    EXPECT_EQ(place->path, "/a");
}

// Docker on a v1 host: the path counts from the hierarchy's root, the mount shows the container's part.
TEST(LocateMemoryCgroup, BindMountOfThePart) {
    const auto place =
        locate_memory_cgroup("4:memory:/docker/1f/x\n",
                             "33 30 0:29 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    ASSERT_TRUE(place);
    EXPECT_EQ(place->folder, "/sys/fs/cgroup/memory/x");
    EXPECT_EQ(place->mount, "/sys/fs/cgroup/memory");
}

TEST(LocateMemoryCgroup, CgroupNamespace) {
    const auto at_root = locate_memory_cgroup("0::/\n", v2_mount);
    ASSERT_TRUE(at_root);
    EXPECT_EQ(at_root->folder, "/sys/fs/cgroup");
    // A mount made outside shows its root as a way up.
    const auto mounted_outside =
        locate_memory_cgroup("0::/x\n", "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    ASSERT_TRUE(mounted_outside);
    EXPECT_EQ(mounted_outside->folder, "/sys/fs/cgroup/x");
    // A process outside this namespace cannot be reached.
    EXPECT_FALSE(locate_memory_cgroup("0::/../other\n", v2_mount));
}

TEST(LocateMemoryCgroup, SaysWhatIsMissing) {
    const auto none = locate_memory_cgroup("2:cpu:/\n", v1_mount);
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().text().find("no hierarchy has the memory controller"), std::string::npos);
    const auto unmounted = locate_memory_cgroup("4:memory:/a\n", v2_mount);
    ASSERT_FALSE(unmounted);
    EXPECT_NE(unmounted.error().text().find("not mounted"), std::string::npos);
    const auto other_part =
        locate_memory_cgroup("4:memory:/docker/other\n",
                             "33 30 0:29 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    EXPECT_FALSE(other_part);
    // /docker/1fx is not below /docker/1f.
    EXPECT_FALSE(
        locate_memory_cgroup("4:memory:/docker/1fx\n",
                             "33 30 0:29 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"));
}

TEST(LocateMemoryCgroup, APathThatIsNoneIsRefused) {
    EXPECT_FALSE(locate_memory_cgroup("0::a.slice\n", v2_mount));
    EXPECT_FALSE(locate_memory_cgroup("0::\n", v2_mount));
}

TEST(LocateMemoryCgroup, BlanksInNames) {
    const auto place =
        locate_memory_cgroup("0::/a b\n", "30 23 0:26 / /sys/fs/my\\040cgroup rw - cgroup2 cgroup2 rw\n");
    ASSERT_TRUE(place);
    EXPECT_EQ(place->folder, "/sys/fs/my cgroup/a b");
}

FakeTree v2_tree() {
    return {{"proc/self/cgroup", "0::/job/step\n"},
            {"proc/self/mountinfo", v2_mount},
            {"sys/fs/cgroup/cgroup.procs", ""},
            {"sys/fs/cgroup/job/memory.max", "1073741824\n"},
            {"sys/fs/cgroup/job/memory.current", "805306368\n"},
            {"sys/fs/cgroup/job/memory.oom.group", "1\n"},
            {"sys/fs/cgroup/job/step/cgroup.procs", "1\n"},
            {"sys/fs/cgroup/job/step/cgroup.controllers", "cpu memory pids\n"},
            {"sys/fs/cgroup/job/step/memory.max", "max\n"},
            {"sys/fs/cgroup/job/step/memory.current", "268435456\n"},
            {"sys/fs/cgroup/job/step/memory.oom.group", "0\n"},
            {"sys/fs/cgroup/job/step/memory.stat", "anon 1000\nfile 2000\nkernel 300\nshmem 40\n"},
            {"sys/fs/cgroup/job/step/memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n"}};
}

TEST(CgroupFiles, V2ReadsLimitsUpToTheMount) {
    const FakeTree tree = v2_tree();
    const auto place = find_memory_cgroup(Root{tree.root()}, 0);
    ASSERT_TRUE(place) << place.error().text();
    EXPECT_EQ(read_own_limit(*place), Limit::none());
    EXPECT_EQ(read_effective_limit(*place), Limit::of(1_GiB));
    EXPECT_EQ(read_headroom(*place), 256_MiB);
    EXPECT_EQ(find_oom_group(*place), tree.root() + "/sys/fs/cgroup/job");
    const CgroupMemory memory = read_cgroup_memory(*place);
    EXPECT_EQ(memory.usage, 256_MiB);
    EXPECT_EQ(memory.kernel, 300U);
    EXPECT_EQ(memory.shmem, 40U);
    EXPECT_EQ(memory.limit_hits, 7U);
    EXPECT_EQ(memory.oom_kills, 1U);
}

TEST(CgroupFiles, V2WithoutTheControllerIsNone) {
    FakeTree tree = v2_tree();
    tree.add("sys/fs/cgroup/job/step/cgroup.controllers", "cpu pids\n");
    const auto place = find_memory_cgroup(Root{tree.root()}, 0);
    ASSERT_FALSE(place);
    EXPECT_NE(place.error().text().find("not available"), std::string::npos);
}

TEST(CgroupFiles, V1KnowsItsOwnUnlimited) {
    const FakeTree tree = {
        {"proc/7/cgroup", "4:memory:/a\n"},
        {"proc/self/mountinfo", v1_mount},
        {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"},
        {"sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4096\n"},
        {"sys/fs/cgroup/memory/a/memory.kmem.usage_in_bytes", "1024\n"},
        {"sys/fs/cgroup/memory/a/memory.failcnt", "3\n"},
        {"sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"},
        {"sys/fs/cgroup/memory/a/memory.stat",
         "cache 20\nrss 10\nshmem 5\nhierarchical_memory_limit 33554432\n"}};
    const auto place = find_memory_cgroup(Root{tree.root()}, 7);
    ASSERT_TRUE(place) << place.error().text();
    EXPECT_EQ(read_own_limit(*place), Limit::none());
    EXPECT_EQ(read_effective_limit(*place), Limit::of(32_MiB));
    EXPECT_FALSE(find_oom_group(*place));
    const CgroupMemory memory = read_cgroup_memory(*place);
    EXPECT_EQ(memory.anon, 10U);
    EXPECT_EQ(memory.limit_hits, 3U);
    EXPECT_EQ(memory.oom_kills, 5U);
}

TEST(CgroupFiles, WhatCannotBeReadHasNoValue) {
    const FakeTree tree = {{"sys/fs/cgroup/x/other", ""}};
    const CgroupPlace place{2, "/x", tree.root() + "/sys/fs/cgroup/x", tree.root() + "/sys/fs/cgroup"};
    EXPECT_FALSE(read_cgroup_memory(place).usage);
    EXPECT_FALSE(read_effective_limit(place));
    EXPECT_FALSE(read_headroom(place));
    EXPECT_FALSE(has_memory_files(place));
}

} // namespace
} // namespace pinscope::host
