// SPDX-License-Identifier: Apache-2.0
#include "report/pin_json.h"

#include "base/clock.h"
#include "report/window_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

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

// NAME_bytes and NAME_unlimited: null and true where there is no limit.
void add_limit(ordered_json& object, const std::string& name, const std::optional<Limit>& limit) {
    const bool finite = limit && !limit->unlimited;
    object[name + "_bytes"] = finite ? ordered_json(limit->bytes) : ordered_json(nullptr);
    object[name + "_unlimited"] = limit ? ordered_json(limit->unlimited) : ordered_json(nullptr);
}

ordered_json candidates_json(const std::vector<CudaCandidate>& candidates) {
    auto out = ordered_json::array();
    for (const auto& one : candidates)
        out.push_back({{"path", one.path},
                       {"found_by", one.found_by},
                       {"version", text_or_null(one.version)},
                       {"taken", one.taken},
                       {"reason", text_or_null(one.reason)}});
    return out;
}

ordered_json host_json(const HostFacts& host) {
    ordered_json out;
    out["kernel"] = host.kernel;
    auto& cgroup = out["cgroup"];
    cgroup["version"] = or_null(host.cgroup.version);
    cgroup["path"] = host.cgroup.version ? ordered_json(host.cgroup.path) : ordered_json(nullptr);
    add_limit(cgroup, "limit", host.cgroup.limit);
    cgroup["usage_bytes"] = or_null(host.cgroup.usage_bytes);
    cgroup["oom_group"] = text_or_null(host.cgroup.oom_group_folder);
    auto& memlock = out["memlock"];
    add_limit(memlock, "soft", host.memlock_soft);
    add_limit(memlock, "hard", host.memlock_hard);
    out["cap_ipc_lock"] = host.cap_ipc_lock.effective;
    out["cap_ipc_lock_permitted"] = host.cap_ipc_lock.permitted;
    out["cap_ipc_lock_bounding"] = host.cap_ipc_lock.bounding;
    out["cap_sys_resource"] = host.cap_sys_resource.effective;
    out["user_namespace"] = host.in_initial_user_namespace
                                ? ordered_json(*host.in_initial_user_namespace ? "initial" : "child")
                                : ordered_json(nullptr);
    out["container"] = or_null(host.container);
    out["virtualisation"] = or_null(host.virtualisation);
    out["uid"] = host.uid;
    out["memory_total_bytes"] = or_null(host.memory_total_bytes);
    out["memory_available_bytes"] = or_null(host.memory_available_bytes);
    out["overcommit_memory"] = or_null(host.overcommit_memory);
    out["perf_event_paranoid"] = or_null(host.perf_event_paranoid);
    out["perf_free_bytes"] = or_null(host.perf_free_bytes);
    out["nvidia_driver"] = or_null(host.nvidia.driver_version);
    out["cuda_library"] = {
        {"usable", host.cuda.answered ? ordered_json(host.cuda.usable) : ordered_json(nullptr)},
        {"detail", text_or_null(host.cuda.detail)},
        {"driver", candidates_json(host.cuda.libraries.driver)},
        {"runtime", candidates_json(host.cuda.libraries.runtime)},
        {"ld_library_path", text_or_null(host.cuda.libraries.ld_library_path)}};
    return out;
}

ordered_json error_json(const TrialError& error) {
    if (error.domain == ErrorDomain::none)
        return nullptr;
    return {{"domain", domain_name(error.domain)}, {"code", error.code}, {"name", error_name(error)}};
}

ordered_json error_json(const std::optional<TrialError>& error) {
    return error ? error_json(*error) : ordered_json(nullptr);
}

ordered_json snapshot_json(StopPoint point, const Snapshot& snapshot) {
    const auto& process = snapshot.process;
    const auto& cgroup = snapshot.cgroup;
    return {{"at", stop_point_name(point)},
            {"vm_size_bytes", or_null(process.vm_size)},
            {"vm_lck_bytes", or_null(process.vm_lck)},
            {"vm_pin_bytes", or_null(process.vm_pin)},
            {"rss_anon_bytes", or_null(process.rss_anon)},
            {"rss_file_bytes", or_null(process.rss_file)},
            {"rss_shmem_bytes", or_null(process.rss_shmem)},
            {"pss_bytes", or_null(process.pss)},
            {"locked_bytes", or_null(process.locked)},
            {"cgroup_usage_bytes", or_null(cgroup.usage)},
            {"cgroup_kernel_bytes", or_null(cgroup.kernel)},
            {"cgroup_anon_bytes", or_null(cgroup.anon)},
            {"cgroup_file_bytes", or_null(cgroup.file)},
            {"cgroup_shmem_bytes", or_null(cgroup.shmem)},
            {"foll_pin_pages", or_null(snapshot.foll_pin_pages)}};
}

