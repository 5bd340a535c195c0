// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime_api.h"

#if PINSCOPE_BUILT_IN_CUDART
#include <cuda_runtime_api.h>

#include <string_view>
#include <utility>
#endif

namespace pinscope::cuda {
namespace {

#if PINSCOPE_BUILT_IN_CUDART
// libcudart_static.a, which the toolkit's licence allows to be part of a program.
void* built_in(const char* name) {
    static const std::pair<std::string_view, void*> all[] = {
        {"cudaSetDevice", reinterpret_cast<void*>(&::cudaSetDevice)},
        {"cudaFree", reinterpret_cast<void*>(&::cudaFree)},
        {"cudaHostAlloc",
         reinterpret_cast<void*>(static_cast<cudaError_t (*)(void**, size_t, unsigned)>(&::cudaHostAlloc))},
        {"cudaMallocHost",
         reinterpret_cast<void*>(static_cast<cudaError_t (*)(void**, size_t)>(&::cudaMallocHost))},
        {"cudaFreeHost", reinterpret_cast<void*>(&::cudaFreeHost)},
        {"cudaHostRegister", reinterpret_cast<void*>(&::cudaHostRegister)},
        {"cudaHostUnregister", reinterpret_cast<void*>(&::cudaHostUnregister)},
        {"cudaMallocManaged", reinterpret_cast<void*>(static_cast<cudaError_t (*)(void**, size_t, unsigned)>(
                                  &::cudaMallocManaged))},
        {"cudaGetLastError", reinterpret_cast<void*>(&::cudaGetLastError)},
        {"cudaGetErrorName", reinterpret_cast<void*>(&::cudaGetErrorName)},
        {"cudaRuntimeGetVersion", reinterpret_cast<void*>(&::cudaRuntimeGetVersion)},
    };
    for (const auto& [known, function] : all)
        if (known == name)
            return function;
    return nullptr;
}
#endif

Library open(const std::string& path) {
#if PINSCOPE_BUILT_IN_CUDART
    if (path.empty())
        return Library(&built_in);
#endif
    return Library(path.empty() ? "libcudart.so" : path);
}

} // namespace

bool RuntimeApi::is_built_in() {
    return PINSCOPE_BUILT_IN_CUDART != 0;
}

RuntimeApi::RuntimeApi(const std::string& path) : library(open(path)) {
    library.find(set_device, "cudaSetDevice");
    library.find(free, "cudaFree");
    library.find(host_alloc, "cudaHostAlloc");
    library.find(malloc_host, "cudaMallocHost");
    library.find(free_host, "cudaFreeHost");
    library.find(host_register, "cudaHostRegister");
    library.find(host_unregister, "cudaHostUnregister");
    library.find(malloc_managed, "cudaMallocManaged");
    library.find(get_last_error, "cudaGetLastError");
    library.find(error_name, "cudaGetErrorName");
    library.find(runtime_version, "cudaRuntimeGetVersion");
}

std::string RuntimeApi::name_of(RuntimeStatus status) const {
    const char* name = error_name != nullptr ? error_name(status) : nullptr;
    return name != nullptr ? name : "";
}

void RuntimeApi::clear_error() const {
    if (get_last_error != nullptr)
        (void)get_last_error();
}

} // namespace pinscope::cuda
