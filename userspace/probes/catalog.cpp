// SPDX-License-Identifier: Apache-2.0
#include "probes/catalog.h"

#include <array>

namespace pinscope::probes {

std::string_view program_type_name(ProgramType type) {
    static constexpr std::array<std::string_view, 5> names = {"tp_btf", "uprobe", "fexit", "kprobe",
                                                              "raw_tp"};
    return names.at(static_cast<size_t>(type));
}

std::span<const ProgramFacts> plain_programs() {
    using enum ProgramType;
    static constexpr std::array programs = {
        ProgramFacts{"name_symbol", user_run, "the name of a kernel address", Part::symbols},
        ProgramFacts{"watch_caller", user_run, "pinscope itself", Part::targets},
        ProgramFacts{"process_freed", tracepoint, "sched_process_free", Part::targets},
        ProgramFacts{"process_forked", tracepoint, "sched_process_fork", Part::targets},
        ProgramFacts{"syscall_left", tracepoint, "sys_exit", Part::syscalls},
        ProgramFacts{"syscall_entered", tracepoint, "sys_enter", Part::syscalls},
        ProgramFacts{"capability_asked", tracepoint, "cap_capable", Part::capability},
        ProgramFacts{"pages_allocated", tracepoint, "mm_page_alloc", Part::pages},
        ProgramFacts{"signal_delivered", tracepoint, "signal_deliver", Part::signals},
        ProgramFacts{"thread_ended", tracepoint, "sched_process_exit", Part::windows},
        ProgramFacts{"program_replaced", tracepoint, "sched_process_exec", Part::windows},
        ProgramFacts{"call_returned", uprobe, "the return of the marked call", Part::windows},
        ProgramFacts{"call_entered", uprobe, "the entry of the marked call", Part::windows},
    };
    return programs;
}

namespace {

constexpr std::string_view module_of(kernel_function function) {
    switch (function) {
    case FUNCTION_ib_umem_get:
        return "ib_uverbs";
    case FUNCTION_os_lock_user_pages:
    case FUNCTION_os_unlock_user_pages:
    case FUNCTION_nv_register_user_pages:
    case FUNCTION_nv_alloc_pages:
    case FUNCTION_nv_free_pages:
    case FUNCTION_nv_dma_map_alloc:
        return "nvidia";
    case FUNCTION_uvm_cpu_chunk_alloc:
        return "nvidia_uvm";
    default:
        return "";
    }
}

} // namespace

std::span<const FunctionFacts> watched_functions() {
    static constexpr std::array functions = {
#define PINSCOPE_FUNCTION_FACTS(name, result)                                                                \
    FunctionFacts{FUNCTION_##name, RESULT_##result, #name, module_of(FUNCTION_##name)},
        PINSCOPE_FUNCTIONS(PINSCOPE_FUNCTION_FACTS)
#undef PINSCOPE_FUNCTION_FACTS
    };
    return functions;
}

} // namespace pinscope::probes
