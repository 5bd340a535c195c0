// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver API (libcuda.so.1) that is used, in our own declarations: the toolkit's cuda.h
// is not needed to build. Where a toolkit is there, prototypes_check.cpp compares them with it.
#pragma once

#include "cuda/library.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinscope::cuda {

using DriverStatus = int; // CUresult; 0 is success
using DevicePointer = unsigned long long;

inline constexpr DriverStatus driver_stub_library = 34;

inline constexpr unsigned host_alloc_portable = 1;
inline constexpr unsigned host_alloc_mapped = 2;
inline constexpr unsigned host_alloc_write_combined = 4;

struct MemoryLocation {
    int type;
    int id;
};
inline constexpr int location_host_numa = 3;

// CUmemAllocationProp
struct AllocationProperties {
    int type;
    int handle_types;
    MemoryLocation location;
    void* windows_handle;
    unsigned char flags[8];
};
inline constexpr int allocation_pinned = 1;

// CUmemAccessDesc
struct MemoryAccess {
    MemoryLocation location;
    int flags;
};
inline constexpr int access_read_write = 3;

// A function that the library lacks is null.
struct DriverApi {
    explicit DriverApi(const std::string& path);

    Library library;
    DriverStatus (*init)(unsigned flags) = nullptr;
    DriverStatus (*device_get)(int* device, int ordinal) = nullptr;
    DriverStatus (*primary_context_retain)(void** context, int device) = nullptr;
    DriverStatus (*primary_context_release)(int device) = nullptr;
    DriverStatus (*context_set_current)(void* context) = nullptr;

    DriverStatus (*mem_host_alloc)(void** pointer, size_t bytes, unsigned flags) = nullptr;
    DriverStatus (*mem_free_host)(void* pointer) = nullptr;
    DriverStatus (*mem_host_register)(void* pointer, size_t bytes, unsigned flags) = nullptr;
    DriverStatus (*mem_host_unregister)(void* pointer) = nullptr;
    DriverStatus (*mem_granularity)(size_t* bytes, const AllocationProperties*, int option) = nullptr;
    DriverStatus (*mem_create)(uint64_t* handle, size_t bytes, const AllocationProperties*,
                               unsigned long long flags) = nullptr;
    DriverStatus (*mem_release)(uint64_t handle) = nullptr;
    DriverStatus (*address_reserve)(DevicePointer*, size_t bytes, size_t alignment, DevicePointer wanted,
                                    unsigned long long flags) = nullptr;
    DriverStatus (*address_free)(DevicePointer, size_t bytes) = nullptr;
    DriverStatus (*mem_map)(DevicePointer, size_t bytes, size_t offset, uint64_t handle,
                            unsigned long long flags) = nullptr;
    DriverStatus (*mem_unmap)(DevicePointer, size_t bytes) = nullptr;
    DriverStatus (*mem_set_access)(DevicePointer, size_t bytes, const MemoryAccess*, size_t count) = nullptr;

    // Extras: what they tell is left out where they are missing.
    DriverStatus (*error_name)(DriverStatus, const char** name) = nullptr;
    DriverStatus (*driver_version)(int* version) = nullptr;
    DriverStatus (*device_count)(int* count) = nullptr;
    DriverStatus (*device_name)(char* name, int length, int device) = nullptr;
    DriverStatus (*host_device_pointer)(DevicePointer*, void* host, unsigned flags) = nullptr;
    DriverStatus (*mem_alloc)(DevicePointer*, size_t bytes) = nullptr;
    DriverStatus (*mem_free)(DevicePointer) = nullptr;
    DriverStatus (*copy_to_device)(DevicePointer, const void* host, size_t bytes) = nullptr;
    DriverStatus (*copy_to_host)(void* host, DevicePointer, size_t bytes) = nullptr;
    DriverStatus (*module_load)(void** module, const void* image) = nullptr;
    DriverStatus (*module_function)(void** function, void* module, const char* name) = nullptr;
    DriverStatus (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                           void* stream, void** parameters, void** extra) = nullptr;
    DriverStatus (*synchronize)() = nullptr;

    // "CUDA_ERROR_OUT_OF_MEMORY", where the library says; else empty.
    std::string name_of(DriverStatus status) const;
};

} // namespace pinscope::cuda
