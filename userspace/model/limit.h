// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace pinscope {

// A resource limit in bytes, or none. `bytes` has no meaning where `unlimited` is set.
struct Limit {
    uint64_t bytes = 0;
    bool unlimited = false;

    static constexpr Limit of(uint64_t bytes) { return {bytes, false}; }
    static constexpr Limit none() { return {0, true}; }

    // True where a total of `total` bytes stays within the limit.
    constexpr bool allows(uint64_t total) const { return unlimited || total <= bytes; }

    constexpr bool operator==(const Limit& other) const {
        return unlimited == other.unlimited && (unlimited || bytes == other.bytes);
    }
};

// "8 MiB", "unlimited"
std::string limit_text(const Limit& limit);

constexpr Limit lower(Limit a, Limit b) {
    if (a.unlimited)
        return b;
    return b.unlimited || a.bytes <= b.bytes ? a : b;
}

} // namespace pinscope
