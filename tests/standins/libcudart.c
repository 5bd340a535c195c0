// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcudart, over the stand-in for libcuda.so.1 beside it.
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INSUFFICIENT_DRIVER = 35 };

static int last_error;

// As the real one finds the driver: by its name, at the first call.
static void* driver(const char* name) {
    static void* library;
    if (library == NULL)
        library = dlopen("libcuda.so.1", RTLD_NOW);
    return library != NULL ? dlsym(library, name) : NULL;
}

static int note(int status) {
    if (status != SUCCESS)
        last_error = status;
    return status;
}

int cudaGetLastError(void) {
    const int error = last_error;
    last_error = SUCCESS;
    return error;
}

const char* cudaGetErrorName(int status) {
    return status == SUCCESS ? "cudaSuccess"
           : status == 2     ? "cudaErrorMemoryAllocation"
                             : "cudaErrorInvalidValue";
}

int cudaRuntimeGetVersion(int* version) {
    *version = 13000;
    return SUCCESS;
}

int cudaSetDevice(int device) {
    int (*init)(unsigned) = (int (*)(unsigned))driver("cuInit");
    if (init == NULL)
        return note(INSUFFICIENT_DRIVER);
    return note(device == 0 ? init(0) : INVALID_VALUE);
}

int cudaFreeHost(void* address) {
    int (*free_host)(void*) = (int (*)(void*))driver("cuMemFreeHost");
    if (last_error != SUCCESS) // an error stays until it is asked for
        return last_error;
    return note(free_host(address));
}

int cudaFree(void* address) {
    return address == NULL ? last_error : cudaFreeHost(address);
}

int cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
    int (*alloc)(void**, size_t, unsigned) = (int (*)(void**, size_t, unsigned))driver("cuMemHostAlloc");
    if (last_error != SUCCESS)
        return last_error;
    return note(alloc(address, bytes, flags));
}

int cudaMallocHost(void** address, size_t bytes) {
    return cudaHostAlloc(address, bytes, 0);
}

int cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
    return cudaHostAlloc(address, bytes, flags);
}

int cudaHostRegister(void* address, size_t bytes, unsigned flags) {
    int (*do_register)(void*, size_t, unsigned) =
        (int (*)(void*, size_t, unsigned))driver("cuMemHostRegister_v2");
    if (last_error != SUCCESS)
        return last_error;
    return note(do_register(address, bytes, flags));
}

int cudaHostUnregister(void* address) {
    int (*unregister)(void*) = (int (*)(void*))driver("cuMemHostUnregister");
    return note(unregister(address));
}
