// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Call windows: from entry to return of one call on one thread. Nested calls make a stack, kept by stack
// pointer:
//
//      entry, stack pointer below that of the innermost window:   one more window, inside
//      entry, at or above it:       that window was left without a return (longjmp): it is abandoned
//      return:                      windows below its stack pointer are abandoned, the one at it has returned
//      return that matches none:    its entry was not seen; counted
//      the thread ends, or execs:   all its windows are unfinished
//
// That is the rule by which the kernel drops what it keeps for return probes (kernel/events/uprobes.c
// cleanup_return_instances), so it is the only one that can be right here. Its price is the kernel's: a call
// on another stack that lies above the open one's (sigaltstack, coroutines) ends the program with SIGILL at
// the outer return.
#include "deliver.h"

// Never written.
static const struct thread_windows no_windows;
static const struct window_record new_window;

#if defined(__TARGET_ARCH_x86)
enum { RETURN_ADDRESS_BYTES = 8 }; // popped by the return
#else
enum { RETURN_ADDRESS_BYTES = 0 };
#endif

// An index that the verifier believes in: the barrier keeps the compiler from leaving the mask out where it
// knows better.
static __always_inline __u64 bounded(__u64 index) {
    barrier_var(index);
    return index & (WINDOWS_PER_THREAD - 1);
}

// `at_entry`: of a new call, which must be deeper; else of a return, whose own window is not over.
static __always_inline void abandon_left(struct thread_windows* thread, __u32 tid, __u64 stack_pointer,
                                         int at_entry) {
    for (int i = 0; i < WINDOWS_PER_THREAD; ++i) {
        __u32 top = thread->depth - 1;
        if (top >= WINDOWS_PER_THREAD)
            return;
        __u64 open = thread->stack_pointers[bounded(top)];
        if (at_entry ? stack_pointer < open : stack_pointer <= open)
            return;
        end_window(tid, ENDED_ABANDONED, CAUSE_NONE, 0);
    }
}

static __always_inline void open_window(struct thread_windows* thread, __u32 tid, __u64 tag,
                                        __u64 stack_pointer) {
    __u32 depth = thread->depth;
    if (depth >= WINDOWS_PER_THREAD) {
        count_loss(LOST_TOO_DEEP);
        return;
    }
    const struct window_record* outer = depth ? innermost_window(thread, tid) : 0;
    __u64 outer_entered_ns = outer ? outer->entered_ns : 0;
    struct window_key key = {.tid = tid, .depth = depth + 1};
    if (bpf_map_update_elem(&open_windows, &key, &new_window, BPF_ANY)) {
        count_loss(LOST_NO_ROOM_FOR_WINDOW);
        return;
    }
    struct window_record* window = bpf_map_lookup_elem(&open_windows, &key);
    if (!window)
        return;
    thread->stack_pointers[bounded(depth)] = stack_pointer;
    thread->depth = depth + 1;
    window->tag = tag;
    window->outer_entered_ns = outer_entered_ns;
    window->stack_pointer = stack_pointer;
    window->tid = tid;
    window->tgid = bpf_get_current_pid_tgid() >> 32;
    read_budgets(&window->before);
    window->entered_ns = bpf_ktime_get_ns();
}

SEC("?uprobe")
int call_entered(struct pt_regs* registers) {
    if (!is_watched())
        return 0;
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    __u64 stack_pointer = PT_REGS_SP(registers);
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread) {
        bpf_map_update_elem(&threads, &tid, &no_windows, BPF_ANY);
        thread = bpf_map_lookup_elem(&threads, &tid);
        if (!thread) {
            count_loss(LOST_NO_ROOM_FOR_THREAD);
            return 0;
        }
    }
    abandon_left(thread, tid, stack_pointer, 1);
    open_window(thread, tid, PT_REGS_PARM1(registers), stack_pointer);
    if (thread->depth == 0)
        bpf_map_delete_elem(&threads, &tid);
    return 0;
}

SEC("?uretprobe")
int call_returned(struct pt_regs* registers) {
    __u32 tid = (__u32)bpf_get_current_pid_tgid();
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread) {
        if (is_watched())
            count_loss(LOST_RETURN_WITHOUT_ENTRY);
        return 0;
    }
    __u64 stack_pointer = PT_REGS_SP(registers) - RETURN_ADDRESS_BYTES;
    abandon_left(thread, tid, stack_pointer, 0);
    __u32 top = thread->depth - 1;
    if (top < WINDOWS_PER_THREAD && thread->stack_pointers[bounded(top)] == stack_pointer)
        end_window(tid, ENDED_RETURNED, CAUSE_NONE, 0);
    else if (top != WINDOWS_PER_THREAD - 1) // else of a call that was too deep, counted at its entry
        count_loss(LOST_RETURN_WITHOUT_ENTRY);
    if (thread->depth == 0)
        bpf_map_delete_elem(&threads, &tid);
    return 0;
}

// Whether another thread of the process execs: all others are ended for it (fs/exec.c de_thread).
static __always_inline int makes_room_for_exec(const struct task_struct___pin* task) {
    const struct signal_struct___pin* signal = BPF_CORE_READ(task, signal);
    if (bpf_core_field_exists(struct signal_struct___5_17, group_exec_task)) {
        const struct signal_struct___5_17* new_signal = (const void*)signal;
        return BPF_CORE_READ(new_signal, group_exec_task) != 0;
    }
    // Until 5.16 the field is also used by an exit of the whole process, which sets a flag besides.
    const struct signal_struct___5_10* old_signal = (const void*)signal;
    return bpf_core_field_exists(struct signal_struct___5_10, group_exit_task) &&
           BPF_CORE_READ(old_signal, group_exit_task) &&
           !(BPF_CORE_READ(old_signal, flags) & PINSCOPE_SIGNAL_GROUP_EXIT);
}

SEC("?tp_btf/sched_process_exit")
int thread_ended(__u64* context) {
    const struct task_struct___pin* task = (const void*)context[0];
    __u32 tid = BPF_CORE_READ(task, pid);
    if (!bpf_map_lookup_elem(&threads, &tid))
        return 0;
    __u32 code = BPF_CORE_READ(task, exit_code);
    __u32 cause = (code & 0x7f) == 0 ? CAUSE_EXIT : CAUSE_SIGNAL;
    if (cause == CAUSE_EXIT && makes_room_for_exec(task))
        cause = CAUSE_EXEC;
    if (cause == CAUSE_SIGNAL && BPF_CORE_READ(task, signal, oom_mm))
        cause = CAUSE_OOM_KILL;
    end_thread(tid, cause, code);
    return 0;
}

// The thread that execs may have been another than the first; it had another number then.
SEC("?tp_btf/sched_process_exec")
int program_replaced(__u64* context) {
    end_thread((__u32)context[1], CAUSE_EXEC, 0);
    return 0;
}

SEC("?tp_btf/signal_deliver")
int signal_delivered(__u64* context) {
    struct window_record* window = current_window();
    if (!window)
        return 0;
    const struct k_sigaction___pin* action = (const void*)context[2];
    if ((unsigned long)BPF_CORE_READ(action, sa.sa_handler) > 1) // neither SIG_DFL nor SIG_IGN
        window->signals += 1;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