ordered_json deltas_json(const Deltas& deltas) {
    return {{"vm_lck_bytes", or_null(deltas.vm_lck_bytes)},
            {"vm_pin_bytes", or_null(deltas.vm_pin_bytes)},
            {"user_locked_bytes", or_null(deltas.user_locked_bytes)},
            {"rss_anon_bytes", or_null(deltas.rss_anon_bytes)},
            {"rss_shmem_bytes", or_null(deltas.rss_shmem_bytes)},
            {"rss_file_bytes", or_null(deltas.rss_file_bytes)},
            {"cgroup_bytes", or_null(deltas.cgroup_bytes)},
            {"foll_pin_pages", or_null(deltas.foll_pin_pages)}};
}

ordered_json trial_json(const Trial& trial, const std::vector<LimitCheck>& checks) {
    ordered_json out;
    out["mechanism"] = trial.mechanism;
    out["role"] = role_name(trial.role);
    out["size_bytes"] = trial.size_bytes;
    out["count"] = trial.count;
    out["charged_bytes"] = or_null(trial.charged_bytes);
    out["free_bytes"] = trial.free_bytes;
    out["granted_count"] = trial.granted_count;
    out["held_bytes"] = trial.held_bytes;
    auto& conditions = out["conditions"];
    // Unknown is null, never 0.
    const ConditionsSeen* seen = trial.conditions_read ? &trial.conditions : nullptr;
    add_limit(conditions, "memlock_soft", seen != nullptr ? std::optional(seen->memlock_soft) : std::nullopt);
    add_limit(conditions, "memlock_hard", seen != nullptr ? std::optional(seen->memlock_hard) : std::nullopt);
    conditions["cap_ipc_lock"] = seen != nullptr ? ordered_json(seen->cap_ipc_lock) : ordered_json(nullptr);
    add_limit(conditions, "cgroup_limit", trial.conditions.cgroup_limit);
    conditions["uid"] = seen != nullptr ? ordered_json(seen->uid) : ordered_json(nullptr);
    out["conditions_differ"] = text_or_null(trial.conditions_differ);
    out["outcome"] = outcome_name(trial.outcome);
    out["error"] = error_json(trial.error);
    out["call"] = text_or_null(trial.call);
    out["detail"] = text_or_null(trial.detail);
    out["last_stop"] =
        trial.last_stop ? ordered_json(stop_point_name(*trial.last_stop)) : ordered_json(nullptr);
    out["deltas"] = deltas_json(trial.deltas);
    out["cgroup_limit_hits"] = or_null(trial.cgroup_limit_hits);
    out["cgroup_oom_kills"] = or_null(trial.cgroup_oom_kills);
    out["duration_ns"] = trial.duration_ns;
    auto& snapshots = out["snapshots"] = ordered_json::array();
    for (const auto& [point, snapshot] : trial.snapshots)
        snapshots.push_back(snapshot_json(point, snapshot));
    out["window"] = window_json(trial, checks);
    return out;
}

ordered_json sweep_json(const Sweep& sweep) {
    ordered_json out;
    out["mechanism"] = sweep.mechanism;
    add_limit(out, "memlock_soft", sweep.memlock_soft);
    out["largest_single_bytes"] = or_null(sweep.largest_single_bytes);
    out["single_refused_bytes"] = or_null(sweep.single_refused_bytes);
    out["single_error"] = error_json(sweep.single_error);
    out["largest_cumulative_bytes"] = or_null(sweep.largest_cumulative_bytes);
    out["cumulative_pins"] = or_null(sweep.cumulative_pins);
    out["cumulative_error"] = error_json(sweep.cumulative_error);
    out["tested_up_to_bytes"] = sweep.tested_up_to_bytes;
    out["steps"] = sweep.steps;
    return out;
}

ordered_json summary_json(const PinAnswer& answer) {
    ordered_json out;
    out["mechanisms"] = answer.verdicts.size();
    for (const auto kind : {VerdictKind::enforced, VerdictKind::not_enforced, VerdictKind::blocked_elsewhere,
                            VerdictKind::unsupported, VerdictKind::inconclusive})
        out[std::string(verdict_name(kind))] =
            std::count_if(answer.verdicts.begin(), answer.verdicts.end(),
                          [&](const Verdict& verdict) { return verdict.kind == kind; });
    for (const auto state : {ControlState::holds, ControlState::fails, ControlState::unavailable})
        out["controls_" + std::string(control_state_name(state))] =
            std::count_if(answer.controls.begin(), answer.controls.end(),
                          [&](const Control& control) { return control.state == state; });
    return out;
}

