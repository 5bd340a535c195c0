// SPDX-License-Identifier: Apache-2.0
// What the kernel's own side says of each trial: who decided, what was counted, pinned and allocated.
#include "base/bytes.h"
#include "kernel/expected.h"
#include "kernel/host_under_test.h"
#include "kernel/probe_host.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>

namespace pinscope {
namespace {

using nlohmann::json;
using test::pin_json;
using test::PinRun;

// One run for all tests: each looks at another part of it.
const PinRun& whole_run() {
    static const PinRun run = pin_json({});
    return run;
}

class KernelEvidence : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = test::why_no_windows(); !why.empty())
            SKIP_HERE(why);
    }
};

json window(const PinRun& run, std::string_view mechanism, std::string_view role) {
    const json trial = run.trial(mechanism, role);
    return trial.is_null() ? json() : trial.at("window");
}

std::string deciders(const json& window) {
    std::string names;
    for (const auto& check : window.at("limit_checks"))
        if (check.at("decides").get<bool>())
            names += (names.empty() ? "" : "|") + check.at("function").get<std::string>();
    return names;
}

json find_check(const json& window, std::string_view function) {
    for (const auto& check : window.at("limit_checks"))
        if (check.at("function") == function)
            return check;
    return {};
}

uint64_t rise(const json& window, const std::string& budget) {
    const auto& budgets = window.at("budgets");
    return budgets.at("after").at(budget).get<uint64_t>() - budgets.at("before").at(budget).get<uint64_t>();
}

TEST_F(KernelEvidence, EveryEnforcedVerdictNamesWhoDecided) {
    const bool functions = test::has_function_probes();
    int named = 0;
    for (const auto& verdict : whole_run().document.at("verdicts")) {
        if (verdict.at("verdict") != "enforced")
            continue;
        const auto mechanism = verdict.at("mechanism").get<std::string>();
        const std::string who = deciders(window(whole_run(), mechanism, "over"));
        const auto expected = test::expected_deciders(mechanism, test::this_kernel(), functions);
        EXPECT_EQ(expected.count(who), 1U) << mechanism << " is decided by \"" << who << "\"";
        const auto reason = verdict.at("reason").get<std::string>();
        const auto tier = verdict.at("tier").get<std::string>();
        if (who.empty()) {
            EXPECT_NE(reason.find("inferred from counters and errno"), std::string::npos) << reason;
            EXPECT_EQ(tier, "user") << mechanism;
        } else {
            EXPECT_NE(reason.find("decided by " + who), std::string::npos) << reason;
            EXPECT_EQ(tier, functions ? "function" : "tracepoint") << mechanism;
        }
        named += who.empty() ? 0 : 1;
    }
    EXPECT_GE(named, 8);
    EXPECT_EQ(whole_run().document.at("tier"), functions ? "function" : "tracepoint");
}

TEST_F(KernelEvidence, NothingIsLost) {
    for (const auto& trial : whole_run().document.at("trials")) {
        ASSERT_FALSE(trial.at("window").is_null());
        EXPECT_EQ(trial.at("window").at("lost"), 0) << trial.at("mechanism");
        EXPECT_EQ(trial.at("window").at("syscalls_dropped"), 0) << trial.at("mechanism");
        EXPECT_EQ(trial.at("window").at("limit_checks_dropped"), 0) << trial.at("mechanism");
        if (trial.at("last_stop") != "initialised") {
            EXPECT_GE(trial.at("window").at("windows"), 1) << trial.at("mechanism");
        }
    }
}

TEST_F(KernelEvidence, NobodyDecidesWhereThereIsNoLimit) {
    for (const char* mechanism : {"vmsplice", "packet-ring"}) {
        EXPECT_EQ(whole_run().verdict(mechanism), "not_enforced");
        EXPECT_EQ(window(whole_run(), mechanism, "over").at("limit_checks"), json::array()) << mechanism;
    }
}

// These ask for the capability whatever the size, are refused it, and grant what is within the limit.
TEST_F(KernelEvidence, AGrantedRequestIsNoDecision) {
    int asked = 0;
    for (const auto& trial : whole_run().document.at("trials")) {
        if (trial.at("outcome") != "granted")
            continue;
        EXPECT_EQ(deciders(trial.at("window")), "") << trial.at("mechanism") << trial.at("role");
        for (const auto& check : trial.at("window").at("limit_checks"))
            asked += check.at("capability_refused") == true ? 1 : 0;
    }
    EXPECT_GT(asked, 0) << "none was refused the capability: the case is not tried";
}

