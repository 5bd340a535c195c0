// SPDX-License-Identifier: Apache-2.0
// What is left when the kernel takes less: every fallback is forced, and every answer is still right.
#include "base/fd.h"
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "kernel/probe_host.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace pinscope {
namespace {

using nlohmann::json;
using test::pin_json;
using test::PinRun;
using test::ProgramOptions;

json find_probe(const PinRun& run, const std::string& name) {
    for (const auto& probe : run.document.at("probes"))
        if (probe.at("name") == name)
            return probe;
    ADD_FAILURE() << "no probe " << name;
    return {{"state", ""}, {"reason", ""}, {"hook", ""}};
}

json find_hook(const PinRun& run, const std::string& hook) {
    for (const auto& probe : run.document.at("probes"))
        if (probe.at("hook") == hook)
            return probe;
    return {};
}

json mlock_window(const PinRun& run) {
    return run.trial("mlock", "over").at("window");
}

// The kernel is given broken programs in place of those named.
PinRun run_refusing(const std::string& programs, const std::function<bool()>& besides = nullptr) {
    ProgramOptions options;
    options.before_exec = [=] {
        return ::setenv("PINSCOPE_REFUSE_PROGRAMS", programs.c_str(), 1) == 0 && (!besides || besides());
    };
    PinRun run = pin_json({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    return run;
}

std::string best_tier() {
    return test::has_function_probes() ? "function" : "tracepoint";
}

std::string why_not_seen(const PinRun& run) {
    for (const auto& entry : run.document.at("missing"))
        if (entry.at("what") == "the kernel's side")
            return entry.at("reason").get<std::string>();
    return {};
}

void expect_user_tier(const PinRun& run) {
    EXPECT_EQ(run.document.at("tier"), "user");
    EXPECT_TRUE(mlock_window(run).is_null());
    for (const auto& probe : run.document.at("probes")) {
        EXPECT_EQ(probe.at("state"), "unavailable") << probe;
        EXPECT_FALSE(probe.at("reason").is_null()) << probe;
    }
    EXPECT_NE(why_not_seen(run), "");
    EXPECT_EQ(run.reason("mlock").find("decided by"), std::string::npos) << run.reason("mlock");
}

class ProbeFallback : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = test::why_no_windows(); !why.empty())
            SKIP_HERE(why);
    }
};

class OneProgramRefused : public ProbeFallback, public testing::WithParamInterface<const char*> {};

TEST_P(OneProgramRefused, TheRestWorks) {
    const std::string program = GetParam();
    const PinRun run = run_refusing(program);
    const json probe = find_probe(run, program);
    EXPECT_EQ(probe.at("state"), "unavailable");
    EXPECT_NE(probe.at("reason").get<std::string>().find("refused by this kernel"), std::string::npos)
        << probe;
    static const std::vector<std::string> windows = {"call_entered",     "call_returned",  "thread_ended",
                                                     "program_replaced", "process_forked", "process_freed",
                                                     "watch_caller"};
    if (std::find(windows.begin(), windows.end(), program) != windows.end())
        return expect_user_tier(run);
    EXPECT_EQ(run.document.at("tier"), best_tier());
    const json window = mlock_window(run);
    EXPECT_EQ(window.at("windows"), 1);
    if (program == "syscall_entered" || program == "syscall_left") {
        EXPECT_TRUE(window.at("syscalls").is_null());
        EXPECT_EQ(find_probe(run, program == "syscall_left" ? "syscall_entered" : "syscall_left").at("state"),
                  "unavailable");
    } else {
        EXPECT_EQ(window.at("syscalls").size(), 1U);
    }
    EXPECT_EQ(window.at("pages").is_null(), program == "pages_allocated");
    if (test::has_capability_tracepoint() || test::has_function_probes()) {
        EXPECT_NE(run.reason("mlock").find("decided by do_mlock"), std::string::npos) << run.reason("mlock");
    }
}

