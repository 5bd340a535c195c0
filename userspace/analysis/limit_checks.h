// SPDX-License-Identifier: Apache-2.0
// Who decided on the limit, from what the kernel side saw inside a trial's windows. Pure.
//
// That a function asked for CAP_IPC_LOCK and was refused is not yet a decision: many ask always, and grant
// what is within the limit all the same. So, of a request that was refused with the documented error:
//
//   1  a function that compares with the limit and said no itself (function tier) decided
//   2  else one that asks only for what is over the limit, and was refused the capability
//   3  else one that asks always, or that is not known, where the very system call it asked in failed with
//   that error
//
// Nothing decides on a request that was granted.
#pragma once

#include "model/pin.h"

#include <string>
#include <vector>

namespace pinscope::analysis {

// One entry a function, in the order in which they were first seen.
std::vector<LimitCheck> judge_limit_checks(const Trial& trial);

// "do_mlock", "do_mmap|mlock_future_ok"; empty: no decision was seen.
std::string deciding_functions(const std::vector<LimitCheck>& checks);

// What a verdict can rest on where windows were seen so.
Tier sight_tier(const WindowSight& sight);

// The best tier of those that decided.
Tier deciding_tier(const std::vector<LimitCheck>& checks);

} // namespace pinscope::analysis
