// SPDX-License-Identifier: Apache-2.0
// Whether the CUDA driver library can be loaded and started here.
#pragma once

#include "run/stop_message.h"

namespace pinscope::cuda {

// `ok` with what was found as its detail; `unsupported` with the call that failed, its error, and the reason.
// Calls into a library of others, which may hang or crash: done in a process of its own.
run::StopMessage check_driver();

} // namespace pinscope::cuda
