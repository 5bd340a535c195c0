// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 become something that a poll can wait for, so that
// every child and cgroup is taken away before the program ends.
#pragma once

namespace pinscope::run {

class Interruption {
  public:
    // Takes these signals over for the life of the object. One a process.
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    // Readable once a signal has come.
    int fd() const;

    // The first signal that came; 0 where none has.
    static int signal();

    struct Arrival {
        int signal = 0;             // 0: none
        bool from_terminal = false; // Ctrl-C: every process of the foreground has it already
    };
    // The same, and forgets it, so that the next one can be waited for.
    static Arrival take();
};

} // namespace pinscope::run
