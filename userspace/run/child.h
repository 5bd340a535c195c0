// SPDX-License-Identifier: Apache-2.0
// One started child: its exit, its stop points, its end.
#pragma once

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "model/conditions.h"
#include "run/janitor.h"
#include "run/leaf_cgroup.h"
#include "run/stop_message.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace pinscope::run {

struct Command {
    std::vector<std::string> arguments; // [0] is looked up in PATH; unused where `itself` is set
    bool itself = false;                // this very program again, by its file rather than by its name
    bool is_trial = false; // gets a StopChannel, a session of its own, no input, and dies with pinscope
};

struct Exit {
    static constexpr int unknown = 255; // of a process whose status was lost

    int code = 0;   // of exit(2)
    int signal = 0; // that ended it; 0: it exited

    // As a shell has it: 128+N for a signal.
    int status() const { return signal != 0 ? 128 + signal : code; }
};

class Child {
  public:
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    // Kills and waits for a child that still runs.
    ~Child();

    pid_t pid() const { return pid_; }
    int channel() const { return channel_.get(); }

    // Nothing where the deadline passes first, or `interrupt_fd` becomes readable. Without either it waits as
    // long as it takes.
    std::optional<Exit> wait(std::optional<MonotonicClock::time_point> deadline = {}, int interrupt_fd = -1);

    void kill(int signal) const;

  private:
    friend Result<Child> start(const Command&, const Conditions&, const LeafCgroup&, const Janitor&);
    Child(pid_t pid, Fd channel, const Janitor& janitor)
        : pid_(pid), channel_(std::move(channel)), janitor_(&janitor) {}

    pid_t pid_;
    Fd channel_;
    const Janitor* janitor_;
    std::optional<Exit> exit_;
};

// Error::number of a failed start where the command itself could not be executed: ENOENT, EACCES, … with
// Error::action == exec_failed. Any other failure is one to set up the conditions.
inline constexpr std::string_view exec_failed = "cannot run";

// Starts the command in the leaf, under the conditions.
Result<Child> start(const Command& command, const Conditions& conditions, const LeafCgroup& leaf,
                    const Janitor& janitor);

} // namespace pinscope::run
