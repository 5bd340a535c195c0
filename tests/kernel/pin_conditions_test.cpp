// SPDX-License-Identifier: Apache-2.0
// Conditions that fool the naive test.
#include "base/bytes.h"
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "support/fake_tree.h"
#include "support/skip.h"

#include <cap-ng.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <liburing.h>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace pinscope {
namespace {

using test::pin_json_unprobed;
using test::PinRun;
using test::ProgramOptions;

#define NEEDS_ROOT()                                                                                         \
    do {                                                                                                     \
        if (!test::is_root())                                                                                \
            SKIP_HERE("it takes root to set these conditions");                                              \
    } while (false)

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

TEST(PinConditions, CapabilityHeldLiftsTheLimit) {
    NEEDS_ROOT();
    const PinRun run = pin_json_unprobed({"--with-cap", "--mechanism", "mlock,io_uring-buffers,vmsplice"});
    EXPECT_EQ(run.status, 77);
    for (const char* mechanism : {"mlock", "io_uring-buffers", "vmsplice"}) {
        EXPECT_EQ(run.verdict(mechanism), "inconclusive");
        expect_contains(run.reason(mechanism), "CAP_IPC_LOCK, which lifts the limit");
    }
    EXPECT_EQ(run.trial("vmsplice", "over").at("conditions").at("cap_ipc_lock"), true);
}

// A file that permits CAP_IPC_LOCK and does not make it effective, run by an ordinary user.
TEST(PinConditions, CapabilityPermittedButNotEffective) {
    NEEDS_ROOT();
    const test::TemporaryFolder folder;
    ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
    const std::string copy = folder.path() + "/pinscope";
    std::filesystem::copy_file(test::pinscope_program(), copy);
    vfs_cap_data permits{};
    permits.magic_etc = VFS_CAP_REVISION_2;
    permits.data[0].permitted = 1U << CAP_IPC_LOCK;
    if (::setxattr(copy.c_str(), "security.capability", &permits, XATTR_CAPS_SZ_2, 0) != 0)
        SKIP_HERE("the file system of the temporary folder holds no capabilities");
    ProgramOptions options;
    options.program = copy;
    options.before_exec = [] { return test::set_memlock(8_MiB, 8_MiB) && test::become_nobody(); };
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock,vmsplice"}, options);
    EXPECT_EQ(run.document.at("host").at("cap_ipc_lock"), false);
    EXPECT_EQ(run.document.at("host").at("cap_ipc_lock_permitted"), true);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    // It can be made effective, and then it counts.
    EXPECT_EQ(run.control("over_with_cap"), "holds") << run.control_reason("over_with_cap");
}

TEST(PinConditions, RootInAChildUserNamespace) {
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(8_MiB, 8_MiB) && test::enter_child_user_namespace();
    };
    if (test::run_program({test::this_program(), "exit", "0"}, options).status == test::gave_up)
        SKIP_HERE("user namespaces cannot be made here");
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock,vmsplice"}, options);
    EXPECT_EQ(run.document.at("host").at("user_namespace"), "child");
    EXPECT_EQ(run.document.at("host").at("cap_ipc_lock"), true);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    expect_contains(run.reason("mlock"), "refused under");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_EQ(run.control("over_with_cap"), "unavailable");
    expect_contains(run.control_reason("over_with_cap"), "does not count");
    // Asked for with the capability that does not count, the limit stops mlock all the same.
    const PinRun with_cap = pin_json_unprobed({"--with-cap", "--mechanism", "mlock,vmsplice"}, options);
    EXPECT_EQ(with_cap.verdict("mlock"), "enforced") << with_cap.reason("mlock");
    EXPECT_EQ(with_cap.verdict("vmsplice"), "not_enforced") << with_cap.reason("vmsplice");
}

TEST(PinConditions, LimitOfNothing) {
    NEEDS_ROOT();
    const PinRun run = pin_json_unprobed(
        {"--memlock", "0", "--mechanism", "mlock,mmap-locked,shm-lock,io_uring-buffers,vmsplice"});
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    // With a limit of 0 the kernel answers otherwise (mm/mlock.c can_do_mlock).
    EXPECT_EQ(run.trial("mlock", "over").at("error").at("name"), "EPERM");
    EXPECT_EQ(run.verdict("mmap-locked"), "enforced") << run.reason("mmap-locked");
    EXPECT_EQ(run.verdict("shm-lock"), "enforced") << run.reason("shm-lock");
    EXPECT_EQ(run.verdict("io_uring-buffers"), "enforced") << run.reason("io_uring-buffers");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
}

