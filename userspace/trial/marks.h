// SPDX-License-Identifier: Apache-2.0
// What every mechanism writes to its memory, and looks for there afterwards: one byte a page, other than its
// neighbours'.
#pragma once

#include "base/bytes.h"

#include <cstdint>

namespace pinscope::trial {

// For the page that begins `at` bytes into the memory.
inline unsigned char page_mark(uint64_t at) {
    return static_cast<unsigned char>(at / page_size() * 37 + 11);
}

inline void mark_pages(void* memory, uint64_t bytes) {
    auto* base = static_cast<volatile unsigned char*>(memory);
    for (uint64_t at = 0; at < bytes; at += page_size())
        base[at] = page_mark(at);
}

inline bool pages_hold_marks(const void* memory, uint64_t bytes) {
    const auto* base = static_cast<const volatile unsigned char*>(memory);
    for (uint64_t at = 0; at < bytes; at += page_size())
        if (base[at] != page_mark(at))
            return false;
    return true;
}

} // namespace pinscope::trial
