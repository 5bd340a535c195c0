// SPDX-License-Identifier: Apache-2.0
#include "run/janitor.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace pinscope::run {
namespace {

// What travels over the pipe: a child to watch, or, negated, one to forget.
using PidMessage = int32_t;

void close_all_but(int kept) {
    if (kept > 0)
        ::close_range(0, static_cast<unsigned>(kept) - 1, 0);
    ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

[[noreturn]] void be_janitor(int pipe, int writing_end, const CleanUpPlan& plan) {
    // By itself, since a filter may refuse close_range: while anybody holds this end, the pipe does not
    // close.
    ::close(writing_end);
    // A session of its own: Ctrl-C goes to the terminal's foreground group, and must not end the janitor.
    ::setsid();
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP})
        ::signal(number, SIG_IGN);
    ::prctl(PR_SET_NAME, "pinscope-janit");
    close_all_but(pipe);

    std::set<pid_t> children;
    for (;;) {
        PidMessage message = 0;
        const ssize_t got = ::read(pipe, &message, sizeof(message));
        if (got < 0 && errno == EINTR)
            continue;
        if (got != static_cast<ssize_t>(sizeof(message)))
            break;
        if (message > 0)
            children.insert(message);
        else
            children.erase(-message);
    }
    ::_exit(clean_up(plan, children) ? 0 : 1);
}

} // namespace

Result<Janitor> Janitor::start(const CleanUpPlan& plan) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return fail(os_error("cannot make a pipe", "", errno));
    Fd reading(ends[0]);
    Fd writing(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0)
        return fail(os_error("cannot start the clean-up process", "", errno));
    if (pid == 0)
        be_janitor(reading.get(), writing.get(), plan);
    return Janitor(pid, std::move(writing));
}

Janitor::~Janitor() {
    (void)finish();
}

void Janitor::watch(pid_t child) const {
    const PidMessage message = child;
    (void)!::write(pipe_.get(), &message, sizeof(message));
}

void Janitor::forget(pid_t child) const {
    const PidMessage message = -child;
    (void)!::write(pipe_.get(), &message, sizeof(message));
}

Status Janitor::finish() {
    if (!pipe_)
        return {};
    pipe_.reset();
    int status = 0;
    pid_t got = 0;
    do {
        got = ::waitpid(pid_, &status, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail({"cannot clean up", "", "a process or cgroup of this run could not be taken away",
                     "look for cgroups named pinscope-* below this one", 0});
    return {};
}

} // namespace pinscope::run
