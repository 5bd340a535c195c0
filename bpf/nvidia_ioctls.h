/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * The ioctls of NVIDIA's devices: the caller's structure is copied as it is when the call returns, because
 * what became of the request is in it (the ioctl itself returns 0 when the driver refused). User space reads
 * it (userspace/probes/nvidia_ioctl.h).
 */
#pragma once

#include "window.h"

enum {
#if defined(__TARGET_ARCH_x86)
    IOCTL_NUMBER = 16,
#else
    IOCTL_NUMBER = 29,
#endif
    UVM_BYTES = 64, /* its commands carry no size; what is decoded lies at the beginning */
    UVM_LEAST_BYTES = 16,
    ESCAPE_ALLOC = 0x2b,
    ESCAPE_TRANSFER = 211,
};

/* NV_ESC_IOCTL_XFER_CMD: another command, whose size does not fit an ioctl's number. */
struct transfer {
    __u32 command;
    __u32 bytes;
    __u64 data;
};

static __always_inline int is_uvm(const struct window_syscall* call) {
    static const char name[] = "nvidia-uvm";
    for (__u32 i = 0; i < sizeof(name); ++i)
        if (call->file[i] != name[i])
            return 0;
    return 1;
}

static __always_inline void copy_from_caller(struct window_ioctl* slot, void* to, __u64 bytes, __u64 from) {
    if (bpf_probe_read_user(to, bytes, (const void*)from))
        slot->faults += 1;
}

/* Not static: the verifier goes through it once. */
__noinline int note_nvidia_ioctl(__u32 tid) {
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread || thread->syscall.number != IOCTL_NUMBER)
        return 0;
    const struct window_syscall* call = &thread->syscall;
    int uvm = is_uvm(call);
    if (!uvm && call->device >> 20 != NVIDIA_MAJOR)
        return 0;
    struct window_record* window = innermost_window(thread, tid);
    if (!window)
        return 0;
    __u32 used = window->ioctl_slots;
    if (used >= IOCTL_SLOTS) {
        window->ioctls_dropped += 1;
        return 0;
    }
    struct window_ioctl* slot = &window->ioctls[used];
    __u64 from = call->arguments[2];
    slot->command = call->arguments[1];
    slot->device = call->device;
    slot->result = call->result;
    slot->bytes = uvm ? UVM_BYTES : (slot->command >> 16) & 0x3fff;
    if (!uvm && (slot->command & 0xff) == ESCAPE_TRANSFER) {
        struct transfer transfer = {};
        copy_from_caller(slot, &transfer, sizeof(transfer), from);
        slot->command = transfer.command & 0xff;
        slot->bytes = transfer.bytes;
        from = transfer.data;
    }
    __u64 bytes = slot->bytes;
    barrier_var(bytes); /* the value that is compared is the one that is used */
    if (bytes > IOCTL_DATA_BYTES)
        bytes = IOCTL_DATA_BYTES;
    if (uvm && bpf_probe_read_user(slot->data, UVM_BYTES, (const void*)from)) {
        slot->bytes = UVM_LEAST_BYTES;
        bytes = UVM_LEAST_BYTES;
    }
    copy_from_caller(slot, slot->data, bytes, from);
    if (!uvm && (slot->command & 0xff) == ESCAPE_ALLOC && bytes >= 24) {
        __u64 parameters = *(const __u64*)(slot->data + 16);
        if (parameters)
            copy_from_caller(slot, slot->parameters, IOCTL_PARAMETERS_BYTES, parameters);
    }
    window->ioctl_slots = used + 1;
    return 0;
}
