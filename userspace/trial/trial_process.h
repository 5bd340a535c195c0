// SPDX-License-Identifier: Apache-2.0
// The trial's side: what runs in the fresh process that a trial is.
#pragma once

#include "trial/mechanism.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope::trial {

struct TrialTask {
    std::string mechanism;
    uint64_t size_bytes = 0; // of one pin
    uint64_t count = 1;
    // Instead of `count` pins: as many as are granted, the size halved at each refusal down to a page, until
    // together they reach `count` times the size.
    bool cumulative = false;
    // Make CAP_IPC_LOCK effective first, where it is permitted: the exec of a file with capabilities of its
    // own keeps it permitted only (security/commoncap.c).
    bool raise_cap_ipc_lock = false;
};

// The calls of a trial whose windows the kernel's probes see, by tag.
inline constexpr uint64_t request_window = 1; // the request under test, of all pins together
inline constexpr uint64_t touch_window = 2;   // the first touch of the memory

// The hidden verb of the trial process, and the task as its arguments.
inline constexpr const char* trial_verb = "__trial";
std::vector<std::string> to_arguments(const TrialTask& task);

// Carries the task out, talking to pinscope over StopChannel::trial_fd. `find`: the mechanisms of this
// program. Returns the process's exit status.
int run_trial_process(const std::vector<std::string>& arguments,
                      const RegisteredMechanism* (*find)(std::string_view name));

} // namespace pinscope::trial
