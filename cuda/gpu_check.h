// SPDX-License-Identifier: Apache-2.0
// Looks at pinned memory from the GPU: that a kernel reads through its mapped pointer what the CPU wrote, and
// how fast copies from it are, compared with pageable memory.
#pragma once

#include <cstdint>
#include <string>

namespace pinscope::cuda {

struct GpuCheck {
    bool agrees = true; // false: the GPU read something else
    std::string words;  // what was found, or nothing where no check could be made
};

// An extra: where the driver library lacks a call for it, or this build has no GPU code, nothing is checked.
GpuCheck check_from_gpu(void* memory, uint64_t bytes);

} // namespace pinscope::cuda
