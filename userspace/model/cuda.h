// SPDX-License-Identifier: Apache-2.0
// What is known of CUDA before anything is tried: its mechanisms, which pinscope-cuda carries out since they
// need libraries that the static core cannot load; and the libraries that were found.
#pragma once

#include "model/mechanism.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

// In the order in which they are shown.
std::span<const MechanismFacts> cuda_mechanisms();
bool is_cuda_mechanism(std::string_view name);

// One file that could be the library, and what was decided.
struct CudaCandidate {
    std::string path;
    std::string found_by; // "LD_LIBRARY_PATH", "ldconfig's cache", …
    std::string
        version; // of the file behind all links: "550.54.14", "12.4.127"; empty: its name does not say
    bool taken = false;
    std::string reason; // why not; for the one that is taken may be empty
};

struct CudaLibraries {
    std::vector<CudaCandidate> driver;  // libcuda.so.1
    std::vector<CudaCandidate> runtime; // libcudart.so.N
    // What would let every program here find them; empty: the loader finds them as it is.
    std::string ld_library_path;

    // Empty where none was taken.
    std::string driver_path() const;
    std::string runtime_path() const;
};

// What came of loading them.
struct CudaFacts {
    CudaLibraries libraries;
    bool answered = false; // pinscope-cuda ran, and said so itself
    bool usable = false;   // the driver library was loaded and started, and there is a device
    std::string detail;    // "CUDA 12.4, 1 device(s)", or why not
};

} // namespace pinscope
