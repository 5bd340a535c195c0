// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/verb.h"

#include <string>

namespace pinscope::cli {

std::string general_help();
std::string verb_help(const Verb& verb);

} // namespace pinscope::cli
