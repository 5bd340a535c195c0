// SPDX-License-Identifier: Apache-2.0
// The two CUDA libraries of this process, each loaded when it is first asked for.
#pragma once

#include "cuda/driver_api.h"
#include "cuda/runtime_api.h"
#include "trial/step.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace pinscope::cuda {

// Empty: what the loader finds, and the built-in runtime.
void use_libraries(const std::string& driver, const std::string& runtime);

// The driver library is loaded first by either: the runtime looks for "libcuda.so.1" by that name, and gets
// the one that is loaded already, wherever it is.
const DriverApi& driver();
const RuntimeApi& runtime();

// `unsupported` naming the first function that the library lacks, or why the library is not loaded.
using Needed = std::initializer_list<std::pair<const char*, bool>>;
trial::Step need(const Library& library, const char* library_name, Needed functions);

trial::Step driver_refused(std::string_view call, DriverStatus status);
trial::Step runtime_refused(std::string_view call, RuntimeStatus status);

// The primary context of device 0, as the runtime uses it; current for this thread.
trial::Step make_context();

} // namespace pinscope::cuda
