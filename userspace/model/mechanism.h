// SPDX-License-Identifier: Apache-2.0
// What is known of one mechanism before anything is tried. The facts stand beside the code of each mechanism.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

enum class ErrorDomain : uint8_t { none, errno_value, signal, cuda, cuda_driver, rm };

struct TrialError {
    ErrorDomain domain = ErrorDomain::none;
    int code = 0;

    bool operator==(const TrialError&) const = default;
};

// "ENOMEM", "SIGBUS", "CUDA error 2".
std::string error_name(const TrialError& error);
std::string_view domain_name(ErrorDomain domain);

// The counters that the kernel compares with RLIMIT_MEMLOCK. They are separate: filling one leaves the others
// empty.
enum class Budget : uint8_t {
    locked_vm,      // mm->locked_vm, of one process; VmLck in /proc/PID/status
    pinned_vm,      // mm->pinned_vm, of one process; VmPin
    user_locked_vm, // user_struct.locked_vm, of all processes of a uid; nowhere in /proc
    user_memlock, // ucounts RLIMIT_MEMLOCK, of all processes of a uid (user->locked_shm before 5.14); nowhere
                  // in /proc
    total_vm,     // mm->total_vm, of one process; VmSize
};

std::string_view budget_name(Budget budget);

// Budgets that other processes of the same user fill too.
constexpr bool is_shared(Budget budget) {
    return budget == Budget::user_locked_vm || budget == Budget::user_memlock;
}

struct MechanismFacts {
    std::string_view name;
    std::string_view summary; // what it does, in a few words
    // What the kernel is documented to answer over the limit. Empty: no limit is documented to stop it.
    std::vector<TrialError> over_limit;
    // The same where the limit is 0, if it differs (mm/mlock.c can_do_mlock: EPERM).
    std::vector<TrialError> at_zero_limit;
    std::vector<Budget> budgets; // what it counts in
    std::string_view source;     // kernel file, function, versions
    std::string_view needs;      // what it needs besides memory, in words; may be empty
    // False where the kernel is not documented, in every version, to let CAP_IPC_LOCK over the limit.
    bool capability_lifts = true;
    // Whether any error may be the limit's, because none is documented: then what lifts it tells.
    bool any_error_may_be_the_limit = false;
    // "granted over the limit" is what the kernel's source says here, and why
    std::string_view not_limited_because;

    bool documents(const TrialError& error, bool limit_is_zero) const;
    bool counts_in(Budget budget) const;
};

bool counts_in_shared_budget(const MechanismFacts& facts);

// An exact name, else the family: the part before the first '-'. "io_uring" names both io_uring mechanisms,
// "mlock" only itself.
bool names_family(std::string_view wanted, std::string_view mechanism);

} // namespace pinscope
