/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
 * The whole contract between the kernel side and user space: what is delivered, and how it is laid out.
 * Included by both, so: plain C, fixed widths, no padding (asserted at the end). Sizes are in bytes unless
 * named pages.
 */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

enum {
    WINDOWS_PER_THREAD = 16, /* nested */
    SYSCALL_SLOTS = 24,      /* different (call, error, file) of a window */
    CHECK_SLOTS = 16,        /* different (function, asking place, answer) of a window */
    STACK_FRAMES = 12,
    FILE_NAME_BYTES = 16,
    SYSCALL_ARGUMENTS = 6,
    SYSCALL_NUMBERS = 512,
    SYMBOL_BYTES = 64,
    IOCTL_SLOTS = 8,              /* ioctls of NVIDIA devices of a window */
    IOCTL_DATA_BYTES = 192,       /* the largest structure that is decoded has 184 */
    IOCTL_PARAMETERS_BYTES = 128, /* of an allocation, behind a pointer in the structure */
};

/* Devices of NVIDIA's driver (kernel-open/common/inc/nv.h NV_MAJOR_DEVICE_NUMBER; 515 to 595). nvidia-uvm has
 * a number that is given out at load: it is known by its name.
 */
enum { NVIDIA_MAJOR = 195 };

/* The kernel functions whose results are read in the function tier, and what the result is:
 *   ERROR    int, a negative errno or not          POINTER  a pointer, or a negative errno
 *   ALLOWS   int, 0 for "no"                       BOOL     the same
 *   PINS     how many pages were pinned, or an errno
 *   CHARGE   as ERROR; the third argument is the number of pages to be charged for
 *   VOID     none: pages are given back, as many as the second argument says (unpin_user_page: one)
 *   DRIVER_1 NV_STATUS of NVIDIA's driver, 0 or not; the first argument is a number of pages, or of bytes
 *   DRIVER_2 the same of the second argument
 */
#define PINSCOPE_FUNCTIONS(F)                                                                                \
    F(security_capable, ERROR)                                                                               \
    F(can_do_mlock, BOOL)                                                                                    \
    F(do_mlock, ERROR)                                                                                       \
    F(mlock_future_check, ERROR)                                                                             \
    F(mlock_future_ok, BOOL)                                                                                 \
    F(user_shm_lock, ALLOWS)                                                                                 \
    F(__account_locked_vm, ERROR)                                                                            \
    F(account_locked_vm, ERROR)                                                                              \
    F(__io_account_mem, ERROR)                                                                               \
    F(io_account_mem, ERROR)                                                                                 \
    F(mm_account_pinned_pages, ERROR)                                                                        \
    F(xdp_umem_create, POINTER)                                                                              \
    F(ib_umem_get, POINTER)                                                                                  \
    F(bpf_map_charge_init, ERROR)                                                                            \
    F(pin_user_pages, PINS)                                                                                  \
    F(pin_user_pages_fast, PINS)                                                                             \
    F(pin_user_pages_remote, PINS)                                                                           \
    F(pin_user_pages_unlocked, PINS)                                                                         \
    F(__gup_longterm_locked, PINS)                                                                           \
    F(memfd_pin_folios, PINS)                                                                                \
    F(unpin_user_page, VOID)                                                                                 \
    F(unpin_user_pages, VOID)                                                                                \
    F(try_charge_memcg, CHARGE)                                                                              \
    F(try_charge, CHARGE)                                                                                    \
    F(os_lock_user_pages, DRIVER_2)                                                                          \
    F(os_unlock_user_pages, DRIVER_1)                                                                        \
    F(nv_register_user_pages, DRIVER_2)                                                                      \
    F(nv_alloc_pages, DRIVER_2)                                                                              \
    F(nv_free_pages, DRIVER_2)                                                                               \
    F(nv_dma_map_alloc, DRIVER_2)                                                                            \
    F(uvm_cpu_chunk_alloc, DRIVER_1)

enum function_result {
    RESULT_ERROR,
    RESULT_POINTER,
    RESULT_ALLOWS,
    RESULT_BOOL,
    RESULT_PINS,
    RESULT_CHARGE,
    RESULT_VOID,
    RESULT_DRIVER_1,
    RESULT_DRIVER_2,
};

enum kernel_function {
#define PINSCOPE_FUNCTION_NUMBER(name, result) FUNCTION_##name,
    PINSCOPE_FUNCTIONS(PINSCOPE_FUNCTION_NUMBER)
#undef PINSCOPE_FUNCTION_NUMBER
        FUNCTION_COUNT,
    FUNCTION_cap_capable = FUNCTION_COUNT, /* the tracepoint capability:cap_capable */
};

/* Why something that happened was not delivered, or not in full. One counter each. */
enum loss {
    LOST_RING_FULL,            /* windows: the ring had no room */
    LOST_NO_ROOM_FOR_THREAD,   /* windows: too many threads with an open one */
    LOST_NO_ROOM_FOR_WINDOW,   /* windows: too many open at a time */
    LOST_TOO_DEEP,             /* windows: nested deeper than WINDOWS_PER_THREAD */
    LOST_RETURN_WITHOUT_ENTRY, /* returns of calls whose entry was not seen: not windows */
    LOST_NO_ROOM_FOR_PROCESS,  /* processes: too many are watched; their windows are not seen */
    LOST_COUNT,
};

