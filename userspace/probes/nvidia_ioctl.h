// SPDX-License-Identifier: Apache-2.0
// What an ioctl of an NVIDIA device asked for, and what became of it: read from the caller's structure as it
// was at the return. Layouts: NVIDIA's open kernel modules, src/common/sdk/nvidia/inc/nvos.h and
// kernel-open/nvidia-uvm/uvm_ioctl.h, 515 to 595; a field whose place differs between these is not read.
#pragma once

#include "bpf/events.h"
#include "model/window.h"

namespace pinscope::probes {

// A field that lies outside what was copied has no value, whatever the command says.
NvidiaCallSeen read_nvidia_ioctl(const window_ioctl& seen);

} // namespace pinscope::probes
