// SPDX-License-Identifier: Apache-2.0
#include "report/window_json.h"

#include "base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace pinscope::report {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

// Addresses and flags are beyond what a JSON number holds exactly.
std::string hexadecimal(uint64_t value) {
    return fmt::format("{:#x}", value);
}

void add_limit(ordered_json& object, const std::string& name, const std::optional<uint64_t>& limit) {
    const bool unlimited = limit == std::numeric_limits<uint64_t>::max();
    object[name + "_bytes"] = limit && !unlimited ? ordered_json(*limit) : ordered_json(nullptr);
    object[name + "_unlimited"] = limit ? ordered_json(unlimited) : ordered_json(nullptr);
}

ordered_json budgets_json(const BudgetsSeen& budgets) {
    ordered_json out = {{"locked_vm_bytes", or_null(budgets.locked_vm)},
                        {"pinned_vm_bytes", or_null(budgets.pinned_vm)},
                        {"user_locked_vm_bytes", or_null(budgets.user_locked_vm)},
                        {"user_memlock_bytes", or_null(budgets.user_memlock)},
                        {"cgroup_usage_bytes", or_null(budgets.cgroup_usage)}};
    add_limit(out, "memlock_soft", budgets.memlock_soft);
    add_limit(out, "memlock_hard", budgets.memlock_hard);
    return out;
}

ordered_json syscall_json(const SyscallsSeen& call) {
    ordered_json out;
    out["name"] = call.name;
    out["count"] = call.count;
    auto& arguments = out["arguments"] = ordered_json::array();
    for (const uint64_t argument : call.arguments)
        arguments.push_back(hexadecimal(argument));
    const bool failed = call.result < 0 && call.result >= -4095;
    out["result"] = call.unfinished ? ordered_json(nullptr)
                    : failed        ? ordered_json(errno_name(static_cast<int>(-call.result)))
                                    : ordered_json(hexadecimal(static_cast<uint64_t>(call.result)));
    out["file"] = text_or_null(call.file);
    out["device"] = text_or_null(call.device);
    return out;
}

ordered_json nvidia_json(const NvidiaCallSeen& call) {
    const auto hex_or_null = [](const auto& value) {
        return value ? ordered_json(hexadecimal(*value)) : ordered_json(nullptr);
    };
    return {{"device", call.device},
            {"command", hexadecimal(call.number)},
            {"name", text_or_null(call.name)},
            {"result", call.result},
            {"client", hex_or_null(call.client)},
            {"object", hex_or_null(call.object)},
            {"class", hex_or_null(call.object_class)},
            {"class_name", text_or_null(call.class_name)},
            {"size_bytes", or_null(call.bytes)},
            {"address", hex_or_null(call.address)},
            {"status", hex_or_null(call.status)},
            {"status_name", text_or_null(call.status_name)},
            {"faults", call.faults}};
}

ordered_json check_json(const LimitCheck& check) {
    return {{"function", text_or_null(check.function)},
            {"asks", asks_name(check.asks)},
            {"capability_refused", or_null(check.capability_refused)},
            {"result", or_null(check.result)},
            {"decides", check.decides},
            {"count", check.count},
            {"syscall", text_or_null(check.syscall)},
            {"tier", tier_name(check.tier)}};
}

ordered_json calls_json(const std::vector<const FunctionCalls*>& all) {
    ordered_json out = ordered_json::array();
    for (const auto* calls : all)
        out.push_back({{"function", calls->function},
                       {"calls", calls->calls},
                       {"pages", calls->pages},
                       {"failed", calls->failed}});
    return out;
}

template <class Member>
std::vector<const FunctionCalls*> gather(const std::vector<CallWindow>& windows, Member member) {
    std::vector<const FunctionCalls*> out;
    for (const auto& window : windows)
        for (const auto& calls : window.*member)
            out.push_back(&calls);
    return out;
}

template <class Member>
uint64_t sum(const std::vector<CallWindow>& windows, Member member) {
    uint64_t total = 0;
    for (const auto& window : windows)
        total += window.*member;
    return total;
}

