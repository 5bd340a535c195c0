// SPDX-License-Identifier: Apache-2.0
// A call window: from entry to return of one call on one thread, and what the kernel did for that thread in
// between.
#pragma once

#include "model/verdict.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

// System calls with the same number, error and file.
struct SyscallsSeen {
    uint32_t number = 0;
    std::string name; // "mlock"
    uint32_t count = 0;
    std::array<uint64_t, 6> arguments{}; // of the first
    int64_t result = 0;                  // of the first; a negative errno where it failed
    std::string file;                    // the last part of the name behind the descriptor, at most 15 bytes
    std::string device;                  // "10:196"; empty for what is no device
    bool unfinished = false;             // the window ended inside the call
};

// A kernel function that was asked whether a limit holds, or that asked for CAP_IPC_LOCK. Equal ones are
// counted.
struct LimitCheckSeen {
    std::string function; // that answered; of a question for the capability, the one that asked
    Tier tier = Tier::tracepoint;
    uint32_t count = 0;
    std::optional<bool> capability_refused; // nothing where no capability was asked for
    int64_t result = 0;                     // of the function, in its own terms
    bool denied = false;                    // it said no: an errno, false, a null result where that means so
    std::array<uint64_t, 3> arguments{};
    std::string syscall;            // in which it happened; empty: in none
    std::vector<std::string> stack; // innermost first; of questions for the capability
};

// In bytes; no value where this kernel does not have it, or the process was past having memory.
struct BudgetsSeen {
    std::optional<uint64_t> locked_vm;
    std::optional<uint64_t> pinned_vm;
    std::optional<uint64_t> user_locked_vm; // of the user, for all its processes
    std::optional<uint64_t> user_memlock;   // likewise: shared memory that is locked
    std::optional<uint64_t> memlock_soft;   // 2^64-1: unlimited
    std::optional<uint64_t> memlock_hard;
    std::optional<uint64_t> cgroup_usage;
};

struct FunctionCalls {
    std::string function;
    uint64_t calls = 0;
    uint64_t pages = 0; // pinned, given back, or refused by the charge
    uint64_t failed = 0;
};

// One ioctl of an NVIDIA device, as its structure was at the return. No value: this command has no such
// field, or it could not be read.
struct NvidiaCallSeen {
    std::string device;             // "nvidiactl", "nvidia0", "nvidia-uvm"
    std::string name;               // "RM_ALLOC_MEMORY"; empty for one that is not known
    uint32_t number = 0;            // of the command
    int64_t result = 0;             // of the ioctl; 0 also where the driver refused
    std::optional<uint32_t> client; // handles
    std::optional<uint32_t> object;
    std::optional<uint32_t> object_class;
    std::string class_name; // "OS descriptor"
    std::optional<uint64_t> bytes;
    std::optional<uint64_t> address;
    std::optional<uint32_t> status; // of the driver; 0 is success
    std::string status_name;        // "NO_MEMORY"
    uint32_t faults = 0;            // reads of the caller's memory that failed
};

enum class WindowEnd : uint8_t { returned, abandoned, unfinished };
std::string_view window_end_name(WindowEnd end);

enum class WindowCause : uint8_t { none, exit, exec, signal, oom_kill };
std::string_view window_cause_name(WindowCause cause);

struct CallWindow {
    uint64_t tag = 0;  // the first argument of the call
    uint32_t tgid = 0; // in the initial pid namespace
    uint32_t tid = 0;
    uint64_t entered_ns = 0;       // CLOCK_MONOTONIC; with tid, what tells windows apart
    uint64_t outer_entered_ns = 0; // of the window that this one is in; 0: none
    uint64_t left_ns = 0;
    WindowEnd end = WindowEnd::returned;
    WindowCause cause = WindowCause::none; // why it is unfinished
    uint32_t exit_code = 0;                // as in wait(2)
    uint32_t signals = 0;                  // handlers that ran inside
    BudgetsSeen before;
    BudgetsSeen after;
    std::vector<SyscallsSeen> syscalls;
    std::vector<LimitCheckSeen> checks;
    std::vector<FunctionCalls> pins;    // pin_user_pages* and its relatives, those that were called
    std::vector<FunctionCalls> charges; // refused charges
    std::vector<FunctionCalls> driver;  // NVIDIA's driver functions
    std::vector<NvidiaCallSeen> nvidia; // ioctls, in order
    uint32_t nvidia_dropped = 0;        // ioctls beyond what a record holds
    uint64_t pages_user = 0;            // allocated, by class
    uint64_t pages_kernel_charged = 0;
    uint64_t pages_kernel_uncharged = 0;
    uint64_t pages_refused = 0;
    uint32_t syscalls_dropped = 0; // kinds of calls beyond what a record holds
    uint32_t checks_dropped = 0;
};

// A program was not run because it was under way on that CPU already; the task may have been any of the host.
inline constexpr std::string_view missed_run = "missed_run";

// What was not delivered, by reason.
struct Loss {
    std::string reason;
    uint64_t count = 0;
    bool windows = false; // these were windows; else something smaller
};

// What the attached programs could have seen. What they could not is unknown, not absent.
struct WindowSight {
    bool windows = false;
    bool syscalls = false;
    bool capability = false; // questions for CAP_IPC_LOCK
    bool functions = false;  // at least one function
    bool pins = false;
    bool pages = false;
    bool charges = false;
    bool driver = false; // functions of NVIDIA's driver
};

// The windows of one trial.
struct TrialWindows {
    WindowSight sight;
    std::vector<CallWindow> windows; // in the order of their ends
    std::vector<Loss> losses;        // during the trial; every reason, zero too
};

} // namespace pinscope
