// SPDX-License-Identifier: Apache-2.0
// Registered mechanisms of given sizes that nothing can be pinned with.
#pragma once

#include "base/bytes.h"
#include "pin/mechanism.h"

#include <bit>

namespace pinscope::test {

inline const MechanismFacts no_facts;

inline uint64_t any_size(uint64_t bytes) {
    return bytes;
}
inline uint64_t power_of_two(uint64_t bytes) {
    return std::bit_ceil(bytes);
}

inline const pin::RegisteredMechanism plain = {no_facts, nullptr, &any_size, [] { return uint64_t{0}; },
                                               true};
inline const pin::RegisteredMechanism powers = {no_facts, nullptr, &power_of_two, [] { return uint64_t{0}; },
                                                true};
// As perf's ring: 1 MiB is free.
inline const pin::RegisteredMechanism powers_beyond_1_mib = {no_facts, nullptr, &power_of_two,
                                                             [] { return uint64_t{1_MiB}; }, true};

} // namespace pinscope::test
