// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// A stand-in for nvidia.ko, for guests without a GPU: the devices, the ioctls and the functions by which the
// real one pins a caller's memory, with their names and arguments. There is no GPU behind it, and its version
// says so.
//
// Parameters, at any time, in /sys/module/nvidia/parameters:
//   check_memlock   1: it counts pinned pages at RLIMIT_MEMLOCK, which the real one does not
//   rm_status       not 0: every request for memory ends with this status, and the ioctl with 0
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

enum { MAJOR_NUMBER = 195, CONTROL_MINOR = 255, MINORS = 256 };
enum { ESCAPE_ALLOC_MEMORY = 0x27, ESCAPE_FREE = 0x29 };
enum { CLASS_OS_DESCRIPTOR = 0x71 };
enum {
    STATUS_OK = 0,
    STATUS_INVALID_ADDRESS = 0x1e,
    STATUS_INVALID_CLASS = 0x22,
    STATUS_NO_MEMORY = 0x51,
};

static bool check_memlock;
module_param(check_memlock, bool, 0644);
static uint rm_status;
module_param(rm_status, uint, 0644);

/* As NVOS02_PARAMETERS with its descriptor, and NVOS00_PARAMETERS. */
struct alloc_memory {
    u32 root, parent, object, object_class, flags, pad;
    u64 memory, limit;
    u32 status, pad2;
    s32 fd;
    u32 pad3;
};
struct free_object {
    u32 root, parent, object, status;
};

struct pinned {
    struct list_head list;
    struct mm_struct* mm; /* that was charged; NULL: none */
    void* pages;
    u64 count;
    u32 object;
};

struct client {
    struct mutex lock;
    struct list_head pinned;
};

/* The real one's, of 595: kernel-open/nvidia/os-mlock.c. They return an NV_STATUS. */
u32 os_lock_user_pages(void* address, u64 page_count, void** page_array, u32 flags);
u32 os_unlock_user_pages(u64 page_count, void* page_array, u32 flags);

noinline u32 os_lock_user_pages(void* address, u64 page_count, void** page_array, u32 flags) {
    struct page** pages = kvmalloc_array(page_count, sizeof(*pages), GFP_KERNEL);
    unsigned int how = FOLL_WRITE | FOLL_LONGTERM;
    long got;

    if (!pages)
        return STATUS_NO_MEMORY;
    mmap_read_lock(current->mm);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
    got = pin_user_pages((unsigned long)address, page_count, how, pages, NULL);
#else
    got = pin_user_pages((unsigned long)address, page_count, how, pages);
#endif
    mmap_read_unlock(current->mm);
    if (got < 0 || got < page_count) {
        if (got > 0)
            unpin_user_pages(pages, got);
        kvfree(pages);
        return STATUS_INVALID_ADDRESS; /* whatever the error was */
    }
    *page_array = pages;
    return STATUS_OK;
}

noinline u32 os_unlock_user_pages(u64 page_count, void* page_array, u32 flags) {
    unpin_user_pages_dirty_lock(page_array, page_count, true);
    kvfree(page_array);
    return STATUS_OK;
}

static void unpin(struct pinned* one) {
    list_del(&one->list);
    os_unlock_user_pages(one->count, one->pages, 1);
    if (one->mm) {
        account_locked_vm(one->mm, one->count, false);
        mmdrop(one->mm);
    }
    kfree(one);
}

