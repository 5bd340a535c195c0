// SPDX-License-Identifier: Apache-2.0
// What a session of probes watches, and what it delivers or counts as lost when there is too much.
#include "base/bytes.h"
#include "kernel/call_window_fixture.h"
#include "kernel/test_cgroups.h"
#include "support/skip.h"

#include <atomic>
#include <optional>

namespace pinscope {
namespace {

using probes::Session;
using probes::SessionOptions;
using run::in_call_window;
using test::call_in_threads;
using test::count;
using test::in_child;

// These have one of their own, opened when they say so.
class CallWindowSession : public test::WindowTest {
  protected:
    void open(const SessionOptions& wanted = test::window_options()) {
        if (const auto why = test::why_no_windows(); !why.empty())
            SKIP_HERE(why);
        own_.emplace(wanted);
        use(*own_);
    }

  private:
    std::optional<Session> own_;
};

TEST_F(CallWindowSession, ACallUnderWayAtAttachIsNotSeen) {
    std::atomic<int> at{0};
    std::thread thread([&] {
        in_call_window(1, [&] {
            at = 1;
            while (at != 2)
                std::this_thread::yield();
        });
        in_call_window(2, [] {});
    });
    while (at != 1)
        std::this_thread::yield();
    open();
    at = 2;
    thread.join();
    if (IsSkipped())
        return;
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].tag, 2U);
    EXPECT_EQ(windows[0].end, WindowEnd::returned);
    EXPECT_EQ(lost_windows(), 0U);
}

TEST_F(CallWindowSession, AThousandThreads) {
    auto wanted = test::window_options();
    wanted.open_windows = 1024;
    wanted.ring_bytes = 16U << 20;
    open(wanted);
    if (IsSkipped())
        return;
    in_child([] { call_in_threads(1000); });
    const auto windows = take();
    EXPECT_EQ(windows.size(), 1000U);
    EXPECT_EQ(count(windows, WindowEnd::returned), 1000U);
    EXPECT_EQ(lost_windows(), 0U);
    EXPECT_EQ(lost("return_without_entry"), 0U);
}

TEST_F(CallWindowSession, ATinyRingDeliversOrCounts) {
    auto wanted = test::window_options();
    wanted.ring_bytes = 16U << 10;
    open(wanted);
    if (IsSkipped())
        return;
    in_child([] {
        for (uint64_t i = 0; i < 100; ++i)
            in_call_window(i, [] {});
    });
    const auto windows = take();
    EXPECT_GT(windows.size(), 0U);
    EXPECT_GT(lost("ring_full"), 0U);
    EXPECT_EQ(windows.size() + lost_windows(), 100U);
    in_child([] { in_call_window(7, [] {}); });
    EXPECT_EQ(take().size(), 1U) << "after it was drained there is room again";
}

TEST_F(CallWindowSession, FewOpenWindowsAreDeliveredOrCounted) {
    auto wanted = test::window_options();
    wanted.open_windows = 4;
    open(wanted);
    if (IsSkipped())
        return;
    in_child([] { call_in_threads(12); });
    const auto windows = take();
    EXPECT_GE(windows.size(), 4U);
    EXPECT_GT(lost("no_room_for_thread") + lost("no_room_for_window"), 0U);
    EXPECT_EQ(windows.size() + lost_windows(), 12U);
}

TEST_F(CallWindowSession, OthersAreNotWatched) {
    auto wanted = test::window_options();
    wanted.watch_self = false;
    open(wanted);
    if (IsSkipped())
        return;
    in_child([] { in_call_window(1, [] {}); });
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(lost_windows(), 0U);
}

TEST_F(CallWindowSession, ACgroupIsWatchedWithAllBelow) {
    const test::LimitedCgroup limited(64_MiB);
    if (!limited.place())
        SKIP_HERE(limited.why_not());
    const auto id = test::cgroup_id(limited.place()->folder);
    ASSERT_NE(id, 0U);
    auto wanted = test::window_options();
    wanted.watch_self = false;
    wanted.cgroups = {id};
    open(wanted);
    if (IsSkipped())
        return;
    in_child([] { in_call_window(1, [] {}); });
    in_child([&] {
        if (limited.enter())
            in_call_window(2, [] {});
    });
    const auto windows = take();
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].tag, 2U);
}

} // namespace
} // namespace pinscope
