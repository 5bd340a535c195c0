// SPDX-License-Identifier: Apache-2.0
// Less than root on a whole host: it still answers, and says what is missing and what it would have added.
#include "base/bytes.h"
#include "kernel/host_under_test.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>

namespace pinscope {
namespace {

using test::pin_json_unprobed;
using test::PinRun;
using test::ProgramOptions;

bool says_missing(const PinRun& run, const std::string& what) {
    for (const auto& entry : run.document.at("missing"))
        if (entry.at("what").get<std::string>().find(what) != std::string::npos)
            return !entry.at("reason").get<std::string>().empty() &&
                   !entry.at("would_add").get<std::string>().empty();
    return false;
}

TEST(PinRestricted, NotRoot) {
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(8_MiB, 8_MiB) && (!test::is_root() || test::become_nobody());
    };
    const PinRun run = pin_json_unprobed({}, options);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_EQ(run.verdict("packet-ring"), "unsupported");
    EXPECT_NE(run.reason("packet-ring").find("CAP_NET_RAW"), std::string::npos);
    EXPECT_EQ(run.control("over_with_cap"), "unavailable");
    // An ordinary user can make no cgroup below the tests' one.
    EXPECT_FALSE(run.document.at("leaf").at("shared_because").is_null());
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(PinRestricted, MaskedProc) {
    if (!test::is_root())
        SKIP_HERE("it takes root to mask /proc");
    ProgramOptions options;
    options.before_exec = [] {
        return ::unshare(CLONE_NEWNS) == 0 &&
               ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0 && test::set_memlock(8_MiB, 8_MiB);
    };
    const PinRun run = pin_json_unprobed({}, options);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_TRUE(says_missing(run, "/proc/PID/status"));
    EXPECT_TRUE(says_missing(run, "memory cgroup"));
    EXPECT_TRUE(says_missing(run, "user namespace"));
    EXPECT_TRUE(says_missing(run, "host's memory"));
    EXPECT_TRUE(run.trial("mlock", "over").at("deltas").at("vm_lck_bytes").is_null());
    EXPECT_TRUE(run.document.at("host").at("user_namespace").is_null());
    EXPECT_TRUE(run.document.at("host").at("cgroup").at("version").is_null());
}

// A pid namespace of its own under the /proc of the outer one: there the trials' numbers are those of
// strangers.
TEST(PinRestricted, ProcOfAnotherPidNamespace) {
    if (!test::is_root())
        SKIP_HERE("it takes root to make a pid namespace");
    const auto outcome = test::run_program(
        {"/bin/sh", "-c",
         "unshare -p -f " + test::pinscope_program() + " pin --json --mechanism mlock,vmsplice"});
    const auto document = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << outcome.out << outcome.err;
    PinRun run;
    run.document = document;
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_TRUE(says_missing(run, "/proc/PID/status"));
    EXPECT_TRUE(run.trial("mlock", "over").at("deltas").at("vm_lck_bytes").is_null());
    EXPECT_EQ(test::leftovers(), std::vector<std::string>());
}

TEST(PinRestricted, ReadOnlyCgroups) {
    if (!test::is_root() || !test::own_cgroup())
        SKIP_HERE("it takes root and a memory cgroup to make it read-only");
    const std::string mount = test::own_cgroup()->mount;
    ProgramOptions options;
    options.before_exec = [&] {
        return ::unshare(CLONE_NEWNS) == 0 &&
               ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("none", mount.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    };
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock,vmsplice"}, options);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    const auto because = run.document.at("leaf").at("shared_because");
    ASSERT_TRUE(because.is_string());
    EXPECT_NE(because.get<std::string>().find("Read-only"), std::string::npos) << because;
    const auto text = test::run_pinscope({"pin", "--no-probes", "--mechanism", "mlock"}, options);
    EXPECT_NE(text.out.find("trials shared this one"), std::string::npos) << text.out;
}

} // namespace
} // namespace pinscope
