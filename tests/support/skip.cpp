// SPDX-License-Identifier: Apache-2.0
#include "support/skip.h"

#include <cstdio>

namespace pinscope::test {

void announce_skip(const std::string& reason) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::printf("PINSCOPE-SKIP: %s.%s: %s\n", info->test_suite_name(), info->name(), reason.c_str());
    std::fflush(stdout);
}

} // namespace pinscope::test