TEST(PinConditions, LimitBelowAPage) {
    NEEDS_ROOT();
    const PinRun run = pin_json_unprobed({"--memlock", "2KiB", "--mechanism", "mlock,vmsplice"});
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.trial("mlock", "over").at("error").at("name"), "ENOMEM");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
}

TEST(PinConditions, HardLimitOfNothing) {
    NEEDS_ROOT();
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(0, 0) && test::drop_capabilities({CAP_SYS_RESOURCE, CAP_IPC_LOCK});
    };
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock,vmsplice"}, options);
    // There is no way to be granted anything, so nothing can be compared.
    EXPECT_EQ(run.verdict("mlock"), "inconclusive");
    EXPECT_EQ(run.verdict("vmsplice"), "inconclusive");
    expect_contains(run.reason("vmsplice"), "under");
    EXPECT_EQ(run.status, 77);
}

TEST(PinConditions, SoftLimitBelowTheHardOne) {
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(1_MiB, 8_MiB) &&
               (!test::is_root() || test::drop_capabilities({CAP_SYS_RESOURCE, CAP_IPC_LOCK}));
    };
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    expect_contains(run.reason("mlock"), "granted with the limit at 8 MiB");
}

TEST(PinConditions, SizeUnderTheLimit) {
    const PinRun run =
        pin_json_unprobed({"--mechanism", "mlock,vmsplice", "--size", "1MiB", "--memlock", "4MiB"});
    EXPECT_EQ(run.status, 77);
    for (const char* mechanism : {"mlock", "vmsplice"}) {
        EXPECT_EQ(run.verdict(mechanism), "inconclusive");
        expect_contains(run.reason(mechanism), "is within the limit of 4 MiB");
    }
}

TEST(PinConditions, UnlimitedWhereTheHardLimitForbidsIt) {
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(8_MiB, 8_MiB) &&
               (!test::is_root() || test::drop_capabilities({CAP_SYS_RESOURCE, CAP_IPC_LOCK}));
    };
    const auto run = test::run_pinscope({"pin", "--no-probes", "--memlock", "unlimited"}, options);
    EXPECT_EQ(run.status, 77);
    expect_contains(run.err, "CAP_SYS_RESOURCE");
    EXPECT_EQ(run.out, "");
}

TEST(PinConditions, Unlimited) {
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    ::capng_get_caps_process();
    if (limit.rlim_max != RLIM_INFINITY && ::capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_RESOURCE) == 0)
        SKIP_HERE("the hard limit cannot be lifted without CAP_SYS_RESOURCE");
    const PinRun run = pin_json_unprobed({"--memlock", "unlimited", "--mechanism", "mlock,vmsplice"});
    EXPECT_EQ(run.status, 77);
    for (const char* mechanism : {"mlock", "vmsplice"})
        expect_contains(run.reason(mechanism), "the limit is unlimited");
}

// The case that the project began with: root in a plain container.
TEST(PinConditions, RootWithoutTheTwoCapabilities) {
    NEEDS_ROOT();
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(8_MiB, 8_MiB) && test::drop_capabilities({CAP_SYS_RESOURCE, CAP_IPC_LOCK});
    };
    const PinRun run = pin_json_unprobed({}, options);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    expect_contains(run.reason("mlock"), "4 MiB refused under 2 MiB and granted under 8 MiB");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_EQ(run.control("over_without_cap"), "holds");
    EXPECT_EQ(run.control("over_with_cap"), "unavailable");
    EXPECT_EQ(run.control("under"), "holds");
    for (const char* mechanism :
         {"mlock2-onfault", "mmap-locked", "shm-lock", "io_uring-buffers", "af_xdp-umem", "perf-ring"})
        EXPECT_EQ(run.verdict(mechanism), "enforced") << mechanism << ": " << run.reason(mechanism);
}

