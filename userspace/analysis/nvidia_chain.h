// SPDX-License-Identifier: Apache-2.0
// How a CUDA call went down to the kernel, in words, from the call windows of a trial.
#pragma once

#include "model/trial.h"

#include <string>

namespace pinscope::analysis {

// "cudaHostAlloc → ioctl 0x27 RM_ALLOC_MEMORY of nvidia0, class 0x71 OS descriptor, 16 MiB: OK →
// os_lock_user_pages (4096 pages) → pin_user_pages (4096 pages)"; empty where no ioctl of an NVIDIA device
// was seen.
std::string nvidia_chain(const Trial& trial);

// What the driver answered to the first request that it refused: "ioctl 0x27 RM_ALLOC_MEMORY ended with
// driver status 0x51 NO_MEMORY"; empty where it refused none.
std::string nvidia_refusal(const Trial& trial);

// A call that was under way when the window ended: "the process ended inside ioctl 0x27 of an NVIDIA device";
// empty where none was.
std::string nvidia_unfinished(const Trial& trial);

} // namespace pinscope::analysis
