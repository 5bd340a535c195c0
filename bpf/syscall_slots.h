/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * The system calls of a window: equal ones (number, error, file) share a slot.
 */
#pragma once

#include "maps.h"

static __always_inline __s64 error_of(__s64 result) {
    return result < 0 && result >= -4095 ? result : 0;
}

static __always_inline int same_file(const struct window_syscall* a, const struct window_syscall* b) {
    const __u64* left = (const __u64*)a->file;
    const __u64* right = (const __u64*)b->file;
    return a->device == b->device && left[0] == right[0] && left[1] == right[1];
}

static __noinline int note_syscall(struct window_record* window, const struct window_syscall* call,
                                   __u32 unfinished) {
    if (!window || !call)
        return 0;
    for (__u32 i = 0; i < SYSCALL_SLOTS; ++i) {
        struct window_syscall* slot = &window->syscalls[i];
        if (i >= window->syscall_slots) {
            *slot = *call;
            slot->count = 1;
            slot->unfinished = unfinished;
            window->syscall_slots = i + 1;
            return 0;
        }
        if (slot->number == call->number && slot->unfinished == unfinished &&
            error_of(slot->result) == error_of(call->result) && same_file(slot, call)) {
            slot->count += 1;
            return 0;
        }
    }
    window->syscalls_dropped += 1;
    return 0;
}
