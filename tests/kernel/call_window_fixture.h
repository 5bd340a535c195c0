// SPDX-License-Identifier: Apache-2.0
// What the tests of call windows share: a session on this program's own marker function, children that call
// it, and what was lost since the test began.
#pragma once

#include "kernel/probe_host.h"
#include "probes/session.h"
#include "run/call_window.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <string_view>
#include <thread>
#include <vector>

namespace pinscope::test {

inline probes::SessionOptions window_options() {
    const auto marker = run::own_marker();
    probes::SessionOptions out;
    out.marked = {{marker.file, "", marker.offset}};
    out.refuse = {"type:fexit", "type:kprobe"}; // windows do not need them, and they take long to attach
    return out;
}

// Runs `body` in a child, which ends with status 0 unless the body ends it; returns its status as wait(2) has
// it.
template <class Body>
int in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        body();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

// What both kinds of test ask of their session.
class WindowTest : public testing::Test {
  protected:
    std::vector<CallWindow> take() { return session_->take_windows(); }
    uint64_t lost(std::string_view reason) const { return lost_now(reason) - before(reason); }
    uint64_t lost_windows() const {
        uint64_t sum = 0;
        for (const auto& loss : session_->losses())
            sum += loss.windows ? loss.count - before(loss.reason) : 0;
        return sum;
    }
    void use(probes::Session& session) {
        session_ = &session;
        ASSERT_TRUE(session.sight().windows) << words(session.probes());
        lost_before_ = session.losses();
        EXPECT_TRUE(session.take_windows().empty());
    }

  private:
    uint64_t lost_now(std::string_view reason) const {
        for (const auto& loss : session_->losses())
            if (loss.reason == reason)
                return loss.count;
        ADD_FAILURE() << "no such loss: " << reason;
        return 0;
    }
    uint64_t before(std::string_view reason) const {
        for (const auto& loss : lost_before_)
            if (loss.reason == reason)
                return loss.count;
        return 0;
    }

    probes::Session* session_ = nullptr;
    std::vector<Loss> lost_before_;
};

inline uint64_t count(const std::vector<CallWindow>& windows, WindowEnd end) {
    return static_cast<uint64_t>(
        std::count_if(windows.begin(), windows.end(), [&](const CallWindow& one) { return one.end == end; }));
}

// So many threads with an open window at a time.
inline void call_in_threads(unsigned number) {
    std::latch all_inside(number);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < number; ++i)
        threads.emplace_back([&, i] { run::in_call_window(i, [&] { all_inside.arrive_and_wait(); }); });
    for (auto& thread : threads)
        thread.join();
}

} // namespace pinscope::test
