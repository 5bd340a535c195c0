// SPDX-License-Identifier: Apache-2.0
// The first answer: every mechanism has the verdict that this kernel's source says, on controls that hold.
#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/expected.h"
#include "kernel/host_under_test.h"
#include "support/skip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace pinscope {
namespace {

using test::pin_json_unprobed;
using test::PinRun;

TEST(PinAnswer, EveryMechanismHasTheRightVerdictWithinFiveSeconds) {
    if (!test::is_root())
        SKIP_HERE("it takes root to try every mechanism");
    const auto began = std::chrono::steady_clock::now();
    const PinRun run = test::pin_json({});
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_EQ(run.status, 0);
    EXPECT_LT(std::chrono::duration<double>(took).count(), 5.0 * test::time_factor());

    int judged = 0;
    for (const auto& verdict : run.document.at("verdicts")) {
        const auto mechanism = verdict.at("mechanism").get<std::string>();
        const auto kind = verdict.at("verdict").get<std::string>();
        EXPECT_EQ(test::expected_verdicts(mechanism, test::this_kernel()).count(kind), 1U)
            << mechanism << " is " << kind << ": " << verdict.at("reason");
        judged += kind == "enforced" || kind == "not_enforced" ? 1 : 0;
    }
    EXPECT_GE(judged, 12);
    for (const auto& control : run.document.at("controls"))
        EXPECT_EQ(control.at("state"), "holds") << control;
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(PinAnswer, CudaComesFirstAndSaysWhatIsMissing) {
    const auto run = test::run_pinscope({"pin", "--no-probes", "--mechanism", "mlock"});
    EXPECT_EQ(run.out.rfind("CUDA ", 0), 0U) << run.out;
    const PinRun cuda = pin_json_unprobed({"--mechanism", "cudaHostAlloc"});
    EXPECT_EQ(cuda.status, 77);
    EXPECT_EQ(cuda.verdict("cudaHostAlloc"), "unsupported");
    EXPECT_NE(cuda.reason("cudaHostAlloc"), "");
}

TEST(PinAnswer, StatusFollowsWhatWasNamed) {
    EXPECT_EQ(pin_json_unprobed({"--mechanism", "mlock"}).status, 1);
    EXPECT_EQ(pin_json_unprobed({"--mechanism", "vmsplice"}).status, 0);
    EXPECT_EQ(pin_json_unprobed({"--mechanism", "vmsplice,mlock"}).status, 1);
    EXPECT_EQ(pin_json_unprobed({"--mechanism", "mlock", "--size", "4KiB"}).status, 77);
}

// The kernel's own counters agree with what was granted.
TEST(PinAnswer, CountersShowWhatWasGranted) {
    if (!test::is_root())
        SKIP_HERE("it takes CAP_IPC_LOCK to be granted a pin over the limit");
    const PinRun run =
        pin_json_unprobed({"--mechanism", "mlock,mmap-locked,io_uring-buffers", "--size", "16MiB"});
    EXPECT_EQ(run.granted_contrast("mlock").at("deltas").at("vm_lck_bytes"), 16_MiB);
    // Until 6.2 a task keeps up to 64 pages of its resident set to itself (mm/memory.c
    // TASK_RSS_EVENTS_THRESH); later a percpu counter is read without its parts.
    const auto resident = run.granted_contrast("mlock").at("deltas").at("rss_anon_bytes").get<uint64_t>();
    EXPECT_LE(resident, 16_MiB + 256_KiB);
    EXPECT_GE(resident, 16_MiB - 256_KiB);
    EXPECT_EQ(run.granted_contrast("mlock").at("charged_bytes"), 16_MiB);
    EXPECT_EQ(run.granted_contrast("mmap-locked").at("deltas").at("vm_lck_bytes"), 16_MiB);
    // From 7.2 on pinned_vm is left alone where the capability spares the user's locked_vm
    // (io_uring/rsrc.c io_account_mem).
    const auto& contrast = run.granted_contrast("io_uring-buffers");
    const bool spared =
        test::this_kernel().at_least(7, 2) && contrast.at("conditions").at("cap_ipc_lock").get<bool>();
    EXPECT_EQ(contrast.at("deltas").at("vm_pin_bytes"), spared ? 0 : 16_MiB) << contrast;
    EXPECT_EQ(run.trial("mlock", "over").at("deltas").at("vm_lck_bytes"), 0);
}

TEST(PinAnswer, TheCgroupIsChargedForLockedMemoryAndNotForPacketRings) {
    if (!test::is_root() || !test::own_cgroup())
        SKIP_HERE("it takes root and a memory cgroup");
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock,packet-ring", "--size", "16MiB"});
    const auto locked = run.granted_contrast("mlock").at("deltas").at("cgroup_bytes").get<int64_t>();
    EXPECT_GE(locked, static_cast<int64_t>(15_MiB));
    const auto ring = run.trial("packet-ring", "over").at("deltas").at("cgroup_bytes").get<int64_t>();
    EXPECT_LT(ring, static_cast<int64_t>(2_MiB));
}

TEST(PinAnswer, RdmaRegionsCountInVmPin) {
    if (!test::is_root() || !exists("/dev/infiniband/uverbs0"))
        SKIP_HERE("it takes root and an RDMA device");
    const PinRun run = pin_json_unprobed({"--mechanism", "rdma-reg-mr", "--size", "16MiB"});
    EXPECT_EQ(run.verdict("rdma-reg-mr"), "enforced") << run.reason("rdma-reg-mr");
    EXPECT_EQ(run.granted_contrast("rdma-reg-mr").at("deltas").at("vm_pin_bytes"), 16_MiB);
    EXPECT_EQ(run.trial("rdma-reg-mr", "over").at("deltas").at("vm_pin_bytes"), 0);
}

TEST(PinAnswer, VfioMappingsCountInVmLck) {
    const auto groups = list_folder("/dev/vfio").value_or(std::vector<std::string>());
    if (!test::is_root() || std::none_of(groups.begin(), groups.end(), [](const std::string& name) {
            return parse_unsigned(name).has_value();
        }))
        SKIP_HERE("it takes root and a device given to VFIO");
    const PinRun run = pin_json_unprobed({"--mechanism", "vfio-map", "--size", "16MiB"});
    EXPECT_EQ(run.verdict("vfio-map"), "enforced") << run.reason("vfio-map");
    EXPECT_EQ(run.granted_contrast("vfio-map").at("deltas").at("vm_lck_bytes"), 16_MiB);
}

TEST(PinAnswer, DmaHeapsAreChargedToNobody) {
    if (!test::is_root() || !test::own_cgroup() || !exists("/dev/dma_heap/system"))
        SKIP_HERE("it takes root, a memory cgroup and a dma-buf heap");
    const PinRun run = pin_json_unprobed({"--mechanism", "dma-heap,udmabuf", "--size", "16MiB"});
    EXPECT_EQ(run.verdict("dma-heap"), "not_enforced") << run.reason("dma-heap");
    EXPECT_LT(run.trial("dma-heap", "over").at("deltas").at("cgroup_bytes").get<int64_t>(),
              static_cast<int64_t>(2_MiB));
    EXPECT_EQ(run.verdict("udmabuf"), "not_enforced") << run.reason("udmabuf");
}

TEST(PinAnswer, TextAndJsonOfOneKindOfRunHaveTheSameVerdicts) {
    const PinRun json = pin_json_unprobed({"--mechanism", "mlock,vmsplice"});
    const auto text = test::run_pinscope({"pin", "--no-probes", "--mechanism", "mlock,vmsplice"});
    for (const auto& verdict : json.document.at("verdicts"))
        EXPECT_NE(text.out.find(verdict.at("reason").get<std::string>()), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find('\x1b'), std::string::npos) << "colours in a pipe";
}

// Every value of the document is in the text of --verbose, in its own words.
TEST(PinAnswer, VerboseShowsEveryTrial) {
    const auto text = test::run_pinscope({"pin", "--no-probes", "--mechanism", "mlock", "--verbose"});
    for (const char* word :
         {"trials[0]", "size_bytes", "vm_lck_bytes", "memlock_soft_bytes", "foll_pin_pages", "snapshots[0]"})
        EXPECT_NE(text.out.find(word), std::string::npos) << word;
}

} // namespace
} // namespace pinscope
