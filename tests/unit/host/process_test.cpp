// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "host/process.h"
#include "support/fake_tree.h"

#include <gtest/gtest.h>

namespace pinscope::host {
namespace {

constexpr const char* status_text =
    "Name:\tpython3\nUid:\t0\t1000\t0\t0\nGid:\t0\t100\t0\t0\nVmSize:\t  200 kB\n"
    "VmLck:\t      64 kB\nVmPin:\t       0 kB\nRssAnon:\t   8 kB\nRssFile:\t 4 kB\n"
    "RssShmem:\t 12 kB\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\n"
    "CapEff:\t000001fffeffffff\nCapBnd:\t000001ffffffffff\n";

TEST(ProcessMemory, IsInBytes) {
    const auto memory = parse_process_memory(status_text, "Rss: 1 kB\nPss:   20 kB\nLocked:  64 kB\n");
    EXPECT_EQ(memory.vm_size, 200_KiB);
    EXPECT_EQ(memory.vm_lck, 64_KiB);
    EXPECT_EQ(memory.vm_pin, 0U);
    EXPECT_EQ(memory.rss_shmem, 12_KiB);
    EXPECT_EQ(memory.pss, 20_KiB);
    EXPECT_EQ(memory.locked, 64_KiB);
}

TEST(ProcessMemory, MaskedFilesGiveNothing) {
    const auto memory = parse_process_memory("", "");
    EXPECT_FALSE(memory.vm_lck);
    EXPECT_FALSE(memory.pss);
    // A number that is none, and a file cut off.
    EXPECT_FALSE(parse_process_memory("VmLck:\tmuch kB\nVmPin:", "").vm_lck);
}

TEST(Identity, TakesTheEffectiveIds) {
    const auto identity = parse_identity(status_text);
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity->uid, 1000U);
    EXPECT_EQ(identity->gid, 100U);
    EXPECT_EQ(identity->cap_effective, 0x1fffeffffffU);
    EXPECT_FALSE(parse_identity("Uid:\t0\t0\t0\t0\n"));
}

TEST(Limits, BytesAndUnlimited) {
    const auto limits =
        parse_limits("Limit                     Soft Limit           Hard Limit           Units     \n"
                     "Max locked memory         8388608              unlimited            bytes     \n");
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->memlock_soft, Limit::of(8_MiB));
    EXPECT_EQ(limits->memlock_hard, Limit::none());
    EXPECT_FALSE(parse_limits("Max open files 1 2 files\n"));
}

TEST(UserNamespace, InitialOnlyWithTheWholeMap) {
    const test::FakeTree tree = {{"proc/1/uid_map", "         0          0 4294967295\n"},
                                 {"proc/2/uid_map", "         0     100000      65536\n"},
                                 {"proc/3/uid_map", "0 0 1\n1 1 4294967294\n"}};
    const Root root{tree.root()};
    EXPECT_EQ(in_initial_user_namespace(root, 1), true);
    EXPECT_EQ(in_initial_user_namespace(root, 2), false);
    EXPECT_EQ(in_initial_user_namespace(root, 3), false);
    EXPECT_EQ(in_initial_user_namespace(root, 4), std::nullopt);
}

TEST(UserNamespace, MapsIdsInside) {
    EXPECT_EQ(map_id_inside("0 100000 65536\n65536 5 1\n", 100007), 7U);
    EXPECT_EQ(map_id_inside("0 100000 65536\n65536 5 1\n", 5), 65536U);
    EXPECT_FALSE(map_id_inside("0 100000 65536\n", 165536));
    EXPECT_FALSE(map_id_inside("nonsense\n", 0));
}

} // namespace
} // namespace pinscope::host
