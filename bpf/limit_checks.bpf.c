// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Who asked for CAP_IPC_LOCK inside a window, and what the functions that look at limits answered. Two ways:
// the tracepoint capability:cap_capable (6.14 on), and the functions themselves, by fexit or by kprobe and
// kretprobe.
#include "window.h"

struct call_key {
    __u32 tid;
    __u32 function;
};

// Where only kprobes can be had: what was passed to a function that has not returned yet.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, struct call_key);
    __type(value, struct window_check);
} entered_calls SEC(".maps");

static __always_inline int same_check(const struct window_check* a, const struct window_check* b) {
    if (a->function != b->function || a->result != b->result)
        return 0;
    for (int i = 0; i < STACK_FRAMES; ++i)
        if (a->stack[i] != b->stack[i])
            return 0;
    return 1;
}

// Adds the check that was put together for a thread to its innermost window. Not static, so that the verifier
// goes through it once and not for each of the many programs that call it.
__noinline int note_check(__u32 tid) {
    struct thread_windows* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread)
        return 0;
    struct window_record* window = innermost_window(thread, tid);
    if (!window)
        return 0;
    const struct window_check* check = &thread->check;
    for (__u32 i = 0; i < CHECK_SLOTS; ++i) {
        struct window_check* slot = &window->checks[i];
        if (i >= window->check_slots) {
            *slot = *check;
            slot->count = 1;
            window->check_slots = i + 1;
            return 0;
        }
        if (same_check(slot, check)) {
            slot->count += 1;
            return 0;
        }
    }
    window->checks_dropped += 1;
    return 0;
}

static __always_inline struct window_check* new_check(struct thread_windows* thread, __u32 function,
                                                      __u64 first, __u64 second, __u64 third) {
    struct window_check* check = &thread->check;
    __builtin_memset(check, 0, sizeof(*check));
    check->function = function;
    check->arguments[0] = first;
    check->arguments[1] = second;
    check->arguments[2] = third;
    check->syscall = thread->in_syscall ? thread->syscall.number : NO_SYSCALL;
    return check;
}

SEC("?tp_btf/cap_capable")
int capability_asked(__u64* context) {
    if ((int)context[3] != PINSCOPE_CAP_IPC_LOCK)
        return 0;
    struct thread_windows* thread = current_thread();
    if (!thread)
        return 0;
    struct window_check* check = new_check(thread, FUNCTION_cap_capable, 0, 0, PINSCOPE_CAP_IPC_LOCK);
    check->result = (int)context[4];
    bpf_get_stack(context, check->stack, sizeof(check->stack), 0);
    note_check(bpf_get_current_pid_tgid());
    return 0;
}

// --- The function tier
// ------------------------------------------------------------------------------------------------

// `slot` is memory of a map: the verifier lets nothing be computed with a pointer that a function returned,
// but forgets that it is one on this way.
static __always_inline __s64 typed_result(__u32 kind, __u64 result, volatile __s64* slot) {
    switch (kind) {
    case RESULT_BOOL:
        return result & 0xff;
    case RESULT_POINTER:
        *slot = result;
        return *slot < 0 && *slot >= -4095 ? *slot : 0;
    default:
        return (int)result;
    }
}

static __always_inline int is_failure(__u32 kind, __s64 result) {
    return kind == RESULT_BOOL || kind == RESULT_ALLOWS ? result == 0 : result < 0;
}

// Adds one call to the sums, and to the checks where the function is one. `check` has its arguments, and its
// stack where it is security_capable.
static __always_inline int function_returned(struct window_record* window, __u32 function, __u32 kind,
                                             struct window_check* check, __u64 raw_result) {
    if (!window)
        return 0;
    __s64 result = typed_result(kind, raw_result, &check->result);
    struct window_calls* calls = &window->functions[function];
    calls->calls += 1;
    if (kind == RESULT_DRIVER_1 || kind == RESULT_DRIVER_2) {
        if ((__u32)raw_result != 0)
            calls->failed += 1;
        else
            calls->pages += check->arguments[kind == RESULT_DRIVER_1 ? 0 : 1];
        return 0;
    }
    if (kind == RESULT_VOID) {
        calls->pages += function == FUNCTION_unpin_user_page ? 1 : check->arguments[1];
        return 0;
    }
    if (is_failure(kind, result))
        calls->failed += 1;
    else if (kind == RESULT_PINS)
        calls->pages += result;
    if (kind == RESULT_CHARGE && result < 0)
        calls->pages += check->arguments[2];
    if (kind == RESULT_PINS || kind == RESULT_CHARGE)
        return 0;
    check->result = result;
    note_check(bpf_get_current_pid_tgid());
    return 0;
}

