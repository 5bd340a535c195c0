// SPDX-License-Identifier: Apache-2.0
// A process that outlives pinscope by as long as it takes to clean up. It holds the reading end of a pipe;
// when the pipe closes, because the run is over or because pinscope was killed, it carries out the
// CleanUpPlan and ends.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "run/clean_up.h"

#include <sys/types.h>

namespace pinscope::run {

class Janitor {
  public:
    // Start it before anything of the plan is made.
    static Result<Janitor> start(const CleanUpPlan& plan);

    Janitor(Janitor&&) = default;
    Janitor& operator=(Janitor&&) = delete;
    Janitor(const Janitor&) = delete;
    Janitor& operator=(const Janitor&) = delete;
    ~Janitor();

    // Children to be killed should pinscope be gone; forgotten once they were waited for.
    void watch(pid_t child) const;
    void forget(pid_t child) const;

    // Lets it clean up and waits for it.
    Status finish();

    pid_t pid() const { return pid_; }

  private:
    Janitor(pid_t pid, Fd pipe) : pid_(pid), pipe_(std::move(pipe)) {}

    pid_t pid_;
    Fd pipe_;
};

} // namespace pinscope::run
