// SPDX-License-Identifier: Apache-2.0
// How one step of a trial ended, in the trial process.
#pragma once

#include "run/stop_message.h"

#include <cerrno>
#include <string>
#include <string_view>

namespace pinscope::trial {

struct Step {
    run::StepResult result = run::StepResult::ok;
    int error = 0;         // of the domain
    std::string_view call; // the call that gave it: "mlock"; a literal
    std::string detail;    // a sentence; may be empty
    ErrorDomain domain = ErrorDomain::errno_value;

    explicit operator bool() const { return result == run::StepResult::ok; }

    static Step ok() { return {}; }
    static Step refused(std::string_view call, int error = errno) {
        return {run::StepResult::refused, error, call, "", ErrorDomain::errno_value};
    }
    static Step unsupported(std::string_view call, std::string detail, int error = errno) {
        return {run::StepResult::unsupported, error, call, std::move(detail), ErrorDomain::errno_value};
    }
};

} // namespace pinscope::trial
