// SPDX-License-Identifier: Apache-2.0
// Byte sizes as people write and read them. All units are powers of two.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pinscope {

// The value of "64MiB", "64M", "1.5GiB", "8192", "8192B". Units: B, K/KiB, M/MiB, G/GiB, T/TiB, any case.
// "MB" is refused, because it means two things. A fraction must come out as whole bytes. At most 2^53-1, the
// largest integer that every JSON reader keeps.
Result<uint64_t> parse_bytes(std::string_view text);

// "64 MiB", "1.5 GiB", "4095 B": at most one decimal, exact where it shows none.
std::string format_bytes(uint64_t bytes);

// The same in the largest unit that is exact: "8196 KiB".
std::string format_exact_bytes(uint64_t bytes);

uint64_t page_size();

// The least multiple of `unit` that is not below `bytes`.
constexpr uint64_t round_up(uint64_t bytes, uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}
constexpr uint64_t round_down(uint64_t bytes, uint64_t unit) {
    return bytes / unit * unit;
}

constexpr uint64_t operator""_KiB(unsigned long long n) {
    return n << 10U;
}
constexpr uint64_t operator""_MiB(unsigned long long n) {
    return n << 20U;
}
constexpr uint64_t operator""_GiB(unsigned long long n) {
    return n << 30U;
}

} // namespace pinscope
