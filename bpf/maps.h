/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * Every map and every setting that more than one program uses. `__weak`: each file that includes this defines
 * them, and bpftool's linker makes one of all. Sizes are set by user space before the load.
 */
#pragma once

#include "compat.h"
#include "events.h"

/* The windows' way out. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 20);
} window_ring __weak SEC(".maps");

/* One thread with open windows. */
struct thread_windows {
    __u64 stack_pointers[WINDOWS_PER_THREAD];
    __u32 depth;
    __u32 in_syscall; /* 1: `syscall` was entered in the innermost window and has not returned */
    struct window_syscall syscall;
    struct window_check check; /* being put together: too large for a program's stack */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, __u32); /* tid, in the initial pid namespace */
    __type(value, struct thread_windows);
} threads __weak SEC(".maps");

struct window_key {
    __u32 tid;
    __u32 depth;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, struct window_key);
    __type(value, struct window_record);
} open_windows __weak SEC(".maps");

/* The processes that are watched, by tgid: those that user space named, and what they started since. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __u32);
    __type(value, __u8);
} target_processes __weak SEC(".maps");

/* The memory cgroups that are watched, with all below them, by kernfs id. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, __u64);
    __type(value, __u8);
} target_cgroups __weak SEC(".maps");

/* enum loss; one sum a CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, LOST_COUNT);
    __type(key, __u32);
    __type(value, __u64);
} losses __weak SEC(".maps");

/* By syscall number: 1 + which argument is a file descriptor, 0 without one. */
const volatile __u8 descriptor_argument[SYSCALL_NUMBERS] __weak = {};

/* By enum kernel_function: how many arguments it takes on this kernel; its result comes after them (fexit).
 */
const volatile __u32 argument_count[FUNCTION_COUNT] __weak = {};

static __always_inline void count_loss(__u32 reason) {
    __u64* sum = bpf_map_lookup_elem(&losses, &reason);
    if (sum)
        *sum += 1;
}
