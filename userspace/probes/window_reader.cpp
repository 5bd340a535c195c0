// SPDX-License-Identifier: Apache-2.0
#include "probes/window_reader.h"

#include "base/bytes.h"
#include "base/text.h"
#include "probes/catalog.h"
#include "probes/nvidia_ioctl.h"
#include "probes/syscall_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace pinscope::probes {
namespace {

std::optional<uint64_t> pages(uint64_t value) {
    return value == BUDGET_UNKNOWN ? std::nullopt : std::optional(value * page_size());
}

BudgetsSeen read_budgets(const window_budgets& budgets) {
    BudgetsSeen out;
    out.locked_vm = pages(budgets.locked_vm_pages);
    out.pinned_vm = pages(budgets.pinned_vm_pages);
    out.user_locked_vm = pages(budgets.user_locked_vm_pages);
    out.user_memlock = pages(budgets.user_memlock_pages);
    out.memlock_soft = budgets.memlock_soft;
    out.memlock_hard = budgets.memlock_hard;
    out.cgroup_usage = pages(budgets.cgroup_usage_pages);
    return out;
}

// The kernel's own dev_t: 12 bits of major, 20 of minor (include/linux/kdev_t.h).
std::string device_words(uint32_t device) {
    return device == 0 ? "" : fmt::format("{}:{}", device >> 20, device & 0xfffff);
}

SyscallsSeen read_syscall(const window_syscall& call) {
    SyscallsSeen out;
    out.number = call.number;
    out.name = syscall_name(call.number);
    out.count = call.count;
    std::copy(std::begin(call.arguments), std::end(call.arguments), out.arguments.begin());
    out.result = call.result;
    const std::string_view name(std::begin(call.file), sizeof(call.file));
    out.file = printable(name.substr(0, name.find('\0')));
    out.device = device_words(call.device);
    out.unfinished = call.unfinished != 0;
    return out;
}

bool said_no(function_result kind, int64_t result) {
    return kind == RESULT_ALLOWS || kind == RESULT_BOOL ? result == 0 : result < 0;
}

std::string cut_suffix(const std::string& function) {
    return function.substr(0, function.find('.'));
}

LimitCheckSeen read_check(const window_check& check, KernelSymbols& symbols) {
    LimitCheckSeen out;
    out.count = check.count;
    out.result = check.result;
    std::copy(std::begin(check.arguments), std::end(check.arguments), out.arguments.begin());
    out.syscall = check.syscall == NO_SYSCALL ? "" : syscall_name(check.syscall);
    for (const uint64_t address : check.stack)
        if (address != 0)
            out.stack.push_back(symbols.name(address));
    if (check.function == FUNCTION_cap_capable || check.function == FUNCTION_security_capable) {
        out.tier = check.function == FUNCTION_cap_capable ? Tier::tracepoint : Tier::function;
        out.function = asking_function(out.stack);
        out.denied = check.result < 0;
        out.capability_refused = out.denied;
        return out;
    }
    const auto& facts = watched_functions()[check.function];
    out.tier = Tier::function;
    out.function = std::string(facts.name);
    out.denied = said_no(facts.result, check.result);
    return out;
}

} // namespace

std::string asking_function(const std::vector<std::string>& stack) {
    // include/linux/capability.h and kernel/capability.c, and the tracer's own frames.
    static constexpr std::string_view general[] = {"cap_capable",
                                                   "security_capable",
                                                   "capable",
                                                   "ns_capable",
                                                   "ns_capable_noaudit",
                                                   "ns_capable_setid",
                                                   "ns_capable_common",
                                                   "file_ns_capable",
                                                   "has_capability",
                                                   "has_ns_capability",
                                                   "has_capability_noaudit",
                                                   "has_ns_capability_noaudit",
                                                   "capable_wrt_inode_uidgid",
                                                   "perfmon_capable",
                                                   "cap_capable_helper",
                                                   "kretprobe_trampoline",
                                                   "arch_rethook_trampoline",
                                                   "__kretprobe_trampoline"};
    static constexpr std::string_view tracers[] = {"bpf_",    "__bpf_",  "__traceiter_", "__probestub_",
                                                   "trace_",  "kprobe_", "ftrace_",      "perf_",
                                                   "__perf_", "rethook_"};
    for (const auto& frame : stack) {
        std::string name = cut_suffix(frame);
        const bool is_tracer =
            std::any_of(std::begin(tracers), std::end(tracers),
                        [&](std::string_view prefix) { return name.rfind(prefix, 0) == 0; });
        // The area mapping of perf rings is itself called perf_….
        if (name.empty() || (is_tracer && name.rfind("perf_mmap", 0) != 0) ||
            std::find(std::begin(general), std::end(general), name) != std::end(general))
            continue;
        for (const std::string_view prefix : {"__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_"})
            if (name.rfind(prefix, 0) == 0)
                return name.substr(prefix.size());
        return name;
    }
    return {};
}

CallWindow read_window(const window_record& record, KernelSymbols& symbols) {
    CallWindow out;
    out.tag = record.tag;
    out.tgid = record.tgid;
    out.tid = record.tid;
    out.entered_ns = record.entered_ns;
    out.outer_entered_ns = record.outer_entered_ns;
    out.left_ns = record.left_ns;
    out.end = static_cast<WindowEnd>(record.end);
    out.cause = static_cast<WindowCause>(record.cause);
    out.exit_code = record.exit_code;
    out.signals = record.signals;
    out.before = read_budgets(record.before);
    out.after = read_budgets(record.after);
    for (const auto& call : std::span(record.syscalls).first(record.syscall_slots))
        out.syscalls.push_back(read_syscall(call));
    for (const auto& check : std::span(record.checks).first(record.check_slots))
        out.checks.push_back(read_check(check, symbols));
    for (const auto& facts : watched_functions()) {
        const auto& calls = record.functions[facts.number];
        if (calls.calls == 0 || facts.is_check())
            continue;
        if (facts.is_charge() && calls.failed == 0)
            continue;
        FunctionCalls seen{std::string(facts.name), calls.calls, calls.pages, calls.failed};
        if (facts.number == FUNCTION_uvm_cpu_chunk_alloc) // which counts in bytes
            seen.pages /= page_size();
        auto& list = facts.is_charge() ? out.charges : facts.is_driver() ? out.driver : out.pins;
        list.push_back(std::move(seen));
    }
    for (const auto& call : std::span(record.ioctls).first(record.ioctl_slots))
        out.nvidia.push_back(read_nvidia_ioctl(call));
    out.nvidia_dropped = record.ioctls_dropped;
    out.pages_user = record.pages[PAGES_USER];
    out.pages_kernel_charged = record.pages[PAGES_KERNEL_CHARGED];
    out.pages_kernel_uncharged = record.pages[PAGES_KERNEL_UNCHARGED];
    out.pages_refused = record.pages[PAGES_REFUSED];
    out.syscalls_dropped = record.syscalls_dropped;
    out.checks_dropped = record.checks_dropped;
    return out;
}

} // namespace pinscope::probes
