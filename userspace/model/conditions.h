// SPDX-License-Identifier: Apache-2.0
// What a trial or a command is run under.
#pragma once

#include "model/limit.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace pinscope {

// What is asked for. A field without a value is left as the caller has it.
struct Conditions {
    std::optional<Limit> memlock_soft;
    std::optional<Limit> memlock_hard;
    std::optional<bool> cap_ipc_lock;  // in the effective set
    std::optional<Limit> cgroup_limit; // of the leaf memory cgroup
    std::optional<pid_t> like;         // join this process's user namespace, take its uid and gid
    std::optional<uint64_t>
        capabilities; // with `like`: the whole effective and permitted sets, bit by number
};

// What held in the child after exec, read back there.
struct ConditionsSeen {
    Limit memlock_soft;
    Limit memlock_hard;
    bool cap_ipc_lock = false;
    std::optional<Limit>
        cgroup_limit; // of the cgroup the child was in and of those above; nothing where not readable
    uint32_t uid = 0; // as the child's user namespace shows it
};

} // namespace pinscope
