// SPDX-License-Identifier: Apache-2.0
// The programs of bpf/, and what each answers: which hooks there are for a question, best first.
#pragma once

#include "bpf/events.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pinscope::probes {

enum class ProgramType : uint8_t { tracepoint, uprobe, fexit, kprobe, user_run };

// "tp_btf", "uprobe", "fexit", "kprobe", "raw_tp"
std::string_view program_type_name(ProgramType type);

// What a program is part of. All programs of a part are attached, or none.
enum class Part : uint8_t { windows, targets, signals, syscalls, capability, pages, symbols };

// A program on a hook that has no stand-in.
struct ProgramFacts {
    std::string_view name;
    ProgramType type = ProgramType::tracepoint;
    std::string_view hook; // the tracepoint's name; else words
    Part part = Part::windows;
};

// In the order in which they are attached: the return of a call before its entry, so that no window stays
// open.
std::span<const ProgramFacts> plain_programs();

// A kernel function that is watched by fexit, else by kprobe and kretprobe.
struct FunctionFacts {
    kernel_function number = FUNCTION_COUNT;
    function_result result = RESULT_ERROR;
    std::string_view name;
    std::string_view module; // where it lives; empty: in the kernel itself

    bool is_pin() const { return result == RESULT_PINS || result == RESULT_VOID; }
    bool is_charge() const { return result == RESULT_CHARGE; }
    // Of NVIDIA's driver; there only while its module is loaded.
    bool is_driver() const { return result == RESULT_DRIVER_1 || result == RESULT_DRIVER_2; }
    bool is_check() const { return !is_pin() && !is_charge() && !is_driver(); }
};

std::span<const FunctionFacts> watched_functions();

} // namespace pinscope::probes