INSTANTIATE_TEST_SUITE_P(Each, OneProgramRefused,
                         testing::Values("call_entered", "call_returned", "thread_ended", "program_replaced",
                                         "process_forked", "process_freed", "watch_caller",
                                         "signal_delivered", "syscall_entered", "syscall_left",
                                         "pages_allocated"),
                         [](const auto& test_info) { return std::string(test_info.param); });

TEST_F(ProbeFallback, TheCapabilityTracepoint) {
    if (!test::has_capability_tracepoint())
        SKIP_HERE("this kernel has no tracepoint cap_capable");
    const PinRun run = run_refusing("capability_asked");
    EXPECT_EQ(find_probe(run, "capability_asked").at("state"), "unavailable");
    if (test::has_function_probes()) {
        EXPECT_NE(run.reason("mlock").find("decided by do_mlock"), std::string::npos);
        return;
    }
    EXPECT_TRUE(mlock_window(run).at("limit_checks").is_null()) << "not seen is not none";
    EXPECT_NE(run.reason("mlock").find("inferred from counters and errno"), std::string::npos);
}

TEST_F(ProbeFallback, AFunctionBySecondBestAndNotAtAll) {
    if (!test::has_function_probes())
        SKIP_HERE("this kernel has no kprobes");
    const PinRun second = run_refusing("fexit_do_mlock");
    const json probe = find_hook(second, "kprobe do_mlock");
    EXPECT_EQ(probe.at("state"), "attached");
    EXPECT_EQ(probe.at("reason").get<std::string>().rfind("fexit: ", 0), 0U) << probe;
    EXPECT_NE(second.reason("mlock").find("decided by do_mlock"), std::string::npos);
    EXPECT_EQ(mlock_window(second).at("limit_checks")[0].at("result"), -12);
    const PinRun neither = run_refusing("fexit_do_mlock,kprobe_do_mlock");
    EXPECT_EQ(find_hook(neither, "kprobe do_mlock").at("state"), "unavailable");
    EXPECT_EQ(neither.document.at("tier"), "function") << "of the other functions";
}

TEST_F(ProbeFallback, EachTypeOfProgram) {
    for (const char* type : {"type:tp_btf", "type:uprobe"})
        expect_user_tier(run_refusing(type));
    const PinRun no_runs = run_refusing("type:raw_tp");
    expect_user_tier(no_runs); // pinscope cannot say which process it is
    const PinRun no_fexit = run_refusing("type:fexit");
    EXPECT_EQ(no_fexit.document.at("tier"), best_tier());
    EXPECT_NE(no_fexit.reason("mlock").find("decided by do_mlock"), std::string::npos);
    if (test::has_function_probes()) {
        EXPECT_EQ(find_hook(no_fexit, "kprobe do_mlock").at("state"), "attached");
        EXPECT_EQ(find_hook(no_fexit, "kprobe pin_user_pages").at("state"), "attached");
        EXPECT_EQ(mlock_window(no_fexit).at("limit_checks")[0].at("result"), -12);
    }
    const PinRun no_functions = run_refusing("type:fexit,type:kprobe");
    EXPECT_EQ(no_functions.document.at("tier"), "tracepoint");
    EXPECT_EQ(mlock_window(no_functions).at("limit_checks").is_null(), !test::has_capability_tracepoint());
    EXPECT_TRUE(mlock_window(no_functions).at("pinned_pages").is_null());
}

TEST_F(ProbeFallback, AllPrograms) {
    expect_user_tier(run_refusing("all"));
}

