// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Pages allocated inside a window, by class.
#include "window.h"

// Whether a memory cgroup was charged for the page as kernel memory. That is settled before this tracepoint;
// user pages are charged after it (mm/page_alloc.c __alloc_pages, 5.10 to 7.2).
static __always_inline int is_charged_kernel_page(const void* page) {
    if (bpf_core_field_exists(struct page___5_11, memcg_data)) {
        const struct page___5_11* new_page = page;
        return (BPF_CORE_READ(new_page, memcg_data) & MEMCG_DATA_KMEM___pin) != 0;
    }
    const struct page___5_10* old_page = page;
    if (!bpf_core_field_exists(struct page___5_10, mem_cgroup))
        return 0;
    __u32 type = BPF_CORE_READ(old_page, page_type);
    return BPF_CORE_READ(old_page, mem_cgroup) && (type & (0xf0000000 | PINSCOPE_PG_KMEMCG)) == 0xf0000000;
}

static __always_inline __u32 class_of(const void* page, __u32 gfp) {
    if (!page)
        return PAGES_REFUSED;
    if (is_charged_kernel_page(page))
        return PAGES_KERNEL_CHARGED;
    const struct task_struct___pin* task = (const void*)bpf_get_current_task();
    // Of pages for user space most may move. Those of a long-term pin may not: the flag is taken away, but
    // the task has another. Those of memfd_secret are asked for as such (GFP_HIGHUSER).
    if ((gfp & PINSCOPE_GFP_MOVABLE) || (gfp & PINSCOPE_GFP_HIGHUSER) == PINSCOPE_GFP_HIGHUSER ||
        (BPF_CORE_READ(task, flags) & PINSCOPE_PF_MEMALLOC_PIN))
        return PAGES_USER;
    return PAGES_KERNEL_UNCHARGED;
}

SEC("?tp_btf/mm_page_alloc")
int pages_allocated(__u64* context) {
    struct window_record* window = current_window();
    if (!window)
        return 0;
    __u32 class = class_of((const void*)context[0], context[2]);
    if (class < PAGE_CLASS_COUNT)
        window->pages[class] += 1ULL << (context[1] & 31);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