// One word of a fexit program's context: the arguments, then the result. The verifier wants its place in the
// instruction itself, and the compiler would compute it where it is written as a variable index.
#define CONTEXT_WORD(n)                                                                                      \
    case n:                                                                                                  \
        asm volatile("%0 = *(u64 *)(%1 + " #n " * 8)" : "=r"(word) : "r"(context));                          \
        break;

static __always_inline __u64 context_word(__u64* context, __u32 n) {
    __u64 word = 0;
    switch (n) {
        CONTEXT_WORD(0)
        CONTEXT_WORD(1)
        CONTEXT_WORD(2)
        CONTEXT_WORD(3)
        CONTEXT_WORD(4)
        CONTEXT_WORD(5)
        CONTEXT_WORD(6)
    }
    return word;
}

// Only arguments that are used are read: until 6.18 the verifier refuses to read a pointer to a pointer.
static __always_inline int is_argument_used(__u32 function, __u32 kind, __u32 n) {
    if (kind == RESULT_PINS)
        return 0;
    if (kind == RESULT_DRIVER_1 || kind == RESULT_DRIVER_2)
        return n == (kind == RESULT_DRIVER_1 ? 0 : 1);
    if (kind == RESULT_VOID)
        return n == 1 && function != FUNCTION_unpin_user_page;
    return 1;
}

static __always_inline __u64 fexit_argument(__u64* context, __u32 function, __u32 kind, __u32 n) {
    return is_argument_used(function, kind, n) && argument_count[function] > n ? context_word(context, n) : 0;
}

static __always_inline int is_of_interest(__u32 function, __u64 third) {
    return function != FUNCTION_security_capable || (int)third == PINSCOPE_CAP_IPC_LOCK;
}

static __always_inline int on_fexit(__u64* context, __u32 function, __u32 kind) {
    __u64 third = fexit_argument(context, function, kind, 2);
    if (!is_of_interest(function, third))
        return 0;
    struct thread_windows* thread = current_thread();
    if (!thread)
        return 0;
    struct window_check* check = new_check(thread, function, fexit_argument(context, function, kind, 0),
                                           fexit_argument(context, function, kind, 1), third);
    if (function == FUNCTION_security_capable)
        bpf_get_stack(context, check->stack, sizeof(check->stack), 0);
    __u64 result = kind == RESULT_VOID ? 0 : context_word(context, argument_count[function]);
    return function_returned(current_window(), function, kind, check, result);
}

static __always_inline int on_kprobe(struct pt_regs* registers, __u32 function) {
    __u64 third = PT_REGS_PARM3(registers);
    if (!is_of_interest(function, third))
        return 0;
    struct thread_windows* thread = current_thread();
    if (!thread)
        return 0;
    struct window_check* check =
        new_check(thread, function, PT_REGS_PARM1(registers), PT_REGS_PARM2(registers), third);
    if (function == FUNCTION_security_capable)
        bpf_get_stack(registers, check->stack, sizeof(check->stack), 0);
    struct call_key key = {.tid = (__u32)bpf_get_current_pid_tgid(), .function = function};
    bpf_map_update_elem(&entered_calls, &key, check, BPF_ANY);
    return 0;
}

static __always_inline int on_kretprobe(struct pt_regs* registers, __u32 function, __u32 kind) {
    struct thread_windows* thread = current_thread();
    if (!thread)
        return 0;
    struct call_key key = {.tid = (__u32)bpf_get_current_pid_tgid(), .function = function};
    const struct window_check* entered = bpf_map_lookup_elem(&entered_calls, &key);
    if (!entered)
        return 0;
    thread->check = *entered;
    function_returned(current_window(), function, kind, &thread->check, PT_REGS_RC(registers));
    bpf_map_delete_elem(&entered_calls, &key);
    return 0;
}

#define FUNCTION_PROGRAMS(name, kind)                                                                        \
    SEC("?fexit/" #name) int fexit_##name(__u64* context) {                                                  \
        return on_fexit(context, FUNCTION_##name, RESULT_##kind);                                            \
    }                                                                                                        \
    SEC("?kprobe/" #name) int kprobe_##name(struct pt_regs* registers) {                                     \
        return on_kprobe(registers, FUNCTION_##name);                                                        \
    }                                                                                                        \
    SEC("?kretprobe/" #name) int kretprobe_##name(struct pt_regs* registers) {                               \
        return on_kretprobe(registers, FUNCTION_##name, RESULT_##kind);                                      \
    }
PINSCOPE_FUNCTIONS(FUNCTION_PROGRAMS)

char LICENSE[] SEC("license") = "GPL";
