// SPDX-License-Identifier: Apache-2.0
// CUDA trials down to the driver, with the stand-ins for both: tests/standins/libcuda.c and tests/vm/nvidia.
// Needs the second loaded, so a guest.
#include "base/bytes.h"
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "kernel/probe_host.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinscope {
namespace {

using nlohmann::json;
using test::PinRun;

const std::string parameters = "/sys/module/nvidia/parameters/";

class NvidiaDriver : public testing::Test {
  protected:
    void SetUp() override {
        const auto version = read_file("/sys/module/nvidia/version").value_or("");
        if (version.find("stand-in") == std::string::npos)
            SKIP_HERE("the stand-in for NVIDIA's driver (tests/vm/nvidia) is not loaded");
    }
    void TearDown() override {
        if (IsSkipped())
            return;
        EXPECT_TRUE(write_file(parameters + "check_memlock", "0"));
        EXPECT_TRUE(write_file(parameters + "rm_status", "0"));
    }

    static PinRun pin(const std::string& mechanism) {
        const std::string program = test::pinscope_program();
        const std::string folder = program.substr(0, program.rfind('/')) + "/standins";
        return test::pin_json(
            {"--mechanism", mechanism, "--memlock", "8MiB", "--cuda-lib", folder, "--cudart", folder});
    }

    // The pages of one function among those that a window lists.
    static uint64_t pages_of(const json& calls, std::string_view function) {
        uint64_t pages = 0;
        for (const auto& one : calls)
            if (one["function"] == function)
                pages += one["pages"].get<uint64_t>();
        return pages;
    }
    static std::string evidence(const PinRun& run) {
        std::string all;
        for (const auto& line : run.document["verdicts"][0]["evidence"])
            all += line.get<std::string>() + "\n";
        return all;
    }
};

TEST_F(NvidiaDriver, TheChainDownToThePins) {
    const uint64_t pages = 16_MiB / page_size();
    for (const char* mechanism : {"cudaHostAlloc", "cudaHostRegister"}) {
        const PinRun run = pin(mechanism);
        EXPECT_EQ(run.verdict(mechanism), "not_enforced") << run.reason(mechanism);
        EXPECT_EQ(run.document["verdicts"][0]["tier"], "function");
        const json trial = run.trial(mechanism, "over");
        const json& window = trial["window"];
        ASSERT_EQ(window["nvidia_ioctls"].size(), 1U) << window;
        const json& call = window["nvidia_ioctls"][0];
        EXPECT_EQ(call["device"], "nvidia0");
        EXPECT_EQ(call["name"], "RM_ALLOC_MEMORY");
        EXPECT_EQ(call["class"], "0x71");
        EXPECT_EQ(call["size_bytes"], 16_MiB);
        EXPECT_EQ(call["status_name"], "OK");
        EXPECT_EQ(pages_of(window["nvidia_functions"], "os_lock_user_pages"), pages);
        EXPECT_EQ(window["pinned_pages"], pages);
        EXPECT_EQ(trial["deltas"]["vm_lck_bytes"], 0);
        EXPECT_EQ(trial["deltas"]["vm_pin_bytes"], 0);
        for (const auto& check : window["limit_checks"])
            EXPECT_FALSE(check["decides"]) << check;
        const std::string words = evidence(run);
        EXPECT_NE(words.find(std::string("chain: ") + mechanism), std::string::npos) << words;
        EXPECT_LT(words.find("ioctl 0x27 RM_ALLOC_MEMORY of nvidia0, class 0x71 OS descriptor, 16 MiB: OK"),
                  words.find("os_lock_user_pages (4096 pages)"))
            << words;
        EXPECT_LT(words.find("os_lock_user_pages"), words.find("pin_user_pages (4096 pages)")) << words;
    }
    // What the call gives is shmem, and charged as such; registered memory was there before.
    const PinRun run = pin("cuMemHostAlloc");
    EXPECT_GE(run.trial("cuMemHostAlloc", "over")["deltas"]["rss_shmem_bytes"].get<int64_t>(),
              int64_t{16_MiB});
    EXPECT_GE(run.trial("cuMemHostAlloc", "over")["deltas"]["cgroup_bytes"].get<int64_t>(), int64_t{16_MiB});
}

TEST_F(NvidiaDriver, ADriverThatCountsIsNamed) {
    ASSERT_TRUE(write_file(parameters + "check_memlock", "1"));
    const PinRun run = pin("cudaHostAlloc");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict("cudaHostAlloc"), "enforced") << run.reason("cudaHostAlloc");
    EXPECT_NE(run.reason("cudaHostAlloc").find("decided by account_locked_vm"), std::string::npos)
        << run.reason("cudaHostAlloc");
    EXPECT_NE(run.reason("cudaHostAlloc").find("NO_MEMORY"), std::string::npos);
    EXPECT_EQ(run.document["verdicts"][0]["tier"], "function");
}

TEST_F(NvidiaDriver, ItsOwnRefusalIsNamedThoughTheIoctlSucceeds) {
    ASSERT_TRUE(write_file(parameters + "rm_status", "26"));
    const PinRun run = pin("cudaHostAlloc");
    EXPECT_EQ(run.verdict("cudaHostAlloc"), "blocked_elsewhere");
    EXPECT_NE(run.reason("cudaHostAlloc").find("driver status 0x1a INSUFFICIENT_RESOURCES"),
              std::string::npos)
        << run.reason("cudaHostAlloc");
    const json call = run.trial("cudaHostAlloc", "over")["window"]["nvidia_ioctls"][0];
    EXPECT_EQ(call["result"], 0);
    EXPECT_EQ(call["status"], "0x1a");
}

} // namespace
} // namespace pinscope
