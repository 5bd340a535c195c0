// SPDX-License-Identifier: Apache-2.0
// Finds a process's memory cgroup (v1, v2, hybrid: by where the memory controller is) and reads its files.
#pragma once

#include "base/result.h"
#include "host/root.h"
#include "model/host_facts.h"
#include "model/snapshot.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinscope::host {

// Where a memory cgroup is. `folder` is `mount` or below it.
struct CgroupPlace {
    int version = 0;
    std::string path;   // as in /proc/PID/cgroup
    std::string folder; // with the Root's prefix
    std::string mount;  // likewise: the highest folder that can be seen from here
};

// Pure part: from the texts of /proc/PID/cgroup and /proc/PID/mountinfo. `folder` and `mount` come without a
// prefix. The path of /proc/PID/cgroup counts from the root of the reader's cgroup namespace, or from the
// hierarchy's; a mount shows the part below its own root (mountinfo's fourth field).
Result<CgroupPlace> locate_memory_cgroup(std::string_view proc_cgroup, std::string_view mountinfo);

// Fails where procfs is masked, where no memory controller is found, or where its hierarchy is not mounted.
Result<CgroupPlace> find_memory_cgroup(const Root& root, pid_t pid);

// Whether the memory controller's files are there: on v2 they are missing in the root and where a parent does
// not enable the controller.
bool has_memory_files(const CgroupPlace& place);

CgroupMemory read_cgroup_memory(const CgroupPlace& place);

// The cgroup's own limit (memory.limit_in_bytes, memory.max).
std::optional<Limit> read_own_limit(const CgroupPlace& place);

// The tightest limit from the cgroup up to the mount: memory.stat's hierarchical_memory_limit on v1, which
// also counts cgroups above a namespace's root; the walk on v2.
std::optional<Limit> read_effective_limit(const CgroupPlace& place);

// Bytes that can still be charged before the tightest limit is met; nothing where there is none.
std::optional<uint64_t> read_headroom(const CgroupPlace& place);

// The nearest folder from the cgroup up where memory.oom.group is set (v2; v1 has no such thing), or nothing.
std::optional<std::string> find_oom_group(const CgroupPlace& place);

// The place one level up, or nothing at the mount.
std::optional<CgroupPlace> parent_of(const CgroupPlace& place);

CgroupFacts describe(const CgroupPlace& place);

} // namespace pinscope::host
