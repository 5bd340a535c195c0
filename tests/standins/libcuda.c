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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500 };
enum { MOST_REQUESTS = 4096 };

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

static int keep(void* address, size_t bytes) {
    for (int i = 0; i < MOST_REQUESTS; ++i) {
        if (requests[i].address != NULL)
            continue;
        requests[i].address = address;
        requests[i].bytes = bytes;
        return SUCCESS;
    }
    return OUT_OF_MEMORY;
}

static int forget(void* address, size_t* bytes) {
    for (int i = 0; i < MOST_REQUESTS; ++i) {
        if (requests[i].address != address || address == NULL)
            continue;
        *bytes = requests[i].bytes;
        requests[i].address = NULL;
        return SUCCESS;
    }
    return INVALID_VALUE;
}

int cuInit(unsigned flags) {
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
    void* memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return OUT_OF_MEMORY;
    if (behaves("lie")) {
        munmap(memory, bytes);
        *address = memory;
        return SUCCESS;
    }
    if ((behaves("mlock") && mlock(memory, bytes) != 0) || keep(memory, bytes) != SUCCESS) {
        munmap(memory, bytes);
        return OUT_OF_MEMORY;
    }
    *address = memory;
    return SUCCESS;
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
