// SPDX-License-Identifier: Apache-2.0
// How trials are put into words: the pieces that reasons and evidence are made of.
#pragma once

#include "model/host_facts.h"
#include "model/trial.h"

#include <string>

namespace pinscope::analysis {

// "16 MiB", "8 times 2 MiB"
std::string size_words(const Trial& trial);

// "refused with ENOMEM (mlock)", "granted", "killed by the OOM killer …"
std::string outcome_words(const Trial& trial);

// "under a limit of 8 MiB", and nothing where the trial did not get as far as reading its limit.
std::string under_limit_words(const Trial& trial);

// What kept a trial from being granted, where it was not the memlock limit.
std::string cause_words(const Trial& trial, const HostFacts& host);

// One line of evidence: role, size, conditions, outcome, and what the counters did.
std::string evidence_line(const Trial& trial);

} // namespace pinscope::analysis
