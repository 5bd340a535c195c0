// SPDX-License-Identifier: Apache-2.0
#include "run/interruption.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

namespace pinscope::run {
namespace {

constexpr std::array taken_over = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

std::atomic<int> first_signal{0};
std::atomic<bool> from_terminal{false};
std::array<int, 2> wake_pipe = {-1, -1};
std::array<struct sigaction, taken_over.size()> previous_actions{};

void on_signal(int number, siginfo_t* info, void* /*context*/) {
    const int saved_errno = errno;
    int none = 0;
    if (first_signal.compare_exchange_strong(none, number))
        from_terminal = info->si_code == SI_KERNEL;
    const char byte = 1;
    (void)!::write(wake_pipe[1], &byte, 1);
    errno = saved_errno;
}

} // namespace

Interruption::Interruption() {
    if (::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        wake_pipe = {-1, -1};
    struct sigaction action {};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO;
    for (size_t i = 0; i < taken_over.size(); ++i) {
        ::sigaction(taken_over.at(i), nullptr, &previous_actions.at(i));
        // What was ignored from outside (nohup) stays so.
        if (previous_actions.at(i).sa_handler != SIG_IGN)
            ::sigaction(taken_over.at(i), &action, nullptr);
    }
}

Interruption::~Interruption() {
    for (size_t i = 0; i < taken_over.size(); ++i)
        ::sigaction(taken_over.at(i), &previous_actions.at(i), nullptr);
    for (int& fd : wake_pipe) {
        ::close(fd);
        fd = -1;
    }
    first_signal = 0;
}

int Interruption::fd() const {
    return wake_pipe[0];
} // NOLINT(readability-convert-member-functions-to-static)

int Interruption::signal() {
    return first_signal.load();
}

Interruption::Arrival Interruption::take() {
    std::array<char, 16> bytes{};
    while (::read(wake_pipe[0], bytes.data(), bytes.size()) > 0) {
    }
    const bool terminal = from_terminal;
    return {first_signal.exchange(0), terminal};
}

} // namespace pinscope::run
