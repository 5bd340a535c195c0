// SPDX-License-Identifier: Apache-2.0
// Sets conditions in a freshly forked process, before its exec.
#pragma once

#include "base/result.h"
#include "model/conditions.h"

namespace pinscope::run {

// The order matters: limits while CAP_SYS_RESOURCE may still be there, then the user namespace, then the ids,
// then the capabilities, which each step before could have needed. What is set survives an exec: a capability
// that is taken away leaves all five sets, and where the bounding set cannot be changed (CAP_SETPCAP),
// no_new_privs keeps an exec as uid 0 from giving it back (security/commoncap.c cap_bprm_creds_from_file).
Status apply_conditions(const Conditions& conditions);

} // namespace pinscope::run
