// SPDX-License-Identifier: Apache-2.0
// The exit statuses that people can rely on.
#pragma once

namespace pinscope::cli {

enum Status : int {
    answered = 0,
    problem_found = 1,
    bad_input = 2,
    cannot_answer = 77,
    timed_out = 124,
    own_failure = 125,
    command_not_executable = 126,
    command_not_found = 127,
};

} // namespace pinscope::cli
