// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Holds pages as a driver does, while it is loaded: charged to the memory cgroup of the loader, or to nobody.
//
//   insmod pinscope_test.ko pages=4096 charged=1
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static unsigned int pages = 1024;
module_param(pages, uint, 0444);
MODULE_PARM_DESC(pages, "how many pages to hold");

static bool charged;
module_param(charged, bool, 0444);
MODULE_PARM_DESC(charged, "charge them to the memory cgroup of the process that loads the module");

static struct page** held;

// Not inlined, so that probes find them.
noinline void pinscope_test_free(void);
noinline int pinscope_test_allocate(void);

noinline void pinscope_test_free(void) {
    unsigned int i;

    for (i = 0; i < pages && held[i]; i++)
        __free_page(held[i]);
    vfree(held);
}

noinline int pinscope_test_allocate(void) {
    unsigned int i;

    held = vzalloc(array_size(pages, sizeof(*held)));
    if (!held)
        return -ENOMEM;
    for (i = 0; i < pages; i++) {
        held[i] = alloc_page(charged ? GFP_KERNEL_ACCOUNT : GFP_KERNEL);
        if (!held[i]) {
            pinscope_test_free();
            return -ENOMEM;
        }
    }
    return 0;
}

static int __init pinscope_test_init(void) {
    return pinscope_test_allocate();
}

static void __exit pinscope_test_exit(void) {
    pinscope_test_free();
}

module_init(pinscope_test_init);
module_exit(pinscope_test_exit);
MODULE_DESCRIPTION("Test module of pinscope: holds pages");
MODULE_LICENSE("GPL");
