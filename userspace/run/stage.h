// SPDX-License-Identifier: Apache-2.0
// Where children are run: a leaf cgroup, and a janitor that takes all of it away again. The one way into
// run/.
#pragma once

#include "base/result.h"
#include "host/cgroup.h"
#include "run/child.h"
#include "run/clean_up.h"
#include "run/janitor.h"
#include "run/leaf_cgroup.h"

#include <optional>
#include <set>

namespace pinscope::run {

class Stage {
  public:
    // `own`: the memory cgroup to make the leaf below; nothing where none can be seen. `foreign`: it is not
    // the one that pinscope itself is in.
    static Result<Stage> set_up(const std::optional<host::CgroupPlace>& own, bool foreign = false);

    Result<Child> start(const Command& command, const Conditions& conditions) const;

    const LeafCgroup& leaf() const { return leaf_; }

    // Kills what is left of what was started, and removes the cgroups.
    Status take_down();

  private:
    Stage(Janitor janitor, LeafCgroup leaf, std::set<pid_t> spared)
        : janitor_(std::move(janitor)), leaf_(std::move(leaf)), spared_(std::move(spared)) {}

    Janitor janitor_;
    LeafCgroup leaf_;
    std::set<pid_t> spared_; // children that this process had before
};

} // namespace pinscope::run
