// SPDX-License-Identifier: Apache-2.0
// The truth of call windows: every call that is entered is delivered once, as it ended.
#include "base/bytes.h"
#include "kernel/call_window_fixture.h"
#include "kernel/host_under_test.h"
#include "kernel/test_cgroups.h"
#include "support/skip.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <optional>

namespace pinscope {
namespace {

using probes::Session;
using run::in_call_window;
using test::count;
using test::in_child;

// These share one session.
class CallWindows : public test::WindowTest {
  protected:
    static void TearDownTestSuite() { shared().reset(); }
    void SetUp() override {
        if (const auto why = test::why_no_windows(); !why.empty())
            SKIP_HERE(why);
        if (!shared())
            shared().emplace(test::window_options());
        use(*shared());
    }

  private:
    static std::optional<Session>& shared() {
        static std::optional<Session> session;
        return session;
    }
};

TEST_F(CallWindows, OneCallWithWhatHappenedInside) {
    in_child([] {
        in_call_window(7, [] {
            ::mlock(nullptr, 0);
            ::syscall(SYS_fcntl, 555, F_GETFD);
        });
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].tag, 7U);
    EXPECT_EQ(windows[0].end, WindowEnd::returned);
    EXPECT_GT(windows[0].left_ns, windows[0].entered_ns);
    EXPECT_EQ(windows[0].outer_entered_ns, 0U);
    ASSERT_GE(windows[0].syscalls.size(), 2U);
    EXPECT_EQ(windows[0].syscalls[0].name, "mlock");
    EXPECT_EQ(windows[0].syscalls[0].result, 0);
    EXPECT_EQ(windows[0].syscalls[1].name, "fcntl");
    EXPECT_EQ(windows[0].syscalls[1].result, -EBADF);
    EXPECT_EQ(windows[0].syscalls[1].arguments[0], 555U);
    EXPECT_EQ(lost_windows(), 0U);
    EXPECT_EQ(lost("return_without_entry"), 0U);
}

TEST_F(CallWindows, ACallOutsideIsNobodys) {
    in_child([] {
        ::mlock(nullptr, 0);
        in_call_window(1, [] {});
        ::mlock(nullptr, 0);
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_TRUE(windows[0].syscalls.empty());
}

TEST_F(CallWindows, NestedCallsKnowTheirOuterOnes) {
    in_child([] {
        in_call_window(1, [] {
            in_call_window(2, [] { ::mlock(nullptr, 0); });
            in_call_window(3, [] {});
        });
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_EQ(windows[0].tag, 2U);
    EXPECT_EQ(windows[1].tag, 3U);
    EXPECT_EQ(windows[2].tag, 1U);
    EXPECT_EQ(count(windows, WindowEnd::returned), 3U);
    EXPECT_EQ(windows[0].outer_entered_ns, windows[2].entered_ns);
    EXPECT_EQ(windows[1].outer_entered_ns, windows[2].entered_ns);
    EXPECT_EQ(windows[0].syscalls.size(), 1U);
    EXPECT_TRUE(windows[2].syscalls.empty()) << "the inner window has it";
}

void recurse(uint64_t depth) {
    in_call_window(depth, [&] {
        if (depth > 1)
            recurse(depth - 1);
    });
}

TEST_F(CallWindows, RecursionIsDeliveredUpToItsDepthAndCountedBeyond) {
    in_child([] { recurse(20); });
    const auto windows = take();
    EXPECT_EQ(windows.size(), 16U);
    EXPECT_EQ(count(windows, WindowEnd::returned), 16U);
    EXPECT_EQ(lost("too_deep"), 4U);
    EXPECT_EQ(lost("return_without_entry"), 0U);
}

TEST_F(CallWindows, LongjmpOutAbandons) {
    in_child([] {
        static std::jmp_buf out;
        if (setjmp(out) == 0)                                // NOLINT(cert-err52-cpp)
            in_call_window(1, [] { std::longjmp(out, 1); }); // NOLINT(cert-err52-cpp)
        in_call_window(2, [] {});
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 2U);
    EXPECT_EQ(windows[0].tag, 1U);
    EXPECT_EQ(windows[0].end, WindowEnd::abandoned);
    EXPECT_EQ(windows[1].tag, 2U);
    EXPECT_EQ(windows[1].end, WindowEnd::returned);
    EXPECT_EQ(windows[1].outer_entered_ns, 0U);
}

TEST_F(CallWindows, LongjmpOutOfTheInnerLeavesTheOuter) {
    in_child([] {
        in_call_window(1, [] {
            static std::jmp_buf out;
            if (setjmp(out) == 0)                                // NOLINT(cert-err52-cpp)
                in_call_window(2, [] { std::longjmp(out, 1); }); // NOLINT(cert-err52-cpp)
        });
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 2U);
    EXPECT_EQ(windows[0].tag, 2U);
    EXPECT_EQ(windows[0].end, WindowEnd::abandoned);
    EXPECT_EQ(windows[1].end, WindowEnd::returned);
}

// A jump at the very end, and no call after it: the end of the thread tells.
TEST_F(CallWindows, AnExitInsideIsUnfinished) {
    EXPECT_EQ(WEXITSTATUS(in_child([] { in_call_window(1, [] { ::_exit(3); }); })), 3);
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].end, WindowEnd::unfinished);
    EXPECT_EQ(windows[0].cause, WindowCause::exit);
    EXPECT_EQ(WEXITSTATUS(windows[0].exit_code), 3);
}

TEST_F(CallWindows, AThreadThatEndsInsideIsUnfinished) {
    uint64_t seen = 0;
    in_child([] {
        std::thread thread([] { in_call_window(1, [] { ::syscall(SYS_exit, 0); }); });
        thread.join();
        in_call_window(2, [] {});
    });
    // The end of a thread is waited for before the kernel is done with it: the order of the two is open.
    for (const auto& window : take()) {
        EXPECT_EQ(window.end, window.tag == 1 ? WindowEnd::unfinished : WindowEnd::returned);
        EXPECT_EQ(window.cause, window.tag == 1 ? WindowCause::exit : WindowCause::none);
        seen += window.tag;
    }
    EXPECT_EQ(seen, 3U) << "both, once";
}

void exec_exit_0() {
    const std::string program = test::this_program();
    ::execl(program.c_str(), program.c_str(), "exit", "0", nullptr);
    ::_exit(99);
}

TEST_F(CallWindows, AnExecInsideIsUnfinished) {
    EXPECT_EQ(in_child([] { in_call_window(1, [] { in_call_window(2, &exec_exit_0); }); }), 0);
    const auto windows = take();
    ASSERT_EQ(windows.size(), 2U);
    for (const auto& window : windows) {
        EXPECT_EQ(window.end, WindowEnd::unfinished);
        EXPECT_EQ(window.cause, WindowCause::exec);
    }
}

TEST_F(CallWindows, AnExecByAnotherThreadIsThatThreads) {
    EXPECT_EQ(in_child([] {
                  std::atomic<bool> inside = false;
                  std::thread([&] {
                      while (!inside)
                          std::this_thread::yield();
                      in_call_window(1, &exec_exit_0);
                  }).detach();
                  in_call_window(2, [&] {
                      inside = true;
                      ::pause();
                  });
              }),
              0);
    const auto windows = take();
    ASSERT_EQ(windows.size(), 2U);
    for (const auto& window : windows) {
        EXPECT_EQ(window.end, WindowEnd::unfinished);
        EXPECT_EQ(window.cause, WindowCause::exec) << "the other one is ended to make room";
    }
}

TEST_F(CallWindows, AForkInsideDoesNotCloseTwice) {
    in_child([] {
        in_call_window(1, [] {
            const pid_t grandchild = ::fork();
            if (grandchild != 0)
                ::waitpid(grandchild, nullptr, 0);
        });
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].end, WindowEnd::returned);
    EXPECT_EQ(lost("return_without_entry"), 1U) << "the grandchild's";
    EXPECT_EQ(lost_windows(), 0U);
}

TEST_F(CallWindows, AKillInsideIsUnfinished) {
    in_child([] { in_call_window(1, [] { ::kill(::getpid(), SIGKILL); }); });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].end, WindowEnd::unfinished);
    EXPECT_EQ(windows[0].cause, WindowCause::signal);
    EXPECT_EQ(WTERMSIG(windows[0].exit_code), SIGKILL);
}

TEST_F(CallWindows, AnOomKillInsideIsToldFromOthers) {
    const test::LimitedCgroup limited(32_MiB);
    if (!limited.place())
        SKIP_HERE(limited.why_not());
    in_child([&] {
        if (!limited.enter())
            ::_exit(test::gave_up);
        in_call_window(1, [] {
            auto* memory = static_cast<volatile char*>(
                ::mmap(nullptr, 128_MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
            for (uint64_t at = 0; at < 128_MiB; at += 4096)
                memory[at] = 1;
        });
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].end, WindowEnd::unfinished);
    EXPECT_EQ(windows[0].cause, WindowCause::oom_kill);
    EXPECT_GT(windows[0].pages_user * 4096, 24_MiB);
}

void call_from_handler(int /*signal*/) {
    in_call_window(2, [] {});
}

void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ::sigaction(signal, &action, nullptr);
}

TEST_F(CallWindows, ASignalHandlerThatCallsTheSame) {
    in_child([] {
        handle(SIGUSR1, &call_from_handler, 0);
        in_call_window(1, [] { ::raise(SIGUSR1); });
        in_call_window(3, [] {});
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_EQ(count(windows, WindowEnd::returned), 3U);
    EXPECT_EQ(windows[0].tag, 2U);
    EXPECT_EQ(windows[0].outer_entered_ns, windows[1].entered_ns);
    EXPECT_EQ(windows[1].tag, 1U);
    EXPECT_EQ(windows[1].signals, 1U);
    EXPECT_EQ(windows[2].signals, 0U);
}

// Below the ordinary stack, where the heap is. Above it the kernel's own return probes fail
// (bpf/windows.bpf.c).
void use_signal_stack() {
    static std::vector<char> memory(65536);
    stack_t stack{};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    ::sigaltstack(&stack, nullptr);
}

TEST_F(CallWindows, ASignalHandlerOnItsOwnStack) {
    in_child([&] {
        use_signal_stack();
        handle(SIGUSR1, &call_from_handler, SA_ONSTACK);
        in_call_window(1, [] { ::raise(SIGUSR1); });
        in_call_window(3, [] {});
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_EQ(count(windows, WindowEnd::returned), 3U);
    EXPECT_EQ(windows[0].tag, 2U);
    EXPECT_EQ(windows[0].outer_entered_ns, windows[1].entered_ns);
    EXPECT_EQ(windows[1].signals, 1U);
}

sigjmp_buf out_of_handler;

TEST_F(CallWindows, AJumpOutOfASignalHandlerAbandonsBoth) {
    in_child([] {
        use_signal_stack();
        handle(
            SIGUSR1, [](int) { in_call_window(2, [] { ::siglongjmp(out_of_handler, 1); }); }, SA_ONSTACK);
        if (sigsetjmp(out_of_handler, 1) == 0) // NOLINT(cert-err52-cpp)
            in_call_window(1, [] { ::raise(SIGUSR1); });
        in_call_window(3, [] {});
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_EQ(windows[0].tag, 2U);
    EXPECT_EQ(windows[0].end, WindowEnd::abandoned);
    EXPECT_EQ(windows[1].tag, 1U);
    EXPECT_EQ(windows[1].end, WindowEnd::abandoned);
    EXPECT_EQ(windows[2].end, WindowEnd::returned);
}

} // namespace
} // namespace pinscope