TEST_F(KernelEvidence, TheSystemCallIsThere) {
    const json over = window(whole_run(), "mlock", "over");
    ASSERT_EQ(over.at("syscalls").size(), 1U) << over;
    EXPECT_EQ(over.at("syscalls")[0].at("name"), "mlock");
    EXPECT_EQ(over.at("syscalls")[0].at("result"), "ENOMEM");
    const json check = find_check(over, "do_mlock");
    EXPECT_EQ(check.at("asks"), "only_over");
    EXPECT_EQ(check.at("capability_refused"), true);
    EXPECT_EQ(check.at("syscall"), "mlock");
}

TEST_F(KernelEvidence, DescriptorsHaveNames) {
    const json ring = window(whole_run(), "perf-ring", "over");
    bool seen = false;
    for (const auto& call : ring.at("syscalls"))
        seen = seen || (call.at("name") == "mmap" && call.at("file") == "[perf_event]");
    EXPECT_TRUE(seen) << ring.at("syscalls");
}

TEST_F(KernelEvidence, BudgetsRiseByWhatWasGranted) {
    const auto size = [](const json& trial) { return trial.at("charged_bytes").get<uint64_t>(); };
    const struct {
        const char* mechanism;
        const char* budget;
    } cases[] = {{"mlock", "locked_vm_bytes"},
                 {"shm-lock", "user_memlock_bytes"},
                 {"io_uring-buffers", "pinned_vm_bytes"}};
    for (const auto& one : cases) {
        for (const char* role : {"limit_lifted", "with_cap"}) {
            const json trial = whole_run().trial(one.mechanism, role);
            // With the capability 7.x counts no pins.
            if (trial.is_null() || trial.at("outcome") != "granted" ||
                (role == std::string("with_cap") && one.budget == std::string("pinned_vm_bytes")))
                continue;
            EXPECT_EQ(rise(trial.at("window"), one.budget), size(trial)) << one.mechanism << " " << role;
        }
    }
    const json under = window(whole_run(), "af_xdp-umem", "under");
    EXPECT_EQ(rise(under, "user_locked_vm_bytes"),
              whole_run().trial("af_xdp-umem", "under").at("size_bytes").get<uint64_t>());
    EXPECT_EQ(whole_run().trial("af_xdp-umem", "under").at("deltas").at("user_locked_bytes"),
              whole_run().trial("af_xdp-umem", "under").at("size_bytes"));
}

// pinscope's own maps and programs count for nobody that is asked about: on 5.10 they are locked memory of a
// user.
TEST_F(KernelEvidence, TheTargetsLimitAndBudgetsAreNotTouched) {
    rlimit before{};
    ::getrlimit(RLIMIT_MEMLOCK, &before);
    for (const auto& trial : whole_run().document.at("trials")) {
        const auto& budgets = trial.at("window").at("budgets").at("before");
        if (budgets.is_null())
            continue;
        EXPECT_EQ(budgets.at("locked_vm_bytes"), 0) << trial.at("mechanism");
        EXPECT_EQ(budgets.at("memlock_soft_bytes"), trial.at("conditions").at("memlock_soft_bytes"));
        EXPECT_EQ(budgets.at("memlock_hard_bytes"), trial.at("conditions").at("memlock_hard_bytes"));
    }
    // Of the first trial: what an earlier one held of a user's budget comes back a moment after its end.
    const json first = whole_run().document.at("trials").at(0).at("window").at("budgets").at("before");
    EXPECT_EQ(first.at("user_locked_vm_bytes"), 0);
    rlimit after{};
    ::getrlimit(RLIMIT_MEMLOCK, &after);
    EXPECT_EQ(before.rlim_cur, after.rlim_cur);
}