// Pages are pinned by one of the outer functions; what these call is counted there too.
uint64_t pinned_pages(const std::vector<const FunctionCalls*>& pins) {
    uint64_t outer = 0;
    uint64_t inner = 0;
    for (const auto* calls : pins) {
        if (calls->function.rfind("pin_user_pages", 0) == 0 || calls->function == "memfd_pin_folios")
            outer += calls->pages;
        else if (calls->function == "__gup_longterm_locked")
            inner += calls->pages;
    }
    return std::max(outer, inner);
}

} // namespace

ordered_json probe_json(const Probe& probe) {
    return {{"name", probe.name},
            {"hook", probe.hook},
            {"tier", tier_name(probe.tier)},
            {"state", probe.attached ? "attached" : "unavailable"},
            {"reason", text_or_null(probe.reason)},
            {"instructions", or_null(probe.instructions)},
            {"missed", or_null(probe.missed)}};
}

ordered_json window_json(const Trial& trial, const std::vector<LimitCheck>& checks) {
    if (!trial.windows)
        return nullptr;
    const auto& windows = trial.windows->windows;
    const auto& sight = trial.windows->sight;
    ordered_json out;
    out["windows"] = windows.size();
    auto& syscalls = out["syscalls"] = ordered_json(nullptr);
    if (sight.syscalls) {
        syscalls = ordered_json::array();
        for (const auto& window : windows)
            for (const auto& call : window.syscalls)
                syscalls.push_back(syscall_json(call));
    }
    out["syscalls_dropped"] = sum(windows, &CallWindow::syscalls_dropped);
    auto& nvidia = out["nvidia_ioctls"] = ordered_json(nullptr);
    if (sight.syscalls) {
        nvidia = ordered_json::array();
        for (const auto& window : windows)
            for (const auto& call : window.nvidia)
                nvidia.push_back(nvidia_json(call));
    }
    out["nvidia_ioctls_dropped"] = sum(windows, &CallWindow::nvidia_dropped);
    out["nvidia_functions"] =
        sight.driver ? calls_json(gather(windows, &CallWindow::driver)) : ordered_json(nullptr);
    auto& limit_checks = out["limit_checks"] = ordered_json(nullptr);
    if (sight.capability || sight.functions) {
        limit_checks = ordered_json::array();
        for (const auto& check : checks)
            limit_checks.push_back(check_json(check));
    }
    out["limit_checks_dropped"] = sum(windows, &CallWindow::checks_dropped);
    out["budgets"] = {
        {"before", windows.empty() ? ordered_json(nullptr) : budgets_json(windows.front().before)},
        {"after", windows.empty() ? ordered_json(nullptr) : budgets_json(windows.back().after)}};
    const auto pins = gather(windows, &CallWindow::pins);
    out["pinned_pages"] = sight.pins ? ordered_json(pinned_pages(pins)) : ordered_json(nullptr);
    out["pin_calls"] = sight.pins ? calls_json(pins) : ordered_json(nullptr);
    out["pages"] = nullptr;
    if (sight.pages)
        out["pages"] = {{"user", sum(windows, &CallWindow::pages_user)},
                        {"kernel_charged", sum(windows, &CallWindow::pages_kernel_charged)},
                        {"kernel_uncharged", sum(windows, &CallWindow::pages_kernel_uncharged)},
                        {"refused", sum(windows, &CallWindow::pages_refused)}};
    const auto charges = gather(windows, &CallWindow::charges);
    uint64_t refusals = 0;
    for (const auto* calls : charges)
        refusals += calls->failed;
    out["charge_refusals"] = sight.charges ? ordered_json(refusals) : ordered_json(nullptr);
    uint64_t lost = 0;
    ordered_json lost_by;
    for (const auto& loss : trial.windows->losses) {
        lost_by[loss.reason] = loss.count;
        lost += loss.windows ? loss.count : 0;
    }
    out["lost"] = lost;
    out["lost_by"] = std::move(lost_by);
    out["unfinished"] = std::any_of(windows.begin(), windows.end(), [](const CallWindow& window) {
        return window.end == WindowEnd::unfinished;
    });
    uint64_t nanoseconds = 0;
    for (const auto& window : windows)
        nanoseconds += window.left_ns - window.entered_ns;
    out["duration_ns"] = nanoseconds;
    return out;
}

} // namespace pinscope::report
