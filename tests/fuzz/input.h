// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinscope::fuzz {

inline std::string_view as_text(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// What must hold whatever the input.
inline void require(bool holds) {
    if (!holds)
        __builtin_trap();
}

} // namespace pinscope::fuzz
