// SPDX-License-Identifier: Apache-2.0
// Asks pinscope-cuda whether the CUDA driver library can be loaded and started here.
#pragma once

#include "model/cuda.h"
#include "run/interruption.h"
#include "run/stage.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinscope::pin {

// Where pinscope-cuda is: beside this program, or in ../libexec/pinscope. Empty where it is not there.
std::string find_pinscope_cuda();

// How a trial or the check is started: the program, its verb and the libraries to load.
std::vector<std::string> cuda_command(const std::string& program, std::string_view verb,
                                      const CudaLibraries& libraries);

// What it answers, or why it does not.
CudaFacts check_cuda(const run::Stage& stage, const run::Interruption& interruption,
                     const std::string& program, const CudaLibraries& libraries);

} // namespace pinscope::pin
