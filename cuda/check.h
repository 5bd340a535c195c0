// SPDX-License-Identifier: Apache-2.0
// Whether CUDA can be used here, with the libraries that were chosen.
#pragma once

#include "run/stop_message.h"

namespace pinscope::cuda {

// `ok` with what was found as its detail; `unsupported` with the call that failed, its error, and the reason.
// Calls into libraries of others, which may hang or crash: done in a process of its own.
run::StopMessage check_cuda();

} // namespace pinscope::cuda
