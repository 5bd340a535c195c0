/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * What the kernel has counted for the current process and its user, and the limits. BUDGET_UNKNOWN where this
 * kernel has no such field, or the process has no memory any more.
 */
#pragma once

#include "targets.h"

/* One element of an array of counters, whose index is known when the program is loaded. */
static __always_inline __u64 counter_at(const void* counters, __u64 index) {
    long value = 0;
    if (bpf_probe_read_kernel(&value, sizeof(value), counters + index * sizeof(value)))
        return BUDGET_UNKNOWN;
    return value;
}

static __always_inline void read_user_memlock(const struct cred___pin* cred, struct window_budgets* budgets) {
    budgets->user_memlock_pages = BUDGET_UNKNOWN;
    if (bpf_core_enum_value_exists(enum rlimit_type___6_0, UCOUNT_RLIMIT_MEMLOCK___6_0)) {
        const struct ucounts___6_0* counts = (const void*)BPF_CORE_READ(cred, ucounts);
        budgets->user_memlock_pages =
            counter_at(__builtin_preserve_access_index(&counts->rlimit),
                       bpf_core_enum_value(enum rlimit_type___6_0, UCOUNT_RLIMIT_MEMLOCK___6_0));
    } else if (bpf_core_enum_value_exists(enum ucount_type___5_15, UCOUNT_RLIMIT_MEMLOCK___5_15)) {
        const struct ucounts___5_15* counts = (const void*)BPF_CORE_READ(cred, ucounts);
        budgets->user_memlock_pages =
            counter_at(__builtin_preserve_access_index(&counts->ucount),
                       bpf_core_enum_value(enum ucount_type___5_15, UCOUNT_RLIMIT_MEMLOCK___5_15));
    } else if (bpf_core_field_exists(struct user_struct___5_10, locked_shm)) {
        const struct user_struct___5_10* user = (const void*)BPF_CORE_READ(cred, user);
        budgets->user_memlock_pages = BPF_CORE_READ(user, locked_shm);
    }
}

static __noinline int read_budgets(struct window_budgets* budgets) {
    if (!budgets)
        return 0;
    const struct task_struct___pin* task = (const void*)bpf_get_current_task();
    const struct mm_struct___pin* mm = BPF_CORE_READ(task, mm);
    budgets->locked_vm_pages = mm ? BPF_CORE_READ(mm, locked_vm) : BUDGET_UNKNOWN;
    budgets->pinned_vm_pages = mm ? BPF_CORE_READ(mm, pinned_vm.counter) : BUDGET_UNKNOWN;
    const struct cred___pin* cred = BPF_CORE_READ(task, cred);
    budgets->user_locked_vm_pages = bpf_core_field_exists(struct user_struct___pin, locked_vm)
                                        ? BPF_CORE_READ(cred, user, locked_vm.counter)
                                        : BUDGET_UNKNOWN;
    read_user_memlock(cred, budgets);
    const struct signal_struct___pin* signal = BPF_CORE_READ(task, signal);
    budgets->memlock_soft = BPF_CORE_READ(signal, rlim[PINSCOPE_RLIMIT_MEMLOCK].rlim_cur);
    budgets->memlock_hard = BPF_CORE_READ(signal, rlim[PINSCOPE_RLIMIT_MEMLOCK].rlim_max);
    const struct mem_cgroup___pin* cgroup = (const void*)memory_css(task);
    budgets->cgroup_usage_pages = cgroup ? BPF_CORE_READ(cgroup, memory.usage.counter) : BUDGET_UNKNOWN;
    return 0;
}
