// SPDX-License-Identifier: Apache-2.0
// The memory cgroup that children run in: a leaf of its own, or, where none can be made, one that is shared.
//
// The leaf is made below the cgroup of pinscope itself (or of the process named by --like), so that the
// limits above it still hold. On v1 a folder is all it takes. On v2 a cgroup with processes cannot give the
// memory controller to its children (the "no internal processes" rule,
// Documentation/admin-guide/cgroup-v2.rst), so pinscope moves its own processes into a second leaf, gives the
// controller, and moves back at the end; where the cgroup holds processes of others, it stays as it is, and
// the children share it.
#pragma once

#include "base/result.h"
#include "host/cgroup.h"
#include "model/limit.h"
#include "run/clean_up.h"
#include "run/janitor.h"

#include <optional>
#include <string>

namespace pinscope::run {

// What a leaf below `own` would take to clean up again. `own` without a value: no memory cgroup could be
// found.
CleanUpPlan plan_leaf(const std::optional<host::CgroupPlace>& own);

class LeafCgroup {
  public:
    // `plan` is plan_leaf(own), with a janitor already started for it. `foreign`: `own` is not pinscope's own
    // cgroup, so children must be moved even where it is shared.
    static LeafCgroup make(const std::optional<host::CgroupPlace>& own, const CleanUpPlan& plan,
                           const Janitor& janitor, bool foreign);

    // Where children run; nothing where no memory cgroup can be seen.
    const std::optional<host::CgroupPlace>& place() const { return place_; }
    // Empty for a leaf of its own, else why there is none.
    const std::string& shared_because() const { return shared_because_; }
    bool is_shared() const { return !shared_because_.empty(); }
    // The file that a child writes itself into; empty where it stays where it is.
    const std::string& join_file() const { return join_file_; }

    // Of a leaf of its own only.
    Status set_limit(Limit limit) const;

  private:
    void share_foreign(const host::CgroupPlace& foreign);

    std::optional<host::CgroupPlace> place_;
    std::string shared_because_;
    std::string join_file_;
};

} // namespace pinscope::run
