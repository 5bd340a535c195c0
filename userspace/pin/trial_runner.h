// SPDX-License-Identifier: Apache-2.0
// pinscope's side of a trial: starts it, takes a snapshot at each stop point, and says how it ended.
#pragma once

#include "base/result.h"
#include "model/trial.h"
#include "pin/registry.h"
#include "probes/session.h"
#include "run/interruption.h"
#include "run/stage.h"

#include <chrono>
#include <functional>
#include <optional>

namespace pinscope::pin {

struct TrialRequest {
    const RegisteredMechanism* mechanism = nullptr;
    Role role = Role::over;
    uint64_t size_bytes = 0;
    uint64_t count = 1;
    bool cumulative = false;
    Conditions conditions;
};

class TrialRunner {
  public:
    struct Settings {
        std::chrono::milliseconds timeout{10000};
        // Starting CUDA on a machine with many GPUs takes seconds.
        std::chrono::milliseconds cuda_timeout{60000};
        // How pinscope-cuda is started as a trial; what follows is the task.
        std::vector<std::string> cuda_command;
        // Called with the process at this stop point, before it goes on; returns when it may.
        std::optional<StopPoint> hold_at;
        std::function<void(const Trial&, StopPoint, pid_t)> hold;
        probes::Session* probes = nullptr; // that see the trial's windows; may be none
    };

    TrialRunner(const run::Stage& stage, const run::Interruption& interruption, Settings settings)
        : stage_(stage), interruption_(interruption), settings_(std::move(settings)) {}

    // Fails where the trial could not be started under its conditions, and where the run was interrupted (see
    // Interruption::signal). Everything else is an outcome.
    Result<Trial> run(const TrialRequest& request) const;

  private:
    CgroupMemory read_leaf_memory() const;
    Snapshot take_snapshot(pid_t pid) const;

    const run::Stage& stage_;
    const run::Interruption& interruption_;
    Settings settings_;
};

// How the two ends differ; a value only where both have one. user_locked_bytes is not user space's to see.
Deltas difference(const Snapshot& before, const Snapshot& after);

} // namespace pinscope::pin
