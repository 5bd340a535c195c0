// SPDX-License-Identifier: Apache-2.0
#include "run/stop_message.h"

#include <cap-ng.h>

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace pinscope::run {

void StopChannel::stop(StopMessage message) const {
    rlimit memlock{};
    ::getrlimit(RLIMIT_MEMLOCK, &memlock);
    message.memlock_soft = memlock.rlim_cur; // RLIM_INFINITY is all ones too
    message.memlock_hard = memlock.rlim_max;
    message.uid = ::geteuid();
    ::capng_get_caps_process();
    message.cap_ipc_lock = ::capng_have_capability(CAPNG_EFFECTIVE, CAP_IPC_LOCK) != 0 ? 1 : 0;

    if (::send(fd_, &message, sizeof(message), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(message)))
        ::_exit(0);
    char go = 0;
    ssize_t got = 0;
    do {
        got = ::recv(fd_, &go, sizeof(go), 0);
    } while (got < 0 && errno == EINTR);
    if (got != 1)
        ::_exit(0);
}

Wait wait_for_message(int channel, int interrupt_fd, MonotonicClock::time_point deadline,
                      StopMessage& message) {
    for (;;) {
        std::array<pollfd, 2> wanted = {{{channel, POLLIN, 0}, {interrupt_fd, POLLIN, 0}}};
        const int ready = ::poll(wanted.data(), wanted.size(), poll_milliseconds(deadline));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            if (MonotonicClock::now() >= deadline)
                return Wait::timeout;
            continue;
        }
        if (wanted[1].revents != 0)
            return Wait::interrupted;
        const ssize_t got = ::recv(channel, &message, sizeof(message), MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got != static_cast<ssize_t>(sizeof(message)) || message.magic != StopMessage::expected_magic)
            return Wait::closed;
        return Wait::message;
    }
}

void send_go(int channel) {
    const char go = 1;
    // A trial that has died shows at the next wait.
    (void)::send(channel, &go, sizeof(go), MSG_NOSIGNAL);
}

} // namespace pinscope::run
