// SPDX-License-Identifier: Apache-2.0
// CUDA trials with stand-ins for the libraries (tests/standins), in each way in which a library can behave.
// No GPU and no NVIDIA driver is needed, and none is looked at.
#include "base/bytes.h"
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "support/skip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace pinscope {
namespace {

using nlohmann::json;
using test::PinRun;

std::string standins() {
    const std::string program = test::pinscope_program();
    return program.substr(0, program.rfind('/')) + "/standins";
}

class CudaTrial : public testing::Test {
  protected:
    void SetUp() override {
        if (!exists(standins() + "/libcuda.so.1"))
            SKIP_HERE("the stand-ins for the CUDA libraries are not beside pinscope");
        if (!test::is_root())
            SKIP_HERE("the comparison with CAP_IPC_LOCK takes root");
    }

    // With a library that behaves so; under 8 MiB, whatever the limit here is.
    static PinRun pin_with(const std::string& behaviour, std::vector<std::string> arguments,
                           const std::string& large = "") {
        test::ProgramOptions options;
        options.before_exec = [=] {
            return ::setenv("PINSCOPE_STANDIN", behaviour.c_str(), 1) == 0 &&
                   ::setenv("PINSCOPE_STANDIN_LARGE", large.empty() ? "1073741824" : large.c_str(), 1) == 0;
        };
        const std::vector<std::string> libraries = {"--cuda-lib", standins() + "/libcuda.so.1", "--cudart",
                                                    standins() + "/libcudart.so.13"};
        arguments.insert(arguments.end(), libraries.begin(), libraries.end());
        if (std::find(arguments.begin(), arguments.end(), "--memlock") == arguments.end())
            arguments.insert(arguments.end(), {"--memlock", "8MiB"});
        return test::pin_json_unprobed(std::move(arguments), options);
    }

    static PinRun ask(const std::string& behaviour, const std::string& mechanism = "cudaHostAlloc") {
        return pin_with(behaviour, {"--mechanism", mechanism, "--timeout", "3s"});
    }
};

constexpr const char* all_but_create =
    "cudaHostAlloc,cudaHostAlloc-portable,cudaHostAlloc-mapped,cudaHostAlloc-writecombined,cudaMallocHost,"
    "cudaHostRegister,cudaHostRegister-memfd,cudaHostRegister-file,cudaMallocManaged,cuMemHostAlloc,"
    "cuMemHostRegister";

TEST_F(CudaTrial, ALibraryThatPinsIsNotStopped) {
    const PinRun run = pin_with("pins", {"--mechanism", all_but_create});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.document["verdicts"].size(), 11U);
    for (const auto& verdict : run.document["verdicts"])
        EXPECT_EQ(verdict["verdict"], "not_enforced") << verdict["mechanism"] << verdict["reason"];
    EXPECT_EQ(run.document["cuda"].get<std::string>().rfind("the limit does not stop cudaHostAlloc", 0), 0U)
        << run.document["cuda"];
    EXPECT_NE(run.document["cuda"].get<std::string>().find("stand-in"), std::string::npos);
    // As the real one: the memory is shmem, and VmLck does not know of it.
    const json trial = run.trial("cudaHostAlloc", "over");
    EXPECT_EQ(trial["outcome"], "granted");
    EXPECT_EQ(trial["deltas"]["vm_lck_bytes"], 0);
    EXPECT_GE(trial["deltas"]["rss_shmem_bytes"].get<int64_t>(), trial["size_bytes"].get<int64_t>());
}

TEST_F(CudaTrial, ALibraryThatLocksIsStopped) {
    const PinRun run = pin_with("mlock", {"--mechanism", all_but_create});
    EXPECT_EQ(run.status, 1) << run.err;
    for (const auto& verdict : run.document["verdicts"]) {
        EXPECT_EQ(verdict["verdict"], "enforced") << verdict["mechanism"] << verdict["reason"];
        EXPECT_NE(verdict["reason"].get<std::string>().find("error 2"), std::string::npos);
    }
    EXPECT_EQ(run.document["cuda"].get<std::string>().rfind("the limit stops cudaHostAlloc", 0), 0U);
}

TEST_F(CudaTrial, AnErrorAtAnySizeIsNotTheLimits) {
    for (const char* mechanism : {"cudaHostAlloc", "cuMemHostRegister"}) {
        const PinRun run = ask("error", mechanism);
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.verdict(mechanism), "blocked_elsewhere");
        EXPECT_NE(run.reason(mechanism).find("at any size"), std::string::npos) << run.reason(mechanism);
        EXPECT_EQ(run.trial(mechanism, "over")["error"]["code"], 2);
    }
}

TEST_F(CudaTrial, AnErrorOfLargeSizesOnlyIsNotEither) {
    const auto large = fmt::format("{}", uint64_t{12_MiB});
    const PinRun run = pin_with("error-large", {"--mechanism", "cudaHostAlloc"}, large);
    EXPECT_EQ(run.verdict("cudaHostAlloc"), "blocked_elsewhere");
    EXPECT_NE(run.reason("cudaHostAlloc").find("depends on the size"), std::string::npos)
        << run.reason("cudaHostAlloc");
    const PinRun small = pin_with("error-large", {"--mechanism", "cudaHostAlloc", "--size", "12MiB"}, large);
    EXPECT_EQ(small.verdict("cudaHostAlloc"), "not_enforced");
}

