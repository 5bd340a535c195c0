// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include "cli/verb.h"

namespace pinscope::cli {

const std::vector<Verb>& all_verbs() {
    static const std::vector<Verb> verbs = {pin_verb(), run_verb(), completion_verb()};
    return verbs;
}

} // namespace pinscope::cli
