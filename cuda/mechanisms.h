// SPDX-License-Identifier: Apache-2.0
// The CUDA mechanisms, as trial/ has them.
#pragma once

#include "trial/mechanism.h"

#include <string>
#include <string_view>

namespace pinscope::cuda {

// The files to load; before any mechanism is made. Empty: what the loader finds, and the built-in runtime.
void use_libraries(const std::string& driver, const std::string& runtime);

// Nothing for a name that is none of them.
const trial::RegisteredMechanism* find_mechanism(std::string_view name);

} // namespace pinscope::cuda