TEST_F(KernelEvidence, PagesByClass) {
    const auto pages = [](const json& trial) { return trial.at("size_bytes").get<uint64_t>() / page_size(); };
    const json ring = whole_run().trial("packet-ring", "over");
    const auto uncharged = ring.at("window").at("pages").at("kernel_uncharged").get<uint64_t>();
    EXPECT_GE(uncharged, pages(ring));
    EXPECT_LE(uncharged, pages(ring) * 105 / 100 + 64);
    const json locked = whole_run().granted_contrast("mlock");
    const auto user = locked.at("window").at("pages").at("user").get<uint64_t>();
    EXPECT_GE(user, pages(locked));
    EXPECT_LE(user, pages(locked) * 105 / 100 + 64);
    const json map = whole_run().trial("bpf-map", "over");
    if (map.at("outcome") == "granted") {
        EXPECT_GE(map.at("window").at("pages").at("kernel_charged").get<uint64_t>(), pages(map));
    }
}

TEST_F(KernelEvidence, ThePinsAreCounted) {
    const json trial = whole_run().granted_contrast("io_uring-buffers");
    if (!test::has_function_probes()) {
        EXPECT_TRUE(trial.at("window").at("pinned_pages").is_null()) << "not seen is not none";
        EXPECT_TRUE(trial.at("window").at("charge_refusals").is_null());
        return;
    }
    EXPECT_EQ(trial.at("window").at("pinned_pages").get<uint64_t>() * page_size(),
              trial.at("size_bytes").get<uint64_t>());
    bool named = false;
    for (const auto& calls : trial.at("window").at("pin_calls"))
        named = named || calls.at("function").get<std::string>().rfind("pin_user_pages", 0) == 0;
    EXPECT_TRUE(named) << trial.at("window").at("pin_calls");
    EXPECT_EQ(whole_run().trial("mlock", "over").at("window").at("pinned_pages"), 0);
    EXPECT_EQ(whole_run().trial("packet-ring", "over").at("window").at("pinned_pages"), 0);
}

// A map that the cgroup has no room for: the call fails, and on 7 the trial may be killed besides.
TEST_F(KernelEvidence, AChargeThatIsRefusedIsCounted) {
    if (!test::has_function_probes())
        SKIP_HERE("this kernel has no kprobes");
    const test::LimitedCgroup limited(160_MiB);
    if (!limited.place())
        SKIP_HERE(limited.why_not());
    if (!test::this_kernel().at_least(5, 11))
        SKIP_HERE("this kernel charges no cgroup for BPF maps");
    test::ProgramOptions options;
    options.before_exec = [&] { return limited.enter(); };
    const PinRun run = pin_json({"--mechanism", "bpf-map", "--size", "256MiB", "--memlock", "8MiB"}, options);
    const json over = run.trial("bpf-map", "over");
    ASSERT_FALSE(over.is_null()) << run.document.dump(1);
    EXPECT_TRUE(over.at("outcome") == "failed" || over.at("outcome") == "killed") << over;
    EXPECT_GT(over.at("window").at("charge_refusals").get<uint64_t>(), 0U) << over.at("window");
    EXPECT_EQ(whole_run().trial("bpf-map", "over").at("window").at("charge_refusals"), 0);
}

TEST_F(KernelEvidence, NoProgramStays) {
    const auto none_in_the_end = [] {
        for (int i = 0; i < 200 && test::count_own_programs() > 0; ++i)
            ::usleep(20000);
        return test::count_own_programs();
    };
    ASSERT_EQ(none_in_the_end(), 0);
    for (const int signal : {SIGINT, SIGKILL}) {
        test::RunningProgram pinscope(
            {test::pinscope_program(), "pin", "--mechanism", "vmsplice", "--hold-at", "allocated"});
        ASSERT_TRUE(pinscope.wait_for_error_text("is held at 'allocated'"));
        EXPECT_GT(test::count_own_programs(), 8) << "the check sees nothing while it runs";
        pinscope.send(signal);
        EXPECT_EQ(pinscope.finish().status, 128 + signal);
        EXPECT_EQ(none_in_the_end(), 0) << "after signal " << signal;
    }
}

TEST_F(KernelEvidence, WithoutProbesIsSaid) {
    const PinRun run = test::pin_json_unprobed({"--mechanism", "mlock"});
    EXPECT_EQ(run.document.at("tier"), "user");
    EXPECT_EQ(run.document.at("probes"), json::array());
    EXPECT_TRUE(run.trial("mlock", "over").at("window").is_null());
    bool said = false;
    for (const auto& entry : run.document.at("missing"))
        said = said || entry.at("reason") == "--no-probes";
    EXPECT_TRUE(said);
}

} // namespace
} // namespace pinscope
