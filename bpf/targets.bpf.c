// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Which processes are watched: follows those that user space named through fork and exit.
#include "targets.h"

// Run by user space (BPF_PROG_TEST_RUN), in its own context: the only way for it to learn and name itself in
// the initial pid namespace.
SEC("?raw_tp")
int watch_caller(void* context) {
    __u32 tgid = bpf_get_current_pid_tgid() >> 32;
    __u8 yes = 1;
    return bpf_map_update_elem(&target_processes, &tgid, &yes, BPF_ANY);
}

SEC("?tp_btf/sched_process_fork")
int process_forked(__u64* context) {
    const struct task_struct___pin* parent = (const void*)context[0];
    const struct task_struct___pin* child = (const void*)context[1];
    __u32 from = BPF_CORE_READ(parent, tgid);
    __u32 to = BPF_CORE_READ(child, tgid);
    if (from == to || !bpf_map_lookup_elem(&target_processes, &from))
        return 0;
    __u8 yes = 1;
    if (bpf_map_update_elem(&target_processes, &to, &yes, BPF_ANY))
        count_loss(LOST_NO_ROOM_FOR_PROCESS);
    return 0;
}

SEC("?tp_btf/sched_process_free")
int process_freed(__u64* context) {
    const struct task_struct___pin* task = (const void*)context[0];
    __u32 tgid = BPF_CORE_READ(task, tgid);
    if ((__u32)BPF_CORE_READ(task, pid) == tgid)
        bpf_map_delete_elem(&target_processes, &tgid);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
