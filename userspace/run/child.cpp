// SPDX-License-Identifier: Apache-2.0
#include "run/child.h"

#include "base/file.h"
#include "run/apply_conditions.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace pinscope::run {
namespace {

constexpr int blind_pause_ms = 5;

// What a child that could not get as far as its exec says over the report pipe.
struct FailureReport {
    int32_t number = 0;
    uint8_t at_exec = 0;
    std::array<char, 512> text{};
};

// The file of this program. /proc may be masked, so the kernel's own word for it comes second.
Fd open_itself() {
    Fd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (fd)
        return fd;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds addresses as integers
    const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return Fd(name != nullptr ? ::open(name, O_RDONLY | O_CLOEXEC) : -1);
}

[[noreturn]] void report_failure(int report, bool at_exec, const Error& error) {
    FailureReport failure;
    failure.number = error.number;
    failure.at_exec = at_exec ? 1 : 0;
    set_text(failure.text, error.text());
    (void)!::write(report, &failure, sizeof(failure));
    ::_exit(127);
}

// For a trial. A command keeps what its caller ignores (nohup); handlers end with the exec by themselves.
void restore_signals() {
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL); // fails for the two that cannot be caught
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void detach_from_terminal() {
    ::setsid();
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null) {
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO})
            ::dup2(null.get(), fd);
    } else {
        ::close(STDIN_FILENO);
        ::close(STDOUT_FILENO);
    }
}

struct Start {
    const Command& command;
    const Conditions& conditions;
    const LeafCgroup& leaf;
    int report;  // CLOEXEC
    int channel; // the child's end; -1 for none
    int itself;  // the program's file; -1 for a command by name
    pid_t parent;
};

[[noreturn]] void be_child(const Start& start) {
    if (start.command.is_trial)
        restore_signals();
    const int report = ::fcntl(start.report, F_DUPFD_CLOEXEC, StopChannel::trial_fd + 1);
    const int itself =
        start.itself >= 0 ? ::fcntl(start.itself, F_DUPFD_CLOEXEC, StopChannel::trial_fd + 1) : -1;
    if (report < 0 || (start.itself >= 0 && itself < 0)) {
        Error error = os_error("cannot start a process", "", errno);
        error.remedy = "raise the limit of open files (ulimit -n)";
        report_failure(start.report, false, error);
    }
    if (!start.leaf.join_file().empty())
        if (auto joined = write_file(start.leaf.join_file(), "0"); !joined)
            report_failure(report, false, joined.error());
    if (start.command.is_trial) {
        // Should the leaf's limit be met, it is the trial that is to die.
        (void)write_file("/proc/self/oom_score_adj", "1000");
        detach_from_terminal();
    }
    if (auto applied = apply_conditions(start.conditions); !applied)
        report_failure(report, false, applied.error());

    std::vector<char*> arguments;
    for (const auto& argument : start.command.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);

    if (start.command.is_trial) {
        if (start.channel == StopChannel::trial_fd)
            ::fcntl(start.channel, F_SETFD, 0); // dup2 onto itself would keep close-on-exec
        else
            ::dup2(start.channel, StopChannel::trial_fd);
        // A change of ids or capabilities clears this, so it comes last.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (::getppid() != start.parent)
            ::_exit(0);
        // What pinscope itself inherited; 5.11 on, and no loss before.
        ::close_range(StopChannel::trial_fd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    }
    if (start.command.itself)
        ::syscall(SYS_execveat, itself, "", arguments.data(), environ, AT_EMPTY_PATH);
    else
        ::execvp(arguments[0], arguments.data());
    Error error = os_error(exec_failed,
                           start.command.itself ? "this program again" : start.command.arguments[0], errno);
    report_failure(report, true, error);
}

} // namespace

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)), janitor_(other.janitor_),
      exit_(other.exit_) {}

Child::~Child() {
    if (pid_ <= 0 || exit_)
        return;
    kill(SIGKILL);
    (void)wait();
}

std::optional<Exit> Child::wait(std::optional<MonotonicClock::time_point> deadline, int interrupt_fd) {
    if (exit_)
        return exit_;
    const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    for (;;) {
        int status = 0;
        const bool must_poll = deadline.has_value() || interrupt_fd >= 0;
        const pid_t got = ::waitpid(pid_, &status, must_poll ? WNOHANG : 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != 0) {
            janitor_->forget(pid_);
            exit_ = got < 0               ? Exit{Exit::unknown, 0} // somebody else has collected it
                    : WIFSIGNALED(status) ? Exit{0, WTERMSIG(status)}
                                          : Exit{WEXITSTATUS(status), 0};
            return exit_;
        }
        int left = deadline ? poll_milliseconds(*deadline) : -1;
        if (!handle) // refused by a filter: look again and again
            left = left < 0 ? blind_pause_ms : std::min(left, blind_pause_ms);
        std::array<pollfd, 2> wanted = {{{handle.get(), POLLIN, 0}, {interrupt_fd, POLLIN, 0}}};
        (void)::poll(wanted.data(), wanted.size(), left);
        if (wanted[0].revents == 0 &&
            (wanted[1].revents != 0 || (deadline && MonotonicClock::now() >= *deadline)))
            return std::nullopt;
    }
}

void Child::kill(int signal) const {
    if (!exit_ && pid_ > 0)
        ::kill(pid_, signal);
}

Result<Child> start(const Command& command, const Conditions& conditions, const LeafCgroup& leaf,
                    const Janitor& janitor) {
    std::array<int, 2> report_ends{};
    if (::pipe2(report_ends.data(), O_CLOEXEC) != 0)
        return fail(os_error("cannot make a pipe", "", errno));
    const Fd report_reading(report_ends[0]);
    Fd report_writing(report_ends[1]);
    Fd channel;
    Fd child_channel;
    if (command.is_trial) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
            return fail(os_error("cannot make a socket pair", "", errno));
        channel = Fd(ends[0]);
        child_channel = Fd(ends[1]);
    }
    Fd itself;
    if (command.itself) {
        itself = open_itself();
        if (!itself)
            return fail(os_error("cannot open", "this program's own file", errno));
    }

    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0)
        return fail(os_error("cannot start a process", "", errno));
    if (pid == 0)
        be_child(
            {command, conditions, leaf, report_writing.get(), child_channel.get(), itself.get(), parent});
    janitor.watch(pid);
    Child child(pid, std::move(channel), janitor);
    report_writing.reset();

    FailureReport failure;
    ssize_t got = 0;
    do {
        got = ::read(report_reading.get(), &failure, sizeof(failure));
    } while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof(failure))) {
        (void)child.wait();
        const std::string text(get_text(failure.text));
        if (failure.at_exec == 0)
            return fail({text, "", "", "", failure.number});
        Error error = os_error(exec_failed, command.itself ? "this program again" : command.arguments[0],
                               failure.number);
        return fail(error);
    }
    return child;
}

} // namespace pinscope::run
