// SPDX-License-Identifier: Apache-2.0
// Registered mechanisms of given sizes that nothing can be pinned with.
#pragma once

#include "base/bytes.h"
#include "trial/mechanism.h"

#include <bit>

namespace pinscope::test {

inline const MechanismFacts no_facts;

inline uint64_t any_size(uint64_t bytes) {
    return bytes;
}
inline uint64_t power_of_two(uint64_t bytes) {
    return std::bit_ceil(bytes);
}
inline uint64_t nothing_free() {
    return 0;
}
inline uint64_t one_mib_free() {
    return 1_MiB;
}

inline const trial::RegisteredMechanism plain = {no_facts, nullptr, &any_size, &nothing_free, true};
inline const trial::RegisteredMechanism powers = {no_facts, nullptr, &power_of_two, &nothing_free, true};
// As perf's ring: 1 MiB is free.
inline const trial::RegisteredMechanism powers_beyond_1_mib = {no_facts, nullptr, &power_of_two,
                                                               &one_mib_free, true};

} // namespace pinscope::test
