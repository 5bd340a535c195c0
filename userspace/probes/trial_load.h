// SPDX-License-Identifier: Apache-2.0
// Which types of program this kernel takes from this process: found out by loading the smallest of each. A
// refused program takes its whole object down, so only types that passed are asked for.
#pragma once

#include "base/result.h"
#include "probes/catalog.h"
#include "probes/kernel_types.h"

namespace pinscope::probes {

// Fails with the reason in words: a missing capability, lockdown, a policy, no such hooks in this kernel.
// `broken`: the program is made one that any kernel refuses, for tests of what comes then.
Status try_program_type(ProgramType type, const KernelTypes& types, bool broken);

// Why a bpf(2) or perf_event_open(2) call was refused, as far as this process can tell.
std::string refusal_words(int error);

} // namespace pinscope::probes
