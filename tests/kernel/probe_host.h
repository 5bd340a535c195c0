// SPDX-License-Identifier: Apache-2.0
// What this host allows of kernel probes, asked of the host itself and not of pinscope.
#pragma once

#include "model/probe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinscope::test {

// Why no call windows can be seen here; empty: they can.
std::string why_no_windows();

// Whether the kernel lets functions be probed, by whichever way: by that it has kprobes.
bool has_function_probes();

// Whether the tracepoint capability:cap_capable is there (6.14 on).
bool has_capability_tracepoint();

// The kernfs id of a cgroup, as its folder's inode has it; 0 where there is no such folder.
uint64_t cgroup_id(const std::string& folder);

// How many BPF programs of pinscope are loaded on the host; nothing where they may not be listed.
int count_own_programs();

// One line a probe that is not attached, for messages.
std::string words(const std::vector<Probe>& probes);

} // namespace pinscope::test
