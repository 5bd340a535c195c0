// SPDX-License-Identifier: Apache-2.0
// One mechanism, one size, one set of conditions, in a fresh process: what was asked and what happened.
#pragma once

#include "model/conditions.h"
#include "model/mechanism.h"
#include "model/snapshot.h"
#include "model/window.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

// Where a trial process waits for the snapshot to be taken.
enum class StopPoint : uint8_t { initialised, allocated, touched, verified, freed };

std::string_view stop_point_name(StopPoint point);
std::optional<StopPoint> stop_point_from(std::string_view name);

enum class Outcome : uint8_t {
    granted,
    denied,      // with the error that is documented for "over the limit"
    failed,      // with any other error
    killed,      // SIGKILL from elsewhere: the OOM killer, as a rule
    crashed,     // another signal, or an exit without a word
    not_mapped,  // success was reported, but the memory is not there
    timeout,     // the deadline passed
    unsupported, // this host cannot do it at all
};

std::string_view outcome_name(Outcome outcome);

// Why a trial is run: what its outcome is compared with.
enum class Role : uint8_t {
    over,         // over the limit: the question itself
    limit_lifted, // the same size, the limit raised above it
    with_cap,     // the same size and limit, CAP_IPC_LOCK added
    soft_low,     // a size below the hard limit, the soft limit below the size
    soft_high,    // the same size, the soft limit at the hard one
    under,        // a size below the limit
    sweep,        // one step of a bisection
};

std::string_view role_name(Role role);

struct Trial {
    std::string mechanism;
    Role role = Role::over;
    uint64_t size_bytes = 0;               // of one pin
    uint64_t count = 1;                    // pins asked for in the one process
    std::optional<uint64_t> charged_bytes; // what one granted pin counts as; nothing where no pin was granted
    uint64_t free_bytes = 0;               // of each pin, not counted at the limit (perf's allowance)
    uint64_t granted_count = 0;
    uint64_t held_bytes = 0; // size of all granted pins together
    ConditionsSeen conditions;
    bool conditions_read =
        false; // the trial got as far as reading them back; else only the cgroup's limit is known
    // Nothing, or in which respect `conditions` are not the ones that were asked for.
    std::string conditions_differ;
    Outcome outcome = Outcome::unsupported;
    TrialError error;
    std::string call;   // the call that answered so: "mlock"
    std::string detail; // a sentence about the outcome; may be empty
    std::optional<StopPoint> last_stop;
    std::vector<std::pair<StopPoint, Snapshot>> snapshots;
    Deltas deltas;
    std::optional<uint64_t> cgroup_limit_hits; // how often the cgroup's limit was met during the trial
    std::optional<uint64_t> cgroup_oom_kills;
    uint64_t duration_ns = 0;
    std::optional<TrialWindows> windows; // nothing without kernel probes
};

} // namespace pinscope
