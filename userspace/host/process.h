// SPDX-License-Identifier: Apache-2.0
// What procfs says of one process.
#pragma once

#include "base/result.h"
#include "host/root.h"
#include "model/host_facts.h"
#include "model/snapshot.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pinscope::host {

// "self" for pid 0, which is whoever reads.
std::string process_folder(const Root& root, pid_t pid);

// Whether /proc numbers processes as this process does. In a pid namespace of its own with the /proc of
// another, the number of a child names a stranger there, or nobody.
bool shows_own_pids(const Root& root);

// From the texts of /proc/PID/status and /proc/PID/smaps_rollup; fields that are not there have no value. The
// files count in kB of 1024 bytes (fs/proc/task_mmu.c, task_mem; all versions).
ProcessMemory parse_process_memory(std::string_view status, std::string_view smaps_rollup);
ProcessMemory read_process_memory(const Root& root, pid_t pid);

struct ProcessLimits {
    Limit memlock_soft;
    Limit memlock_hard;
};

// From the text of /proc/PID/limits, whose "Max locked memory" line counts in bytes (fs/proc/base.c).
Result<ProcessLimits> parse_limits(std::string_view limits);
Result<ProcessLimits> read_limits(const Root& root, pid_t pid);

struct ProcessIdentity {
    uint32_t uid = 0; // effective, as the reader's user namespace shows it
    uint32_t gid = 0;
    uint64_t cap_effective = 0; // bit by capability number
    uint64_t cap_permitted = 0;
    uint64_t cap_bounding = 0;
};

Result<ProcessIdentity> parse_identity(std::string_view status);
Result<ProcessIdentity> read_identity(const Root& root, pid_t pid);

// True for the initial user namespace, whose map is "0 0 4294967295". A child namespace can be given the same
// map only by a process that could do without it, so this is evidence enough; nothing where the file cannot
// be read.
std::optional<bool> in_initial_user_namespace(const Root& root, pid_t pid);

// The id inside the map's namespace for an id outside; nothing for one that is not mapped.
std::optional<uint32_t> map_id_inside(std::string_view id_map, uint32_t outside);

} // namespace pinscope::host
