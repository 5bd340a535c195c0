// SPDX-License-Identifier: Apache-2.0
// Everything that one run of `pinscope pin` found out, ready to be judged and shown.
#pragma once

#include "model/host_facts.h"
#include "model/probe.h"
#include "model/trial.h"
#include "model/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinscope {

// A trial that could not be run, and why: its conditions could not be set up, or it would have done harm.
struct TrialNotRun {
    std::string mechanism;
    Role role = Role::over;
    std::string reason;
};

// A shared budget that others hold a part of, found by bisection.
struct SharedBudget {
    std::string mechanism; // that it was found with
    Budget budget = Budget::user_locked_vm;
    uint64_t limit_bytes = 0;
    uint64_t free_bytes = 0; // the largest request that was still granted

    uint64_t held_bytes() const { return limit_bytes > free_bytes ? limit_bytes - free_bytes : 0; }
};

struct Sweep {
    std::string mechanism;
    Limit memlock_soft;
    std::optional<uint64_t> largest_single_bytes;     // nothing where no size was granted
    std::optional<uint64_t> single_refused_bytes;     // the smallest size that was refused; nothing: none was
    std::optional<TrialError> single_error;           // of that refusal
    std::optional<uint64_t> largest_cumulative_bytes; // nothing where only one pin fits a process
    std::optional<uint64_t> cumulative_pins;
    std::optional<TrialError>
        cumulative_error; // of the refusal that ended it; nothing: the bound was reached
    uint64_t tested_up_to_bytes = 0;
    uint64_t steps = 0; // trials it took
};

// What was asked: the conditions of the trials in the role `over`.
struct PinQuestion {
    Limit memlock_soft;
    std::string memlock_because;        // why not the current limit, though none was asked for; else empty
    std::optional<bool> cap_ipc_lock;   // nothing: as the process of --like has it
    std::optional<uint64_t> size_bytes; // nothing: chosen for each mechanism
    std::optional<pid_t> like;
    bool named = false; // by --mechanism
};

struct PinFindings {
    HostFacts host;
    PinQuestion question;
    std::string leaf_folder;         // where trials ran; empty where no cgroup can be seen
    std::string leaf_shared_because; // empty: a cgroup of their own
    std::vector<Probe> probes;
    std::vector<Trial> trials; // the first control_trials of them are mlock's, run as controls
    size_t control_trials = 0;
    std::vector<TrialNotRun> not_run;
    std::vector<SharedBudget> shared_budgets;
    std::vector<Sweep> sweeps;
    std::vector<MechanismFacts> judged;  // the mechanisms that were asked about, in order
    std::vector<std::string> cuda_named; // CUDA mechanisms that were asked for by name
    uint64_t duration_ns = 0;
};

// When a function asks for CAP_IPC_LOCK.
enum class Asks : uint8_t { only_over, always, unknown };
std::string_view asks_name(Asks asks);

// One function that had a part in the limit's answer to a trial, and whether it was its answer.
struct LimitCheck {
    std::string function; // "" where it cannot be named
    Asks asks = Asks::unknown;
    Tier tier = Tier::tracepoint;
    uint32_t count = 0;
    std::optional<bool>
        capability_refused;        // nothing: it did not ask for the capability, or that was not seen
    std::optional<int64_t> result; // of the function itself; function tier
    std::string syscall;           // in which; empty: in none
    bool decides = false;
};

// The answer of the whole run.
struct PinAnswer {
    Tier tier = Tier::user;
    std::vector<Control> controls;
    std::vector<std::vector<LimitCheck>> limit_checks; // of each trial, in the order of PinFindings::trials
    std::vector<Verdict> verdicts;                     // in the order of PinFindings::judged, CUDA's first
    uint64_t lost_windows = 0;                         // over all trials
    uint64_t missed_runs = 0;                          // of kernel programs, for whatever task
    std::string cuda_line;                             // one sentence on CUDA, the first on the screen
    std::vector<std::string> advice;
};

} // namespace pinscope
