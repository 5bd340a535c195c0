// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1, for machines without a GPU: as much of the driver API as pinscope-cuda's
// trials need, but for cuMemCreate and its relatives. PINSCOPE_STANDIN says how it behaves:
//
//   pins (default)   memory as the real one gives it: shared and anonymous, pinned by ioctl where there is a
//   driver,
//                    else only filled
//   mlock            the same, and mlock'ed: a library that meets the limit
//   error            every request ends with error 2 (out of memory)
//   error-large      those of more than PINSCOPE_STANDIN_LARGE bytes (1 GiB) do
//   hang, crash      in the request
//   lie              success, and there is no memory
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, OPERATING_SYSTEM = 304 };
enum { MOST_REQUESTS = 4096 };

// kernel-open/common/inc/nv-ioctl.h and src/common/sdk/nvidia/inc/nvos.h, NVOS02_PARAMETERS and
// NVOS00_PARAMETERS.
struct alloc_memory {
    uint32_t root, parent, object, object_class, flags, pad;
    uint64_t memory, limit;
    uint32_t status, pad2;
    int32_t fd;
    uint32_t pad3;
};
struct free_object {
    uint32_t root, parent, object, status;
};
#define ALLOC_MEMORY _IOWR('F', 0x27, struct alloc_memory)
#define FREE_OBJECT _IOWR('F', 0x29, struct free_object)
enum { CLASS_OS_DESCRIPTOR = 0x71, CLIENT = 0x1, STATUS_INVALID_ADDRESS = 0x1e };

static int control = -1; // /dev/nvidiactl and /dev/nvidia0; -1 without a driver
static int gpu = -1;

static struct {
    void* address;
    size_t bytes;
} requests[MOST_REQUESTS];

static int behaves(const char* how) {
    const char* chosen = getenv("PINSCOPE_STANDIN");
    return strcmp(chosen != NULL ? chosen : "pins", how) == 0;
}

static size_t largest(void) {
    const char* text = getenv("PINSCOPE_STANDIN_LARGE");
    return text != NULL ? strtoull(text, NULL, 10) : (size_t)1 << 30;
}

// The driver pins the memory; without one it stays as it is. `object` is its handle there.
static int pin(void* address, size_t bytes, uint32_t object) {
    if (gpu < 0)
        return SUCCESS;
    struct alloc_memory request = {.root = CLIENT, .object = object, .object_class = CLASS_OS_DESCRIPTOR};
    request.memory = (uintptr_t)address;
    request.limit = bytes - 1;
    if (ioctl(gpu, ALLOC_MEMORY, &request) != 0)
        return OPERATING_SYSTEM;
    return request.status == 0                        ? SUCCESS
           : request.status == STATUS_INVALID_ADDRESS ? INVALID_VALUE
                                                      : OUT_OF_MEMORY;
}

static void unpin(uint32_t object) {
    struct free_object request = {.root = CLIENT, .object = object};
    if (gpu >= 0)
        (void)ioctl(gpu, FREE_OBJECT, &request);
}

// What every request does first.
static int answer(size_t bytes) {
    if (behaves("hang"))
        for (;;)
            pause();
    if (behaves("crash"))
        abort();
    if (behaves("error") || (behaves("error-large") && bytes > largest()))
        return OUT_OF_MEMORY;
    return SUCCESS;
}

// Pins the memory and remembers it; the place in the table, from 1 on, is its handle.
static int keep(void* address, size_t bytes) {
    for (uint32_t i = 0; i < MOST_REQUESTS; ++i) {
        if (requests[i].address != NULL)
            continue;
        const int status = pin(address, bytes, i + 1);
        if (status != SUCCESS)
            return status;
        requests[i].address = address;
        requests[i].bytes = bytes;
        return SUCCESS;
    }
    return OUT_OF_MEMORY;
}

static int forget(void* address, size_t* bytes) {
    for (uint32_t i = 0; i < MOST_REQUESTS; ++i) {
        if (requests[i].address != address || address == NULL)
            continue;
        unpin(i + 1);
        *bytes = requests[i].bytes;
        requests[i].address = NULL;
        return SUCCESS;
    }
    return INVALID_VALUE;
}

int cuInit(unsigned flags) {
    if (control < 0)
        control = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
    if (control >= 0 && gpu < 0)
        gpu = open("/dev/nvidia0", O_RDWR | O_CLOEXEC);
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDriverGetVersion(int* version) {
    *version = 13000;
    return SUCCESS;
}

int cuDeviceGetCount(int* count) {
    *count = 1;
    return SUCCESS;
}

int cuDeviceGet(int* device, int ordinal) {
    *device = 0;
    return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetName(char* name, int length, int device) {
    strncpy(name, "pinscope's stand-in, no GPU", (size_t)length - 1);
    return device == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = &requests;
    return device == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    return device == 0 ? SUCCESS : INVALID_VALUE;
}

int cuCtxSetCurrent(void* context) {
    return context == &requests ? SUCCESS : INVALID_VALUE;
}

int cuGetErrorName(int status, const char** name) {
    *name = status == SUCCESS         ? "CUDA_SUCCESS"
            : status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                      : "CUDA_ERROR_INVALID_VALUE";
    return SUCCESS;
}

int cuMemFreeHost(void* address) {
    size_t bytes = 0;
    if (forget(address, &bytes) != SUCCESS)
        return INVALID_VALUE;
    munmap(address, bytes);
    return SUCCESS;
}

int cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
    (void)flags;
    if (answer(bytes) != SUCCESS)
        return OUT_OF_MEMORY;
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | (gpu < 0 ? MAP_POPULATE : 0), -1, 0);
    if (memory == MAP_FAILED)
        return OUT_OF_MEMORY;
    if (behaves("lie")) {
        munmap(memory, bytes);
        *address = memory;
        return SUCCESS;
    }
    const int status = behaves("mlock") && mlock(memory, bytes) != 0 ? OUT_OF_MEMORY : keep(memory, bytes);
    if (status == SUCCESS)
        *address = memory;
    else
        munmap(memory, bytes);
    return status;
}

int cuMemAllocManaged(unsigned long long* address, size_t bytes, unsigned flags) {
    void* memory = NULL;
    const int status = cuMemHostAlloc(&memory, bytes, flags);
    *address = (uintptr_t)memory;
    return status;
}

int cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
    (void)flags;
    if (answer(bytes) != SUCCESS || (behaves("mlock") && mlock(address, bytes) != 0))
        return OUT_OF_MEMORY;
    return keep(address, bytes);
}

int cuMemHostUnregister(void* address) {
    size_t bytes = 0;
    if (forget(address, &bytes) != SUCCESS)
        return INVALID_VALUE;
    if (behaves("mlock"))
        munlock(address, bytes);
    return SUCCESS;
}
