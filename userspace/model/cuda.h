// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace pinscope {

// The CUDA mechanisms by name: they are tried by pinscope-cuda, since they need libraries that the static
// core cannot load.
inline constexpr std::array<std::string_view, 12> cuda_mechanisms = {
    "cudaHostAlloc",     "cudaHostAlloc-portable", "cudaHostAlloc-mapped",   "cudaHostAlloc-writecombined",
    "cudaMallocHost",    "cudaHostRegister",       "cudaHostRegister-memfd", "cudaHostRegister-file",
    "cudaMallocManaged", "cuMemHostAlloc",         "cuMemHostRegister",      "cuMemCreate-host",
};

} // namespace pinscope
