// SPDX-License-Identifier: Apache-2.0
// What the tests need to know of the host, and what they make on it.
#pragma once

#include "kernel/test_cgroups.h"
#include "support/program.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope::test {

bool is_root();

// This very executable, whose small commands main.cpp lists.
std::string this_program();

// `pinscope pin --json ARGUMENTS…`, parsed and checked against its schema. A test fails where that is not
// what came.
// NOLINTNEXTLINE(bugprone-exception-escape): of nlohmann::json's move
struct PinRun {
    int status = -1;
    nlohmann::json document;
    std::string err;

    // The verdict, or the reason, on one mechanism; "" where there is none.
    std::string verdict(std::string_view mechanism) const;
    std::string reason(std::string_view mechanism) const;
    // The state and the reason of one control.
    std::string control(std::string_view name, std::string_view mechanism = "mlock") const;
    std::string control_reason(std::string_view name, std::string_view mechanism = "mlock") const;
    // The last trial of that role, so not the control's; null where there is none.
    nlohmann::json trial(std::string_view mechanism, std::string_view role) const;
    // The one that was granted because the limit was lifted or the capability added; null where there is
    // none.
    nlohmann::json granted_contrast(std::string_view mechanism) const;
};

PinRun pin_json(std::vector<std::string> arguments, const ProgramOptions& options = {});
// The same without kernel probes: what most tests are about does not need them, and they take time.
PinRun pin_json_unprobed(std::vector<std::string> arguments, const ProgramOptions& options = {});

// What runs of pinscope have left: cgroups, v2 controllers, and processes.
std::vector<std::string> leftovers();

// Bounds on time are multiplied by this: $PINSCOPE_TIME_FACTOR, for emulated processors; 1 by default.
double time_factor();

// For ProgramOptions::before_exec: each says whether it worked.
bool drop_capabilities(const std::vector<unsigned>& capabilities); // from all sets, the bounding one too
bool set_memlock(uint64_t soft, uint64_t hard);
bool become_nobody();
bool enter_child_user_namespace(); // as its root

} // namespace pinscope::test
