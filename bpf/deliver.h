/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * The end of a window: takes it off its thread's stack and sends it.
 */
#pragma once

#include "budgets.h"
#include "syscall_slots.h"
#include "window.h"

static __always_inline void send_window(struct window_record* window) {
    if (bpf_ringbuf_output(&window_ring, window, sizeof(*window), 0))
        count_loss(LOST_RING_FULL);
}

/* Ends the innermost window of a thread; its depth becomes one less. Not static, so that the verifier goes
 * through it once and not at every call: it takes numbers only, since until 5.12 such a function may take
 * nothing else. */
__noinline int end_window(__u32 tid, __u32 end, __u32 cause, __u32 exit_code) {
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread)
        return 0;
    struct window_record* window = innermost_window(thread, tid);
    struct window_key key = {.tid = tid, .depth = thread->depth};
    if (window) {
        window->left_ns = bpf_ktime_get_ns();
        window->end = end;
        window->cause = cause;
        window->exit_code = exit_code;
        if (thread->in_syscall)
            note_syscall(window, &thread->syscall, 1);
        read_budgets(&window->after);
        send_window(window);
        bpf_map_delete_elem(&open_windows, &key);
    }
    thread->in_syscall = 0;
    if (thread->depth > 0)
        thread->depth -= 1;
    return 0;
}

/* Ends all windows of a thread. */
static __always_inline void end_thread(__u32 tid, __u32 cause, __u32 exit_code) {
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread)
        return;
    for (int i = 0; i < WINDOWS_PER_THREAD && thread->depth > 0; ++i)
        end_window(tid, ENDED_UNFINISHED, cause, exit_code);
    bpf_map_delete_elem(&threads, &tid);
}