ordered_json mechanism_json(const MechanismFacts& facts) {
    ordered_json out;
    out["name"] = facts.name;
    out["summary"] = facts.summary;
    auto& errors = out["over_limit"] = ordered_json::array();
    for (const auto& error : facts.over_limit)
        errors.push_back(error_json(error));
    auto& budgets = out["budgets"] = ordered_json::array();
    for (const auto budget : facts.budgets)
        budgets.push_back(budget_name(budget));
    out["source"] = facts.source;
    return out;
}

} // namespace

ordered_json pin_json(const PinFindings& findings, const PinAnswer& answer) {
    ordered_json out;
    out["schema"] = "pinscope.pin/1";
    out["tool_version"] = PINSCOPE_VERSION;
    out["time"] = utc_now();
    out["duration_ns"] = findings.duration_ns;
    out["cuda"] = answer.cuda_line;
    out["host"] = host_json(findings.host);
    auto& question = out["question"];
    add_limit(question, "memlock_soft", findings.question.memlock_soft);
    question["memlock_because"] = text_or_null(findings.question.memlock_because);
    question["cap_ipc_lock"] = or_null(findings.question.cap_ipc_lock);
    question["size_bytes"] = or_null(findings.question.size_bytes);
    question["like_pid"] = or_null(findings.question.like);
    out["leaf"] = {{"folder", text_or_null(findings.leaf_folder)},
                   {"shared_because", text_or_null(findings.leaf_shared_because)}};
    out["tier"] = tier_name(answer.tier);
    out["summary"] = summary_json(answer);
    out["lost"] = {{"windows", answer.lost_windows}, {"missed_runs", answer.missed_runs}};
    auto& probes = out["probes"] = ordered_json::array();
    for (const auto& probe : findings.probes)
        probes.push_back(probe_json(probe));
    auto& missing = out["missing"] = ordered_json::array();
    for (const auto& entry : findings.host.missing)
        missing.push_back({{"what", entry.what}, {"reason", entry.reason}, {"would_add", entry.would_add}});
    auto& controls = out["controls"] = ordered_json::array();
    for (const auto& control : answer.controls)
        controls.push_back({{"name", control.name},
                            {"mechanism", control.mechanism},
                            {"expected", control.expected},
                            {"observed", or_null(control.observed)},
                            {"state", control_state_name(control.state)},
                            {"reason", control.reason}});
    auto& verdicts = out["verdicts"] = ordered_json::array();
    for (const auto& verdict : answer.verdicts)
        verdicts.push_back({{"mechanism", verdict.mechanism},
                            {"verdict", verdict_name(verdict.kind)},
                            {"tier", tier_name(verdict.tier)},
                            {"reason", verdict.reason},
                            {"evidence", verdict.evidence}});
    out["advice"] = answer.advice;
    auto& budgets = out["shared_budgets"] = ordered_json::array();
    for (const auto& budget : findings.shared_budgets)
        budgets.push_back({{"mechanism", budget.mechanism},
                           {"budget", budget_name(budget.budget)},
                           {"limit_bytes", budget.limit_bytes},
                           {"free_bytes", budget.free_bytes},
                           {"held_bytes", budget.held_bytes()}});
    auto& sweeps = out["sweeps"] = ordered_json::array();
    for (const auto& sweep : findings.sweeps)
        sweeps.push_back(sweep_json(sweep));
    auto& mechanisms = out["mechanisms"] = ordered_json::array();
    for (const auto& facts : findings.judged)
        mechanisms.push_back(mechanism_json(facts));
    auto& trials = out["trials"] = ordered_json::array();
    for (size_t i = 0; i < findings.trials.size(); ++i)
        trials.push_back(trial_json(findings.trials[i], i < answer.limit_checks.size()
                                                            ? answer.limit_checks[i]
                                                            : std::vector<LimitCheck>()));
    auto& not_run = out["not_run"] = ordered_json::array();
    for (const auto& entry : findings.not_run)
        not_run.push_back(
            {{"mechanism", entry.mechanism}, {"role", role_name(entry.role)}, {"reason", entry.reason}});
    return out;
}

} // namespace pinscope::report
