// SPDX-License-Identifier: Apache-2.0
// The verdicts, from what the trials showed. Pure: the same findings give the same answer.
//
//   over the limit           compared with                                             verdict
//   ---------------------    ------------------------------------------------------    -----------------
//   granted                  controls hold: mlock is refused over and granted under    not_enforced
//   granted                  a control fails or cannot be set up                       inconclusive
//   documented error         granted with only the limit lifted, or with the           enforced
//                            capability added, or the soft limit moved
//   any refusal, OOM kill    refused or killed there too                               blocked_elsewhere
//   any refusal              nothing could be compared                                 inconclusive
//   another error            granted there                                             inconclusive
//   cannot be done here      -                                                         unsupported
//
// What would be granted in any case proves nothing: a size within the limit, no limit, or CAP_IPC_LOCK where
// it counts.
#pragma once

#include "model/pin.h"

#include <vector>

namespace pinscope::analysis {

PinAnswer answer_pin(const PinFindings& findings);

// The controls that the trials amount to: mlock's, and those of mechanisms that count in another budget.
std::vector<Control> find_controls(const PinFindings& findings);

Verdict judge(const MechanismFacts& facts, const PinFindings& findings, const std::vector<Control>& controls);

} // namespace pinscope::analysis