// Root without CAP_SETPCAP: what an exec as uid 0 would give back has to be kept away in another way.
TEST(PinConditions, WithoutCapWhereTheBoundingSetCannotBeChanged) {
    NEEDS_ROOT();
    ProgramOptions options;
    options.before_exec = [] { return test::drop_capabilities({CAP_SETPCAP}); };
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.trial("mlock", "over").at("conditions").at("cap_ipc_lock"), false);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
}

// A process of the same uid, without the capability, that holds 6 MiB of the shared budget.
class BudgetHolder {
  public:
    BudgetHolder() {
        std::array<int, 2> ready{};
        if (::pipe(ready.data()) != 0)
            return;
        pid_ = ::fork();
        if (pid_ == 0) {
            const bool held = hold();
            (void)!::write(ready[1], held ? "y" : "n", 1);
            for (;;)
                ::pause();
        }
        char answer = 'n';
        (void)!::read(ready[0], &answer, 1);
        ::close(ready[0]);
        ::close(ready[1]);
        holds_ = answer == 'y';
    }
    ~BudgetHolder() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    BudgetHolder(const BudgetHolder&) = delete;
    BudgetHolder& operator=(const BudgetHolder&) = delete;

    bool holds() const { return holds_; }

  private:
    static bool hold() {
        if (!test::drop_capabilities({CAP_IPC_LOCK}) || !test::set_memlock(8_MiB, 8_MiB))
            return false;
        static io_uring ring;
        if (::io_uring_queue_init(1, &ring, 0) != 0)
            return false;
        void* memory = ::mmap(nullptr, 6_MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const iovec buffer{memory, 6_MiB};
        return memory != MAP_FAILED && ::io_uring_register_buffers(&ring, &buffer, 1) == 0;
    }

    pid_t pid_ = -1;
    bool holds_ = false;
};

TEST(PinConditions, AnotherProcessHoldsTheSharedBudget) {
    NEEDS_ROOT();
    const BudgetHolder holder;
    if (!holder.holds())
        SKIP_HERE("io_uring is not available here to hold the budget with");
    ProgramOptions options;
    options.before_exec = [] { return test::set_memlock(8_MiB, 8_MiB); };
    const PinRun run = pin_json_unprobed({"--mechanism", "io_uring-buffers,af_xdp-umem,mlock"}, options);
    for (const char* mechanism : {"io_uring-buffers", "af_xdp-umem"}) {
        EXPECT_EQ(run.verdict(mechanism), "enforced") << run.reason(mechanism);
        expect_contains(run.reason(mechanism), "other processes of this uid hold about");
        EXPECT_EQ(run.control("under", mechanism), "fails");
    }
    EXPECT_EQ(run.control("under"), "holds") << "mlock has a budget of its own";
    ASSERT_EQ(run.document.at("shared_budgets").size(), 2U);
    for (const auto& budget : run.document.at("shared_budgets")) {
        // The holder's ring counts too.
        EXPECT_GE(budget.at("held_bytes"), 6_MiB);
        EXPECT_LE(budget.at("held_bytes"), 6_MiB + 128_KiB);
    }
}

TEST(PinConditions, CgroupLimitBelowTheSize) {
    NEEDS_ROOT();
    const test::LimitedCgroup cgroup(40_MiB);
    if (!cgroup.place())
        SKIP_HERE(cgroup.why_not());
    ProgramOptions options;
    options.before_exec = [&] { return cgroup.enter() && test::set_memlock(8_MiB, 8_MiB); };
    const PinRun run =
        pin_json_unprobed({"--mechanism", "vmsplice,mlock,packet-ring", "--size", "60MiB"}, options);
    EXPECT_EQ(run.verdict("vmsplice"), "blocked_elsewhere") << run.reason("vmsplice");
    expect_contains(run.reason("vmsplice"), "the memory cgroup's limit of 40 MiB (OOM kill)");
    EXPECT_EQ(run.trial("vmsplice", "over").at("outcome"), "killed");
    // Refused at the limit; with the capability the cgroup kills it; between two soft limits it shows.
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_TRUE(run.granted_contrast("mlock").is_null());
    EXPECT_EQ(run.trial("mlock", "soft_high").at("outcome"), "granted");
    // Nobody is charged for a packet ring.
    EXPECT_EQ(run.verdict("packet-ring"), "not_enforced") << run.reason("packet-ring");
}

TEST(PinConditions, DefaultSizesFitASmallCgroup) {
    NEEDS_ROOT();
    const test::LimitedCgroup cgroup(24_MiB);
    if (!cgroup.place())
        SKIP_HERE(cgroup.why_not());
    ProgramOptions options;
    options.before_exec = [&] { return cgroup.enter(); };
    const PinRun run = pin_json_unprobed({}, options);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    for (const auto& trial : run.document.at("trials"))
        EXPECT_NE(trial.at("outcome"), "killed") << trial;
}

TEST(PinConditions, LikeAnotherProcess) {
    NEEDS_ROOT();
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(2_MiB, 4_MiB) && test::drop_capabilities({CAP_IPC_LOCK, CAP_NET_RAW});
    };
    test::RunningProgram container({test::this_program(), "sleep"}, options);
    ASSERT_TRUE(container.wait_for_error_text("sleeping"));
    const PinRun run = pin_json_unprobed(
        {"--like", std::to_string(container.pid()), "--mechanism", "mlock,vmsplice,packet-ring"});
    EXPECT_EQ(run.document.at("host").at("memlock").at("soft_bytes"), 2_MiB);
    EXPECT_EQ(run.document.at("host").at("memlock").at("hard_bytes"), 4_MiB);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    // Without CAP_NET_RAW, which that process has not either.
    EXPECT_EQ(run.verdict("packet-ring"), "unsupported") << run.reason("packet-ring");
}

