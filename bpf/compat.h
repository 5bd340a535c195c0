/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * Every kernel type whose fields are read, declared with those fields only. libbpf finds their places in the
 * running kernel's BTF when the programs are loaded (CO-RE), and drops what follows the ___: so the object
 * does not depend on the kernel it was built on, and two layouts of one type can stand beside each other.
 */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct counter___pin {
    long counter;
};

struct mm_struct___pin {
    unsigned long locked_vm;
    struct {
        long counter;
    } pinned_vm;
};

struct rlimit___pin {
    unsigned long rlim_cur;
    unsigned long rlim_max;
};

struct signal_struct___pin {
    struct rlimit___pin rlim[16];
    struct mm_struct___pin* oom_mm; /* set when the OOM killer chose the process */
    int group_exit_code;
};

struct signal_struct___5_17 {
    struct task_struct* group_exec_task;
};

struct signal_struct___5_10 {
    struct task_struct* group_exit_task;
    unsigned int flags;
};

struct user_struct___pin {
    struct {
        long counter;
    } locked_vm;
};

struct user_struct___5_10 {
    unsigned long locked_shm;
};

struct ucounts___5_15 { /* with UCOUNT_RLIMIT_MEMLOCK among enum ucount_type */
    struct counter___pin ucount[64];
};

struct ucounts___6_0 { /* with UCOUNT_RLIMIT_MEMLOCK among enum rlimit_type */
    struct counter___pin rlimit[8];
};

struct cred___pin {
    struct user_struct___pin* user;
    struct ucounts* ucounts;
};

struct kernfs_node___pin {
    unsigned long long id;
};

struct cgroup___pin {
    struct kernfs_node___pin* kn;
};

struct cgroup_subsys_state___pin {
    struct cgroup___pin* cgroup;
    struct cgroup_subsys_state___pin* parent;
};

struct css_set___pin {
    struct cgroup_subsys_state___pin* subsys[16];
};

struct page_counter___pin {
    struct {
        long counter;
    } usage;
};

struct mem_cgroup___pin {
    struct cgroup_subsys_state___pin css; /* the first member on every kernel */
    struct page_counter___pin memory;
};

struct qstr___pin {
    const unsigned char* name;
};

struct dentry___pin {
    struct qstr___pin d_name;
};

struct path___pin {
    struct dentry___pin* dentry;
};

struct inode___pin {
    unsigned int i_rdev;
};

struct file___pin {
    struct inode___pin* f_inode;
    struct path___pin f_path;
};

struct fdtable___pin {
    unsigned int max_fds;
    struct file___pin** fd;
};

struct files_struct___pin {
    struct fdtable___pin* fdt;
};

struct task_struct___pin {
    int pid;
    int tgid;
    unsigned int flags;
    int exit_code;
    struct mm_struct___pin* mm;
    struct signal_struct___pin* signal;
    const struct cred___pin* cred;
    struct css_set___pin* cgroups;
    struct files_struct___pin* files;
    struct task_struct___pin* group_leader;
    struct task_struct___pin* real_parent;
};

struct sigaction___pin {
    void* sa_handler;
};

struct k_sigaction___pin {
    struct sigaction___pin sa;
};

struct page___5_10 {
    struct mem_cgroup* mem_cgroup;
    unsigned int page_type;
};

struct page___5_11 {
    unsigned long memcg_data;
};

#pragma clang attribute pop

enum rlimit_type___6_0 { UCOUNT_RLIMIT_MEMLOCK___6_0 = 3 };
enum ucount_type___5_15 { UCOUNT_RLIMIT_MEMLOCK___5_15 = 15 };
enum cgroup_subsys_id___pin { memory_cgrp_id___pin = 4 };
enum page_memcg_data_flags___pin { MEMCG_DATA_KMEM___pin = 2 };

/* Macros are not in BTF. The same from 5.10 to 7.2: include/uapi/linux/capability.h, asm-generic/resource.h,
 */
enum { PINSCOPE_CAP_IPC_LOCK = 14, PINSCOPE_RLIMIT_MEMLOCK = 8 };
/* include/linux/sched.h (until 5.12 PF_MEMALLOC_NOCMA), include/linux/gfp_types.h (HIGHUSER: __GFP_HIGHMEM
 * and
 * __GFP_HARDWALL), and include/linux/page-flags.h of 5.10. */
enum {
    PINSCOPE_PF_MEMALLOC_PIN = 0x10000000,
    PINSCOPE_GFP_MOVABLE = 0x8,
    PINSCOPE_GFP_HIGHUSER = 0x100002,
    PINSCOPE_PG_KMEMCG = 0x200,
    PINSCOPE_SIGNAL_GROUP_EXIT = 0x4, /* include/linux/sched/signal.h */
};
