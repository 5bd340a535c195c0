// SPDX-License-Identifier: Apache-2.0
// From a record of the kernel side to a window in words and bytes.
#pragma once

#include "bpf/events.h"
#include "model/window.h"
#include "probes/kernel_symbols.h"

namespace pinscope::probes {

CallWindow read_window(const window_record& record, KernelSymbols& symbols);

// The function that asked for a capability: the first of the stack that is not one of the general ones which
// ask on behalf of others. Without what compilers append (.isra.0), and without the prefixes of system calls'
// entries.
std::string asking_function(const std::vector<std::string>& stack);

} // namespace pinscope::probes