TEST(PinConditions, LikeAProcessInAnotherUserNamespace) {
    NEEDS_ROOT();
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(2_MiB, 4_MiB) && test::enter_child_user_namespace();
    };
    test::RunningProgram container({test::this_program(), "sleep"}, options);
    if (!container.wait_for_error_text("sleeping"))
        SKIP_HERE("user namespaces cannot be made here");
    const PinRun run =
        pin_json_unprobed({"--like", std::to_string(container.pid()), "--mechanism", "mlock,vmsplice"});
    EXPECT_EQ(run.document.at("host").at("user_namespace"), "child");
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
}

TEST(PinConditions, LikeOnesOwnProcessWithoutPrivilege) {
    ProgramOptions options;
    options.before_exec = [] {
        return test::set_memlock(2_MiB, 4_MiB) && (!test::is_root() || test::become_nobody());
    };
    test::RunningProgram container({test::this_program(), "sleep"}, options);
    ASSERT_TRUE(container.wait_for_error_text("sleeping"));
    const PinRun run =
        pin_json_unprobed({"--like", std::to_string(container.pid()), "--mechanism", "mlock"}, options);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
}

TEST(PinConditions, MemoryThatCannotBeMappedIsNotTheLimit) {
    ProgramOptions options;
    options.before_exec = [] {
        const rlimit address_space{12_MiB, 12_MiB};
        return test::set_memlock(8_MiB, 8_MiB) && ::setrlimit(RLIMIT_AS, &address_space) == 0;
    };
    const PinRun run = pin_json_unprobed({"--mechanism", "mlock"}, options);
    EXPECT_EQ(run.verdict("mlock"), "inconclusive") << run.reason("mlock");
    expect_contains(run.reason("mlock"), "preparing it failed");
    EXPECT_EQ(run.control("over_without_cap"), "unavailable");
}

TEST(PinConditions, LikeAProcessWithTheCapability) {
    NEEDS_ROOT();
    ProgramOptions options;
    options.before_exec = [] { return test::set_memlock(2_MiB, 4_MiB); };
    test::RunningProgram container({test::this_program(), "sleep"}, options);
    ASSERT_TRUE(container.wait_for_error_text("sleeping"));
    const PinRun run = pin_json_unprobed({"--like", std::to_string(container.pid()), "--mechanism", "mlock"});
    EXPECT_EQ(run.verdict("mlock"), "inconclusive");
    expect_contains(run.reason("mlock"), "lifts the limit");
}

} // namespace
} // namespace pinscope
