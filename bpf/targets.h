/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * Whether the current process is watched.
 */
#pragma once

#include "maps.h"

enum { CGROUP_LEVELS = 32 };

/* 1: target_cgroups has entries. */
const volatile __u32 watch_cgroups __weak = 0;

static __always_inline struct cgroup_subsys_state___pin* memory_css(const struct task_struct___pin* task) {
    const struct css_set___pin* set = BPF_CORE_READ(task, cgroups);
    struct cgroup_subsys_state___pin* css = 0;
    __u32 controller = bpf_core_enum_value(enum cgroup_subsys_id___pin, memory_cgrp_id___pin);
    const void* slot = __builtin_preserve_access_index(&set->subsys);
    bpf_probe_read_kernel(&css, sizeof(css), slot + controller * sizeof(css));
    return css;
}

static __always_inline int is_watched_cgroup(const struct task_struct___pin* task) {
    struct cgroup_subsys_state___pin* css = memory_css(task);
    for (int level = 0; level < CGROUP_LEVELS && css; ++level) {
        __u64 id = BPF_CORE_READ(css, cgroup, kn, id);
        if (bpf_map_lookup_elem(&target_cgroups, &id))
            return 1;
        css = BPF_CORE_READ(css, parent);
    }
    return 0;
}

static __always_inline int is_watched(void) {
    __u32 tgid = bpf_get_current_pid_tgid() >> 32;
    if (bpf_map_lookup_elem(&target_processes, &tgid))
        return 1;
    return watch_cgroups && is_watched_cgroup((const void*)bpf_get_current_task());
}
