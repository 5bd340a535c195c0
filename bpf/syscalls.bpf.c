// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The system calls made inside a window, with arguments, results, and the file behind a descriptor.
#include "nvidia_ioctls.h"
#include "syscall_slots.h"
#include "window.h"

#if defined(__TARGET_ARCH_x86)
// arch/x86/entry/syscalls/syscall_64.tbl: the kernel's own calls behind uprobes (6.11 on, 6.18 on), not the
// program's.
enum { FIRST_PROBE_CALL = 335, LAST_PROBE_CALL = 336 };
#define SIXTH_ARGUMENT(registers) BPF_CORE_READ(registers, r9)
#define FIFTH_ARGUMENT(registers) BPF_CORE_READ(registers, r8)
#else
enum { FIRST_PROBE_CALL = -1, LAST_PROBE_CALL = -2 };
#define SIXTH_ARGUMENT(registers) BPF_CORE_READ((const struct user_pt_regs*)registers, regs[5])
#define FIFTH_ARGUMENT(registers) BPF_CORE_READ((const struct user_pt_regs*)registers, regs[4])
#endif

static __always_inline void note_file(struct window_syscall* call, __u32 descriptor) {
    const struct task_struct___pin* task = (const void*)bpf_get_current_task();
    const struct fdtable___pin* table = BPF_CORE_READ(task, files, fdt);
    if (!table || descriptor >= BPF_CORE_READ(table, max_fds))
        return;
    struct file___pin** slots = BPF_CORE_READ(table, fd);
    struct file___pin* file = 0;
    bpf_probe_read_kernel(&file, sizeof(file), slots + descriptor);
    if (!file)
        return;
    call->device = BPF_CORE_READ(file, f_inode, i_rdev);
    const unsigned char* name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
    bpf_probe_read_kernel_str(call->file, sizeof(call->file), name);
}

SEC("?tp_btf/sys_enter")
int syscall_entered(__u64* context) {
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread)
        return 0;
    const struct pt_regs* registers = (const void*)context[0];
    long number = context[1];
    if (number < 0 || (number >= FIRST_PROBE_CALL && number <= LAST_PROBE_CALL))
        return 0;
    struct window_syscall* call = &thread->syscall;
    __builtin_memset(call, 0, sizeof(*call));
    call->number = number;
    call->arguments[0] = PT_REGS_PARM1_CORE_SYSCALL(registers);
    call->arguments[1] = PT_REGS_PARM2_CORE_SYSCALL(registers);
    call->arguments[2] = PT_REGS_PARM3_CORE_SYSCALL(registers);
    call->arguments[3] = PT_REGS_PARM4_CORE_SYSCALL(registers);
    call->arguments[4] = FIFTH_ARGUMENT(registers);
    call->arguments[5] = SIXTH_ARGUMENT(registers);
    __u32 which = number < SYSCALL_NUMBERS ? descriptor_argument[number] : 0;
    if (which == 1)
        note_file(call, call->arguments[0]);
    else if (which == 5)
        note_file(call, call->arguments[4]);
    thread->in_syscall = 1;
    return 0;
}

SEC("?tp_btf/sys_exit")
int syscall_left(__u64* context) {
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread || !thread->in_syscall)
        return 0;
    thread->in_syscall = 0;
    thread->syscall.result = context[1];
    note_nvidia_ioctl(tid);
    note_syscall(innermost_window(thread, tid), &thread->syscall, 0);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
