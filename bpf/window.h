/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * The innermost open window of the current thread: what programs on other hooks add to.
 */
#pragma once

#include "maps.h"

static __always_inline struct window_record* innermost_window(const struct thread_windows* thread,
                                                              __u32 tid) {
    struct window_key key = {.tid = tid, .depth = thread->depth};
    return bpf_map_lookup_elem(&open_windows, &key);
}

/* NULL for a thread without a window, which is nearly every thread. */
static __always_inline struct thread_windows* current_thread(void) {
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline struct window_record* current_window(void) {
    const struct thread_windows* thread = current_thread();
    return thread ? innermost_window(thread, (__u32)bpf_get_current_pid_tgid()) : 0;
}
