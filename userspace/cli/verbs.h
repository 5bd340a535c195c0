// SPDX-License-Identifier: Apache-2.0
// The tables of all verbs; each is defined beside what it runs.
#pragma once

#include "cli/verb.h"

namespace pinscope::cli {

Verb pin_verb();
Verb run_verb();
Verb completion_verb();

} // namespace pinscope::cli
