// SPDX-License-Identifier: Apache-2.0
#include "pin/trial_runner.h"

#include "base/clock.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/process.h"
#include "trial/trial_process.h"

#include <fmt/format.h>

#include <signal.h>

namespace pinscope::pin {
namespace {

using run::get_text;
using run::StepResult;
using run::StopMessage;
using run::Wait;

std::optional<int64_t> minus(std::optional<uint64_t> after, std::optional<uint64_t> before) {
    if (!after || !before)
        return std::nullopt;
    return static_cast<int64_t>(*after) - static_cast<int64_t>(*before);
}

std::optional<uint64_t> rise(std::optional<uint64_t> after, std::optional<uint64_t> before) {
    const auto difference = minus(after, before);
    if (!difference || *difference < 0)
        return std::nullopt;
    return static_cast<uint64_t>(*difference);
}

Limit limit_from(uint64_t value) {
    return value == StopMessage::unlimited ? Limit::none() : Limit::of(value);
}

// In which respect the conditions are not those asked for; empty: in none.
std::string compare(const Conditions& wanted, const ConditionsSeen& seen) {
    if (wanted.memlock_soft && !(*wanted.memlock_soft == seen.memlock_soft))
        return fmt::format("the soft limit is {}, not {}", limit_text(seen.memlock_soft),
                           limit_text(*wanted.memlock_soft));
    if (wanted.memlock_hard && !(*wanted.memlock_hard == seen.memlock_hard))
        return fmt::format("the hard limit is {}, not {}", limit_text(seen.memlock_hard),
                           limit_text(*wanted.memlock_hard));
    if (wanted.cap_ipc_lock && *wanted.cap_ipc_lock != seen.cap_ipc_lock)
        return seen.cap_ipc_lock ? "CAP_IPC_LOCK came back with the exec"
                                 : "CAP_IPC_LOCK was lost with the exec";
    return {};
}

void note_message(const StopMessage& message, const TrialRequest& request, Trial& trial) {
    trial.last_stop = message.at;
    trial.granted_count = message.granted_count;
    trial.held_bytes = message.held_bytes;
    if (message.granted_count > 0)
        trial.charged_bytes = message.charged_bytes;
    trial.conditions.memlock_soft = limit_from(message.memlock_soft);
    trial.conditions.memlock_hard = limit_from(message.memlock_hard);
    trial.conditions.cap_ipc_lock = message.cap_ipc_lock != 0;
    trial.conditions.uid = message.uid;
    trial.conditions_read = true;
    trial.conditions_differ = compare(request.conditions, trial.conditions);
}

bool documents(const TrialRequest& request, const Trial& trial, const TrialError& error) {
    const Limit soft = trial.conditions.memlock_soft;
    return request.mechanism->facts.documents(error, !soft.unlimited && soft.bytes == 0);
}

// A message other than `ok` is the outcome.
void note_failed_step(const StopMessage& message, const TrialRequest& request, Trial& trial) {
    if (message.result != StepResult::not_mapped)
        trial.error = {message.domain, message.code};
    trial.call = printable(get_text(message.call));
    trial.detail = printable(get_text(message.detail));
    switch (message.result) {
    case StepResult::ok:
        break;
    case StepResult::not_mapped:
        trial.outcome = Outcome::not_mapped;
        break;
    case StepResult::unsupported:
        trial.outcome = Outcome::unsupported;
        break;
    case StepResult::refused:
        // What fails before the request itself is not the limit's answer, whatever its error.
        trial.outcome = message.at != StopPoint::initialised && documents(request, trial, trial.error)
                            ? Outcome::denied
                            : Outcome::failed;
        break;
    }
}

void note_death(const run::Exit& exit, const TrialRequest& request, Trial& trial) {
    if (exit.signal == 0) {
        trial.outcome = Outcome::crashed;
        trial.detail =
            fmt::format("the trial process ended with status {} before its work was done", exit.code);
        return;
    }
    trial.error = {ErrorDomain::signal, exit.signal};
    const bool touching = trial.last_stop == StopPoint::allocated;
    if (touching && documents(request, trial, trial.error)) {
        trial.outcome = Outcome::denied;
        trial.call = "the first touch";
        trial.charged_bytes.reset();
        trial.granted_count = 0;
        trial.held_bytes = 0;
    } else if (exit.signal == SIGKILL) {
        trial.outcome = Outcome::killed;
    } else {
        trial.outcome = Outcome::crashed;
        trial.detail = fmt::format("the trial process died of {}", signal_name(exit.signal));
    }
}

// What the user held, before the request and at its return; of the outermost windows.
std::optional<int64_t> user_locked_rise(const Trial& trial) {
    if (!trial.windows || trial.windows->windows.empty())
        return std::nullopt;
    const auto& windows = trial.windows->windows;
    return minus(windows.back().after.user_locked_vm, windows.front().before.user_locked_vm);
}

// Between the snapshot before anything was asked for and the last one at which the memory was held.
void note_deltas(Trial& trial) {
    const Snapshot* before = nullptr;
    const Snapshot* held = nullptr;
    for (const auto& [point, snapshot] : trial.snapshots) {
        if (point == StopPoint::initialised)
            before = &snapshot;
        else if (point != StopPoint::freed)
            held = &snapshot;
    }
    if (before != nullptr && held != nullptr)
        trial.deltas = difference(*before, *held);
    trial.deltas.user_locked_bytes = user_locked_rise(trial);
}

TrialWindows take_windows(probes::Session& probes, const std::vector<Loss>& lost_before) {
    TrialWindows out;
    out.sight = probes.sight();
    out.windows = probes.take_windows();
    out.losses = probes.losses();
    for (size_t i = 0; i < out.losses.size(); ++i)
        out.losses[i].count -= lost_before[i].count;
    return out;
}

} // namespace

Deltas difference(const Snapshot& before, const Snapshot& after) {
    Deltas deltas;
    deltas.vm_lck_bytes = minus(after.process.vm_lck, before.process.vm_lck);
    deltas.vm_pin_bytes = minus(after.process.vm_pin, before.process.vm_pin);
    deltas.rss_anon_bytes = minus(after.process.rss_anon, before.process.rss_anon);
    deltas.rss_shmem_bytes = minus(after.process.rss_shmem, before.process.rss_shmem);
    deltas.rss_file_bytes = minus(after.process.rss_file, before.process.rss_file);
    deltas.cgroup_bytes = minus(after.cgroup.usage, before.cgroup.usage);
    deltas.foll_pin_pages = minus(after.foll_pin_pages, before.foll_pin_pages);
    return deltas;
}

CgroupMemory TrialRunner::read_leaf_memory() const {
    const auto& place = stage_.leaf().place();
    return place ? host::read_cgroup_memory(*place) : CgroupMemory();
}

Snapshot TrialRunner::take_snapshot(pid_t pid) const {
    const host::Root root;
    Snapshot snapshot;
    if (host::shows_own_pids(root))
        snapshot.process = host::read_process_memory(root, pid);
    snapshot.cgroup = read_leaf_memory();
    snapshot.foll_pin_pages = host::read_foll_pin_pages(root);
    return snapshot;
}

Result<Trial> TrialRunner::run(const TrialRequest& request) const {
    Trial trial;
    trial.mechanism = std::string(request.mechanism->facts.name);
    trial.role = request.role;
    trial.size_bytes = request.size_bytes;
    trial.count = request.count;
    trial.free_bytes = request.mechanism->allowance();

    const std::vector<Loss> lost_before = settings_.probes ? settings_.probes->losses() : std::vector<Loss>();
    const auto began = MonotonicClock::now();
    const CgroupMemory at_start = read_leaf_memory();
    run::Command command;
    const bool is_cuda = request.mechanism->create == nullptr;
    command.itself = !is_cuda;
    command.is_trial = true;
    command.arguments =
        is_cuda ? settings_.cuda_command : std::vector<std::string>{"pinscope", trial::trial_verb};
    for (auto& argument :
         trial::to_arguments({trial.mechanism, request.size_bytes, request.count, request.cumulative,
                              request.conditions.cap_ipc_lock.value_or(false)}))
        command.arguments.push_back(std::move(argument));
    auto child = stage_.start(command, request.conditions);
    if (!child)
        return fail(child.error());
    if (const auto& place = stage_.leaf().place())
        trial.conditions.cgroup_limit = host::read_effective_limit(*place);

    const auto timeout = is_cuda ? settings_.cuda_timeout : settings_.timeout;
    auto deadline = began + timeout;
    for (;;) {
        StopMessage message;
        const Wait wait = run::wait_for_message(child->channel(), interruption_.fd(), deadline, message);
        if (wait == Wait::interrupted)
            return fail({"interrupted", "", "", "", EINTR});
        if (wait == Wait::timeout) {
            trial.outcome = Outcome::timeout;
            trial.detail = fmt::format("no answer within {} ms", timeout.count());
            child->kill(SIGKILL);
            break;
        }
        if (wait == Wait::closed) {
            note_death(*child->wait(), request, trial);
            break;
        }
        note_message(message, request, trial);
        trial.snapshots.emplace_back(message.at, take_snapshot(child->pid()));
        if (settings_.hold_at == message.at && settings_.hold) {
            const auto held_since = MonotonicClock::now();
            settings_.hold(trial, message.at, child->pid());
            deadline += MonotonicClock::now() - held_since;
            if (run::Interruption::signal() != 0)
                return fail({"interrupted", "", "", "", EINTR});
        }
        if (message.result != StepResult::ok)
            note_failed_step(message, request, trial);
        else if (message.at == StopPoint::verified)
            trial.detail = printable(get_text(message.detail));
        run::send_go(child->channel());
        // Memory that turns out wrong when it is looked at is still given back by the trial.
        if (message.result != StepResult::ok && message.at != StopPoint::verified &&
            message.at != StopPoint::freed)
            break;
        if (message.at == StopPoint::freed) {
            if (message.result == StepResult::ok)
                trial.outcome = Outcome::granted;
            break;
        }
    }
    // What a trial has to give back is given back by its end; the next one must find it free.
    if (!child->wait(deadline)) {
        child->kill(SIGKILL);
        (void)child->wait();
    }
    const CgroupMemory at_end = read_leaf_memory();
    trial.cgroup_limit_hits = rise(at_end.limit_hits, at_start.limit_hits);
    trial.cgroup_oom_kills = rise(at_end.oom_kills, at_start.oom_kills);
    if (settings_.probes != nullptr && settings_.probes->sight().windows)
        trial.windows = take_windows(*settings_.probes, lost_before);
    note_deltas(trial);
    if (trial.outcome == Outcome::killed && trial.detail.empty())
        trial.detail = trial.cgroup_oom_kills.value_or(0) > 0
                           ? "killed by the OOM killer at its memory cgroup's limit"
                           : "killed, by whom is not known";
    trial.duration_ns = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(MonotonicClock::now() - began).count());
    return trial;
}

} // namespace pinscope::pin
