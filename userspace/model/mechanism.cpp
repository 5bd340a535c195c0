// SPDX-License-Identifier: Apache-2.0
#include "model/mechanism.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinscope {

std::string error_name(const TrialError& error) {
    switch (error.domain) {
    case ErrorDomain::none:
        return "no error";
    case ErrorDomain::errno_value:
        return errno_name(error.code);
    case ErrorDomain::signal:
        return signal_name(error.code);
    case ErrorDomain::cuda:
        return fmt::format("CUDA runtime error {}", error.code);
    case ErrorDomain::cuda_driver:
        return fmt::format("CUDA driver error {}", error.code);
    case ErrorDomain::rm:
        return fmt::format("RM status {:#x}", error.code);
    }
    return {};
}

std::string_view domain_name(ErrorDomain domain) {
    switch (domain) {
    case ErrorDomain::none:
        return "none";
    case ErrorDomain::errno_value:
        return "errno";
    case ErrorDomain::signal:
        return "signal";
    case ErrorDomain::cuda:
        return "cuda";
    case ErrorDomain::cuda_driver:
        return "cuda_driver";
    case ErrorDomain::rm:
        return "rm";
    }
    return {};
}

std::string_view budget_name(Budget budget) {
    switch (budget) {
    case Budget::locked_vm:
        return "locked_vm";
    case Budget::pinned_vm:
        return "pinned_vm";
    case Budget::user_locked_vm:
        return "user_locked_vm";
    case Budget::user_memlock:
        return "user_memlock";
    case Budget::total_vm:
        return "total_vm";
    }
    return {};
}

bool MechanismFacts::documents(const TrialError& error, bool limit_is_zero) const {
    if (any_error_may_be_the_limit && error.domain != ErrorDomain::none &&
        error.domain != ErrorDomain::signal)
        return true;
    const auto& documented = limit_is_zero && !at_zero_limit.empty() ? at_zero_limit : over_limit;
    return std::find(documented.begin(), documented.end(), error) != documented.end();
}

bool MechanismFacts::counts_in(Budget budget) const {
    return std::find(budgets.begin(), budgets.end(), budget) != budgets.end();
}

bool counts_in_shared_budget(const MechanismFacts& facts) {
    return std::any_of(facts.budgets.begin(), facts.budgets.end(), is_shared);
}

bool names_family(std::string_view wanted, std::string_view mechanism) {
    return mechanism.substr(0, mechanism.find('-')) == wanted;
}

} // namespace pinscope
