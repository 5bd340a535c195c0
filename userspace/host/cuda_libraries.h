// SPDX-License-Identifier: Apache-2.0
// Which libcuda.so.1 and libcudart.so a careful person would load here: every file that could be it, in the
// order in which the dynamic loader and then common installations would have it, and why each is taken or
// not.
//
// Nothing is loaded: files are looked at. What must fit:
//   libcuda.so.1   a shared library for this machine; not the stub that programs are linked with; of the
//   kernel
//                  driver's own version (else cuInit ends with error 803). From a compat/ folder only if
//                  newer than the kernel driver (NVIDIA's CUDA compatibility guide; older: 803).
//   libcudart.so.N not of a CUDA that is newer than the driver knows (else error 35)
#pragma once

#include "host/root.h"
#include "model/cuda.h"

#include <optional>
#include <string>

namespace pinscope::host {

struct CudaSearch {
    std::optional<std::string> cuda_lib; // named by the user: a file, or the folder it is in
    std::optional<std::string> cudart;
    std::string ld_library_path;
    std::string virtual_env;
    std::string conda_prefix;
    std::string home;
};

// From this process's environment.
CudaSearch search_of_environment();

// `kernel_driver`: the version of the loaded kernel driver; nothing where none is known.
CudaLibraries find_cuda_libraries(const Root& root, const CudaSearch& search,
                                  const std::optional<std::string>& kernel_driver);

} // namespace pinscope::host