// The story that this project began with.
TEST_F(CudaTrial, OneGigabyteUnderEightMegabytes) {
    if (const auto host = test::pin_json_unprobed({"--mechanism", "mlock"});
        host.document["host"]["memory_available_bytes"].get<uint64_t>() < 3_GiB)
        SKIP_HERE("it takes 3 GiB of free memory");
    const std::vector<std::string> story = {"--mechanism", "cudaHostAlloc", "--memlock", "8MiB", "--size"};
    auto one = story;
    one.emplace_back("1GiB");
    EXPECT_EQ(pin_with("pins", one).verdict("cudaHostAlloc"), "not_enforced");
    EXPECT_EQ(pin_with("mlock", one).verdict("cudaHostAlloc"), "enforced");
    EXPECT_EQ(pin_with("error-large", one).verdict("cudaHostAlloc"), "not_enforced") << "not above 1 GiB";
    auto more = story;
    more.emplace_back("1028MiB");
    EXPECT_EQ(pin_with("error-large", more).verdict("cudaHostAlloc"), "blocked_elsewhere");
}

TEST_F(CudaTrial, HangsCrashesAndLiesEachHaveTheirReason) {
    struct Case {
        const char* behaviour;
        const char* words;
    };
    for (const auto& [behaviour, words] : {Case{"hang", "no answer within"}, Case{"crash", "SIGABRT"},
                                           Case{"lie", "there is no memory at the address"}}) {
        const PinRun run = pin_with(behaviour, {"--mechanism", "cudaHostAlloc", "--timeout", "1s"});
        EXPECT_EQ(run.status, 77) << behaviour;
        EXPECT_EQ(run.verdict("cudaHostAlloc"), "inconclusive") << behaviour;
        EXPECT_NE(run.reason("cudaHostAlloc").find(words), std::string::npos) << run.reason("cudaHostAlloc");
    }
    EXPECT_TRUE(test::leftovers().empty());
}

TEST_F(CudaTrial, WhatTheLibraryLacksIsNamed) {
    const PinRun run = ask("pins", "cuMemCreate-host");
    EXPECT_EQ(run.status, 77);
    EXPECT_EQ(run.verdict("cuMemCreate-host"), "unsupported");
    EXPECT_NE(run.reason("cuMemCreate-host").find("has no cuMemCreate"), std::string::npos);
}

TEST_F(CudaTrial, TheDriverLibraryAloneIsEnoughForItsTrials) {
    const PinRun run = test::pin_json_unprobed({"--mechanism", "cuMemHostAlloc", "--cuda-lib", standins()});
    EXPECT_EQ(run.verdict("cuMemHostAlloc"), "not_enforced") << run.reason("cuMemHostAlloc");
}

TEST_F(CudaTrial, SeveralAtATimeAndASweep) {
    const PinRun several = pin_with("mlock", {"--mechanism", "cudaHostAlloc", "--count", "4"});
    EXPECT_EQ(several.verdict("cudaHostAlloc"), "enforced") << several.reason("cudaHostAlloc");
    const PinRun swept = pin_with(
        "mlock", {"--mechanism", "cuMemHostAlloc", "--sweep", "--memlock", "1MiB", "--timeout", "10s"});
    ASSERT_EQ(swept.document["sweeps"].size(), 1U);
    EXPECT_EQ(swept.document["sweeps"][0]["largest_single_bytes"], 1_MiB);
}

TEST_F(CudaTrial, WithoutBeingNamedTheyComeFirst) {
    test::ProgramOptions options;
    options.before_exec = [] { return ::setenv("LD_LIBRARY_PATH", standins().c_str(), 1) == 0; };
    const auto run = test::run_pinscope({"pin", "--no-probes", "--dry-run"}, options);
    EXPECT_LT(run.out.find("cudaHostAlloc"), run.out.find("\nmlock ")) << run.out;
    const auto without = test::run_pinscope({"pin", "--no-probes", "--dry-run"});
    EXPECT_EQ(without.out.find("cudaHostAlloc"), std::string::npos) << "unless there is a driver here";
}

TEST_F(CudaTrial, EachCandidateIsShownWithWhatBecameOfIt) {
    const PinRun run = ask("pins");
    const auto driver = run.document["host"]["cuda_library"]["driver"];
    ASSERT_GE(driver.size(), 1U);
    EXPECT_EQ(driver[0]["path"], standins() + "/libcuda.so.1");
    EXPECT_EQ(driver[0]["found_by"], "named by the user");
    EXPECT_EQ(driver[0]["taken"], true);
    EXPECT_EQ(run.document["host"]["cuda_library"]["ld_library_path"], standins());

    const PinRun wrong =
        test::pin_json_unprobed({"--mechanism", "cudaHostAlloc", "--cuda-lib", standins() + "/libcuda.so.2"});
    EXPECT_EQ(wrong.document["host"]["cuda_library"]["driver"][0]["reason"], "there is no such file");
}

} // namespace
} // namespace pinscope