static u32 pin(struct client* client, const struct alloc_memory* request) {
    u64 count = (request->limit >> PAGE_SHIFT) + 1;
    struct pinned* one;
    u32 status;

    if (request->object_class != CLASS_OS_DESCRIPTOR)
        return STATUS_INVALID_CLASS;
    if (rm_status)
        return rm_status;
    one = kzalloc(sizeof(*one), GFP_KERNEL);
    if (!one)
        return STATUS_NO_MEMORY;
    one->count = count;
    one->object = request->object;
    if (check_memlock) {
        if (account_locked_vm(current->mm, count, true)) {
            kfree(one);
            return STATUS_NO_MEMORY;
        }
        one->mm = current->mm;
        mmgrab(one->mm);
    }
    status = os_lock_user_pages((void*)(unsigned long)request->memory, count, &one->pages, 1);
    if (status != STATUS_OK) {
        if (one->mm) {
            account_locked_vm(one->mm, count, false);
            mmdrop(one->mm);
        }
        kfree(one);
        return status;
    }
    mutex_lock(&client->lock);
    list_add(&one->list, &client->pinned);
    mutex_unlock(&client->lock);
    return STATUS_OK;
}

static long device_ioctl(struct file* file, unsigned int command, unsigned long argument) {
    struct client* client = file->private_data;
    void __user* user = (void __user*)argument;

    switch (_IOC_NR(command)) {
    case ESCAPE_ALLOC_MEMORY: {
        struct alloc_memory request;

        if (_IOC_SIZE(command) != sizeof(request) || copy_from_user(&request, user, sizeof(request)))
            return -EINVAL;
        request.status = pin(client, &request);
        return copy_to_user(user, &request, sizeof(request)) ? -EFAULT : 0;
    }
    case ESCAPE_FREE: {
        struct pinned *one, *next;
        struct free_object request;

        if (_IOC_SIZE(command) != sizeof(request) || copy_from_user(&request, user, sizeof(request)))
            return -EINVAL;
        mutex_lock(&client->lock);
        list_for_each_entry_safe(one, next, &client->pinned, list) if (one->object == request.object)
            unpin(one);
        mutex_unlock(&client->lock);
        request.status = STATUS_OK;
        return copy_to_user(user, &request, sizeof(request)) ? -EFAULT : 0;
    }
    default:
        return -EINVAL;
    }
}

static int device_open(struct inode* inode, struct file* file) {
    struct client* client = kzalloc(sizeof(*client), GFP_KERNEL);

    if (!client)
        return -ENOMEM;
    mutex_init(&client->lock);
    INIT_LIST_HEAD(&client->pinned);
    file->private_data = client;
    return 0;
}

static int device_release(struct inode* inode, struct file* file) {
    struct client* client = file->private_data;
    struct pinned *one, *next;

    list_for_each_entry_safe(one, next, &client->pinned, list) unpin(one);
    kfree(client);
    return 0;
}

static const struct file_operations operations = {
    .owner = THIS_MODULE,
    .open = device_open,
    .release = device_release,
    .unlocked_ioctl = device_ioctl,
};

static struct class* device_class;

static int __init standin_init(void) {
    int error = __register_chrdev(MAJOR_NUMBER, 0, MINORS, "nvidia", &operations);

    if (error < 0)
        return error;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
    device_class = class_create(THIS_MODULE, "nvidia");
#else
    device_class = class_create("nvidia");
#endif
    if (IS_ERR(device_class)) {
        __unregister_chrdev(MAJOR_NUMBER, 0, MINORS, "nvidia");
        return PTR_ERR(device_class);
    }
    device_create(device_class, NULL, MKDEV(MAJOR_NUMBER, CONTROL_MINOR), NULL, "nvidiactl");
    device_create(device_class, NULL, MKDEV(MAJOR_NUMBER, 0), NULL, "nvidia0");
    pr_info("nvidia: pinscope's stand-in; there is no GPU\n");
    return 0;
}

static void __exit standin_exit(void) {
    device_destroy(device_class, MKDEV(MAJOR_NUMBER, 0));
    device_destroy(device_class, MKDEV(MAJOR_NUMBER, CONTROL_MINOR));
    class_destroy(device_class);
    __unregister_chrdev(MAJOR_NUMBER, 0, MINORS, "nvidia");
}

module_init(standin_init);
module_exit(standin_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("pinscope's stand-in for NVIDIA's driver");
MODULE_VERSION("0.0-pinscope-stand-in");
