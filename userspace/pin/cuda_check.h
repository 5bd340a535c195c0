// SPDX-License-Identifier: Apache-2.0
// Asks pinscope-cuda whether the CUDA driver library can be loaded and started here.
#pragma once

#include "model/host_facts.h"
#include "run/interruption.h"
#include "run/stage.h"

#include <string>

namespace pinscope::pin {

// Where pinscope-cuda is: beside this program, or in ../libexec/pinscope. Empty where it is not there.
std::string find_pinscope_cuda();

// What it answers, or why it does not.
CudaLibraryFacts check_cuda(const run::Stage& stage, const run::Interruption& interruption,
                            const std::string& program);

} // namespace pinscope::pin
