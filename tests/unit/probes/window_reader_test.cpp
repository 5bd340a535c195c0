// SPDX-License-Identifier: Apache-2.0
// From the kernel side's record to words, without a kernel.
#include "base/bytes.h"
#include "probes/window_reader.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace pinscope::probes {
namespace {

KernelSymbols symbols_of(std::map<uint64_t, std::string> known) {
    return KernelSymbols([known = std::move(known)](uint64_t address) {
        const auto found = known.find(address);
        return found != known.end() ? std::optional(found->second) : std::nullopt;
    });
}

TEST(AskingFunction, IsTheFirstThatIsNotGeneral) {
    EXPECT_EQ(asking_function({"bpf_trace_run5", "cap_capable", "security_capable", "ns_capable", "do_mlock",
                               "__x64_sys_mlock", "do_syscall_64"}),
              "do_mlock");
    EXPECT_EQ(asking_function({"cap_capable", "security_capable", "capable", "perf_mmap", "mmap_region"}),
              "perf_mmap");
    EXPECT_EQ(asking_function({"bpf_prog_1234_capability_asked", "__bpf_trace_cap_capable",
                               "__traceiter_cap_capable", "cap_capable", "user_shm_lock.isra.0"}),
              "user_shm_lock");
    EXPECT_EQ(asking_function({"security_capable", "ns_capable_noaudit", "__do_sys_mlockall"}), "mlockall");
}

TEST(AskingFunction, MayBeUnknown) {
    EXPECT_EQ(asking_function({}), "");
    EXPECT_EQ(asking_function({"", "", ""}), "");
    EXPECT_EQ(asking_function({"cap_capable", "security_capable"}), "");
}

TEST(WindowReader, EveryPartOfARecord) {
    const auto record = std::make_unique<window_record>();
    record->tag = 3;
    record->entered_ns = 1000;
    record->outer_entered_ns = 500;
    record->left_ns = 1700;
    record->tgid = 11;
    record->tid = 12;
    record->end = ENDED_UNFINISHED;
    record->cause = CAUSE_OOM_KILL;
    record->exit_code = 9;
    record->signals = 2;
    record->before = {1, 2, 3, 4, 8U << 20, 9U << 20, 5};
    record->after = {BUDGET_UNKNOWN, BUDGET_UNKNOWN, 6, BUDGET_UNKNOWN, ~0ULL, ~0ULL, 7};
    record->syscall_slots = 2;
    auto& call = record->syscalls[0];
    call.number = SYS_ioctl;
    call.count = 4;
    call.arguments[1] = 0xc0de;
    call.result = -ENOTTY;
    call.device = (10U << 20) | 196;
    std::strncpy(call.file, "a\nb", sizeof(call.file));
    record->syscalls[1].number = 9999;
    record->syscalls[1].unfinished = 1;
    record->check_slots = 2;
    auto& asked = record->checks[0];
    asked.function = FUNCTION_cap_capable;
    asked.result = -EPERM;
    asked.count = 2;
    asked.syscall = SYS_mlock;
    asked.stack[0] = 0x10;
    asked.stack[1] = 0x20;
    auto& answered = record->checks[1];
    answered.function = FUNCTION_mlock_future_ok;
    answered.result = 0;
    answered.syscall = NO_SYSCALL;
    record->functions[FUNCTION_pin_user_pages_fast] = {1, 256, 0};
    record->functions[FUNCTION_try_charge_memcg] = {5, 64, 2};
    record->functions[FUNCTION_do_mlock] = {1, 0, 1};
    record->pages[PAGES_USER] = 21;
    record->pages[PAGES_KERNEL_CHARGED] = 22;
    record->pages[PAGES_KERNEL_UNCHARGED] = 23;
    record->pages[PAGES_REFUSED] = 24;
    record->syscalls_dropped = 31;
    record->checks_dropped = 32;

    auto symbols = symbols_of({{0x10, "cap_capable"}, {0x20, "do_mlock"}});
    const CallWindow window = read_window(*record, symbols);
    EXPECT_EQ(window.tag, 3U);
    EXPECT_EQ(window.tgid, 11U);
    EXPECT_EQ(window.tid, 12U);
    EXPECT_EQ(window.outer_entered_ns, 500U);
    EXPECT_EQ(window.left_ns - window.entered_ns, 700U);
    EXPECT_EQ(window.end, WindowEnd::unfinished);
    EXPECT_EQ(window.cause, WindowCause::oom_kill);
    EXPECT_EQ(window.exit_code, 9U);
    EXPECT_EQ(window.signals, 2U);

    EXPECT_EQ(window.before.locked_vm, page_size());
    EXPECT_EQ(window.before.user_memlock, 4 * page_size());
    EXPECT_EQ(window.before.memlock_soft, 8_MiB);
    EXPECT_FALSE(window.after.locked_vm.has_value()) << "unknown is not 0";
    EXPECT_EQ(window.after.user_locked_vm, 6 * page_size());
    EXPECT_EQ(window.after.cgroup_usage, 7 * page_size());

    ASSERT_EQ(window.syscalls.size(), 2U);
    EXPECT_EQ(window.syscalls[0].name, "ioctl");
    EXPECT_EQ(window.syscalls[0].count, 4U);
    EXPECT_EQ(window.syscalls[0].device, "10:196");
    EXPECT_EQ(window.syscalls[0].file, "a\\x0ab") << "names are others' choice";
    EXPECT_EQ(window.syscalls[0].result, -ENOTTY);
    EXPECT_EQ(window.syscalls[1].name, "syscall 9999");
    EXPECT_TRUE(window.syscalls[1].unfinished);
    EXPECT_EQ(window.syscalls[1].device, "");

    ASSERT_EQ(window.checks.size(), 2U);
    EXPECT_EQ(window.checks[0].function, "do_mlock");
    EXPECT_EQ(window.checks[0].capability_refused, true);
    EXPECT_EQ(window.checks[0].syscall, "mlock");
    EXPECT_EQ(window.checks[0].tier, Tier::tracepoint);
    EXPECT_EQ(window.checks[1].function, "mlock_future_ok");
    EXPECT_FALSE(window.checks[1].capability_refused.has_value());
    EXPECT_TRUE(window.checks[1].denied);
    EXPECT_EQ(window.checks[1].syscall, "");
    EXPECT_EQ(window.checks[1].tier, Tier::function);

    ASSERT_EQ(window.pins.size(), 1U);
    EXPECT_EQ(window.pins[0].function, "pin_user_pages_fast");
    EXPECT_EQ(window.pins[0].pages, 256U);
    ASSERT_EQ(window.charges.size(), 1U);
    EXPECT_EQ(window.charges[0].failed, 2U);
    EXPECT_EQ(window.pages_user, 21U);
    EXPECT_EQ(window.pages_kernel_charged, 22U);
    EXPECT_EQ(window.pages_kernel_uncharged, 23U);
    EXPECT_EQ(window.pages_refused, 24U);
    EXPECT_EQ(window.syscalls_dropped, 31U);
    EXPECT_EQ(window.checks_dropped, 32U);
}

} // namespace
} // namespace pinscope::probes