enum window_end {
    ENDED_RETURNED,
    ENDED_ABANDONED,  /* left by longjmp or the like; seen when its stack was used again */
    ENDED_UNFINISHED, /* the thread ended, or became another program, inside */
};

enum window_cause { CAUSE_NONE, CAUSE_EXIT, CAUSE_EXEC, CAUSE_SIGNAL, CAUSE_OOM_KILL };

#define BUDGET_UNKNOWN (~0ULL)
#define NO_SYSCALL (~0U)

/* What the kernel had counted for the thread's process and user. */
struct window_budgets {
    __u64 locked_vm_pages;      /* mm->locked_vm */
    __u64 pinned_vm_pages;      /* mm->pinned_vm */
    __u64 user_locked_vm_pages; /* cred->user->locked_vm */
    __u64 user_memlock_pages;   /* the memlock count of cred->ucounts; before 5.14 user->locked_shm */
    __u64 memlock_soft;         /* signal->rlim[RLIMIT_MEMLOCK] */
    __u64 memlock_hard;
    __u64 cgroup_usage_pages; /* of the memory cgroup */
};

struct window_syscall {
    __s64 result; /* of the first */
    __u64 arguments[SYSCALL_ARGUMENTS];
    __u32 number;
    __u32 count;
    __u32 device;     /* st_rdev of the file behind the descriptor, in the kernel's own dev_t; 0: none */
    __u32 unfinished; /* 1: the window ended before the call did */
    char file[FILE_NAME_BYTES]; /* the last part of the file's name; "" without one */
};

struct window_check {
    __u64 stack[STACK_FRAMES]; /* kernel addresses, innermost first; only where a capability was asked for */
    __u64 arguments[3];
    __s64 result;
    __u32 function; /* enum kernel_function */
    __u32 count;
    __u32 syscall; /* the system call it happened in */
    __u32 pad;
};

/* What an ioctl of an NVIDIA device left in the caller's structure when it returned. */
struct window_ioctl {
    __u32 command; /* the argument's, or that inside NV_ESC_IOCTL_XFER_CMD */
    __u32 bytes;   /* of the structure, as the command says; `data` has no more than it holds */
    __u32 device;  /* as in window_syscall */
    __u32 faults;  /* reads of the caller's memory that failed */
    __s64 result;
    __u8 data[IOCTL_DATA_BYTES];
    __u8 parameters[IOCTL_PARAMETERS_BYTES]; /* what an RM_ALLOC's structure points to */
};

struct window_calls {
    __u64 calls;
    __u64 pages;
    __u64 failed;
};

enum page_class {
    PAGES_USER,             /* movable, or allocated for a long-term pin */
    PAGES_KERNEL_CHARGED,   /* a memory cgroup is charged for them as kernel memory */
    PAGES_KERNEL_UNCHARGED, /* none is */
    PAGES_REFUSED,          /* not allocated: allocation or charge failed */
    PAGE_CLASS_COUNT,
};

struct window_record {
    __u64 tag;              /* the first argument of the call */
    __u64 entered_ns;       /* CLOCK_MONOTONIC; with tid, the window's identity */
    __u64 outer_entered_ns; /* of the window that this one is in; 0: none */
    __u64 left_ns;
    __u64 stack_pointer; /* at entry */
    __u32 tgid;          /* in the initial pid namespace */
    __u32 tid;
    __u32 end;           /* enum window_end */
    __u32 cause;         /* enum window_cause */
    __u32 exit_code;     /* as in wait(2), for CAUSE_EXIT, CAUSE_SIGNAL, CAUSE_OOM_KILL */
    __u32 signals;       /* handlers run inside */
    __u32 syscall_slots; /* used */
    __u32 check_slots;
    __u32 syscalls_dropped; /* for want of a slot */
    __u32 checks_dropped;
    __u32 ioctl_slots;
    __u32 ioctls_dropped;
    struct window_budgets before;
    struct window_budgets after;
    struct window_calls functions[FUNCTION_COUNT];
    __u64 pages[PAGE_CLASS_COUNT];
    struct window_syscall syscalls[SYSCALL_SLOTS];
    struct window_check checks[CHECK_SLOTS];
    struct window_ioctl ioctls[IOCTL_SLOTS];
};

#ifdef __cplusplus
static_assert(sizeof(window_budgets) == 56);
static_assert(sizeof(window_syscall) == 88);
static_assert(sizeof(window_check) == 144);
static_assert(sizeof(window_ioctl) == 344);
static_assert(sizeof(window_record) == 5 * 8 + 12 * 4 + 2 * 56 + FUNCTION_COUNT * 24 + PAGE_CLASS_COUNT * 8 +
                                           SYSCALL_SLOTS * 88 + CHECK_SLOTS * 144 + IOCTL_SLOTS * 344);
#endif
