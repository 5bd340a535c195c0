// SPDX-License-Identifier: Apache-2.0
// One eBPF program on one hook, and whether this kernel took it.
#pragma once

#include "model/verdict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pinscope {

struct Probe {
    std::string name; // of the program
    std::string hook; // "tp_btf sys_enter", "fexit do_mlock"
    Tier tier = Tier::tracepoint;
    bool attached = false;
    std::string reason;                   // why it is not; or, of a stand-in, why the better one is not
    std::optional<uint64_t> instructions; // that the verifier went through; kernels from 5.16 on tell
    std::optional<uint64_t> missed; // runs that were left out, because one was under way on the CPU; 5.12
};

} // namespace pinscope
