// SPDX-License-Identifier: Apache-2.0
// Takes away whatever a run made: kills what is in the leaf, removes it, and puts a v2 cgroup back as it was.
// Done by the janitor alone; every step may find its work done already.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <set>
#include <string>

namespace pinscope::run {

struct CleanUpPlan {
    int cgroup_version = 0;      // 0: no cgroup was wanted
    std::string own_folder;      // the cgroup the leaf is made below
    std::string leaf_folder;     // own_folder/pinscope-PID
    std::string self_folder;     // v2: where pinscope's own processes move to, own_folder/pinscope-PID-self
    bool disable_memory = false; // v2: own_folder's subtree did not have the memory controller before
};

// Fails with the first thing that could not be taken away, after trying everything. Waits up to five seconds
// for killed processes to be gone.
Status clean_up(const CleanUpPlan& plan, const std::set<pid_t>& children);

// Whether a v2 cgroup gives the memory controller to its children.
bool gives_memory_to_children(const std::string& folder);

// True where another run's folder is in this cgroup.
bool has_other_runs(const std::string& own_folder, const std::string& leaf_folder);

} // namespace pinscope::run
