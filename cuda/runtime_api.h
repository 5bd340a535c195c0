// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime API (libcudart) that is used, in our own declarations.
#pragma once

#include "cuda/library.h"

#include <cstddef>
#include <string>

namespace pinscope::cuda {

using RuntimeStatus = int; // cudaError_t; 0 is success

inline constexpr unsigned attach_global = 1;

// A function that the library lacks is null.
struct RuntimeApi {
    // Empty: the runtime that is built in, if there is one.
    explicit RuntimeApi(const std::string& path);

    static bool is_built_in();

    Library library;
    RuntimeStatus (*set_device)(int device) = nullptr;
    RuntimeStatus (*free)(void* pointer) = nullptr;
    RuntimeStatus (*host_alloc)(void** pointer, size_t bytes, unsigned flags) = nullptr;
    RuntimeStatus (*malloc_host)(void** pointer, size_t bytes) = nullptr;
    RuntimeStatus (*free_host)(void* pointer) = nullptr;
    RuntimeStatus (*host_register)(void* pointer, size_t bytes, unsigned flags) = nullptr;
    RuntimeStatus (*host_unregister)(void* pointer) = nullptr;
    RuntimeStatus (*malloc_managed)(void** pointer, size_t bytes, unsigned flags) = nullptr;

    // Extras.
    RuntimeStatus (*get_last_error)() = nullptr;
    const char* (*error_name)(RuntimeStatus) = nullptr;
    RuntimeStatus (*runtime_version)(int* version) = nullptr;

    std::string name_of(RuntimeStatus status) const;
    // An error stays until it is asked for, and would be the answer to the next call too.
    void clear_error() const;
};

} // namespace pinscope::cuda