// As a container's seccomp filter does it.
bool forbid(long syscall_number) {
    std::array<sock_filter, 4> program = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(syscall_number), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{program.size(), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

TEST_F(ProbeFallback, CallsThatAreForbidden) {
    for (const long number : {SYS_bpf, SYS_perf_event_open}) {
        ProgramOptions options;
        options.before_exec = [=] { return forbid(number); };
        const PinRun run = pin_json({"--mechanism", "mlock"}, options);
        EXPECT_EQ(run.verdict("mlock"), "enforced");
        expect_user_tier(run);
        EXPECT_NE(why_not_seen(run).find("EPERM"), std::string::npos) << why_not_seen(run);
    }
}

TEST(ProbeFallbackAnywhere, NotPrivileged) {
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(8U << 20, 8U << 20) && (!test::is_root() || test::become_nobody());
    };
    const PinRun run = pin_json({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    expect_user_tier(run);
    EXPECT_NE(why_not_seen(run).find("CAP_BPF"), std::string::npos) << why_not_seen(run);
}

TEST(ProbeFallbackAnywhere, LockedDownForConfidentiality) {
    const auto lockdown = read_file("/sys/kernel/security/lockdown");
    if (!lockdown || lockdown->find("[confidentiality]") == std::string::npos)
        SKIP_HERE("this kernel is not locked down so far (lockdown=confidentiality at boot)");
    const PinRun run = pin_json({"--mechanism", "mlock"});
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    expect_user_tier(run);
    EXPECT_NE(why_not_seen(run).find("locked down (confidentiality)"), std::string::npos)
        << why_not_seen(run);
}

bool in_mounts_of_its_own() {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST_F(ProbeFallback, NoKernelTypes) {
    ProgramOptions options;
    options.before_exec = [] {
        return in_mounts_of_its_own() && ::mount("none", "/sys/kernel/btf", "tmpfs", 0, nullptr) == 0;
    };
    const PinRun run = pin_json({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.verdict("mlock"), "enforced");
    expect_user_tier(run);
    EXPECT_NE(why_not_seen(run).find("BTF"), std::string::npos) << why_not_seen(run);
}

TEST_F(ProbeFallback, NoTracefs) {
    ProgramOptions options;
    options.before_exec = [] {
        return in_mounts_of_its_own() && ::mount("none", "/sys/kernel/tracing", "tmpfs", 0, nullptr) == 0 &&
               (::access("/sys/kernel/debug/tracing", F_OK) != 0 ||
                ::mount("none", "/sys/kernel/debug", "tmpfs", 0, nullptr) == 0);
    };
    const PinRun run = pin_json({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.document.at("tier"), best_tier());
    if (test::has_function_probes() || test::has_capability_tracepoint()) {
        EXPECT_NE(run.reason("mlock").find("decided by do_mlock"), std::string::npos) << run.reason("mlock");
    }
}

// /proc/kallsyms as kernel.kptr_restrict=2 has it: every address is 0.
bool hide_symbols() {
    static constexpr const char* hidden = "/dev/shm/pinscope-hidden-symbols";
    const Fd file(::open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    static constexpr std::string_view text = "0000000000000000 T do_mlock\n";
    return ::write(file.get(), text.data(), text.size()) > 0 && in_mounts_of_its_own() &&
           ::mount(hidden, "/proc/kallsyms", nullptr, MS_BIND, nullptr) == 0 && ::unlink(hidden) == 0;
}

std::string who_decided(const PinRun& run) {
    const json window = mlock_window(run);
    for (const auto& check : window.at("limit_checks"))
        if (check.at("decides") == true)
            return check.at("function").is_null() ? "nameless" : check.at("function").get<std::string>();
    return "nobody";
}

TEST_F(ProbeFallback, SymbolsByTheKernelOrByKallsymsOrNotAtAll) {
    // With fexit the function's name is not a matter of symbols.
    const std::string no_functions = "type:fexit,type:kprobe";
    if (!test::has_capability_tracepoint())
        SKIP_HERE("without tracepoint cap_capable no symbol is needed");
    EXPECT_EQ(who_decided(run_refusing(no_functions, &hide_symbols)), "do_mlock") << "the kernel names it";
    EXPECT_EQ(who_decided(run_refusing(no_functions + ",name_symbol")), "do_mlock") << "by /proc/kallsyms";
    const PinRun neither = run_refusing(no_functions + ",name_symbol", &hide_symbols);
    EXPECT_EQ(who_decided(neither), "nameless") << "refused the capability, in the very call that failed so";
    EXPECT_NE(neither.reason("mlock").find("decided by a function whose name is not known"),
              std::string::npos)
        << neither.reason("mlock");
}

} // namespace
} // namespace pinscope
