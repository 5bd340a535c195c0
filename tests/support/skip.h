// SPDX-License-Identifier: Apache-2.0
// A test that cannot run here is skipped with its reason, in a form that scripts/check-skips reads.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace pinscope::test {

void announce_skip(const std::string& reason);

} // namespace pinscope::test

#define SKIP_HERE(reason)                                                                                    \
    do {                                                                                                     \
        pinscope::test::announce_skip(reason);                                                               \
        GTEST_SKIP() << (reason);                                                                            \
    } while (false)
