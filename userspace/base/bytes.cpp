// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include "base/text.h"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

namespace pinscope {
namespace {

constexpr uint64_t largest = (uint64_t{1} << 53U) - 1;

constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"}; // what parse_bytes reads

Error bad_size(std::string_view text, std::string reason) {
    return {"cannot read the size", fmt::format("'{}'", printable(text)), std::move(reason),
            "write bytes, or a number with KiB, MiB, GiB or TiB, such as 64MiB", EINVAL};
}

// The shift of a unit's power of two; negative for what is no unit.
int unit_shift(std::string_view unit) {
    std::string lower(unit);
    for (char& c : lower)
        c = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower.empty() || lower == "b")
        return 0;
    if (lower.size() == 1 || lower.substr(1) == "ib") {
        const size_t power = std::string_view("kmgt").find(lower[0]);
        if (power != std::string_view::npos)
            return static_cast<int>(power + 1) * 10;
    }
    return -1;
}

} // namespace

Result<uint64_t> parse_bytes(std::string_view text) {
    const std::string_view body = trim(text);
    const size_t number_end = std::min(body.find_first_not_of("0123456789."), body.size());
    const std::string_view number = body.substr(0, number_end);
    const std::string_view unit = trim(body.substr(number_end));
    if (number.empty())
        return fail(bad_size(text, "it does not begin with a number"));
    const int shift = unit_shift(unit);
    if (shift < 0) {
        const bool decimal = unit.size() == 2 && (unit[1] == 'B' || unit[1] == 'b');
        return fail(bad_size(text, decimal
                                       ? fmt::format("'{}' may mean powers of ten or of two", printable(unit))
                                       : fmt::format("'{}' is no unit", printable(unit))));
    }

    const size_t dot = number.find('.');
    const auto whole = parse_unsigned(number.substr(0, dot));
    if (!whole)
        return fail(bad_size(text, "the number is not one that can be read"));
    if (*whole > (largest >> static_cast<unsigned>(shift)))
        return fail(bad_size(text, "it is over 2^53 - 1 bytes"));
    uint64_t bytes = *whole << static_cast<unsigned>(shift);
    if (dot != std::string_view::npos) {
        const std::string_view digits = number.substr(dot + 1);
        const auto fraction = parse_unsigned(digits);
        if (!fraction || digits.size() > 6)
            return fail(bad_size(text, "the fraction is not one to six digits"));
        const uint64_t scaled = *fraction << static_cast<unsigned>(shift);
        const auto divisor =
            static_cast<uint64_t>(std::llround(std::pow(10, static_cast<double>(digits.size()))));
        if (scaled % divisor != 0)
            return fail(bad_size(text, "it is not a whole number of bytes"));
        bytes += scaled / divisor;
    }
    return bytes;
}

std::string format_exact_bytes(uint64_t bytes) {
    size_t power = 0;
    while (bytes != 0 && power + 1 < units.size() && bytes % (uint64_t{1} << (10 * (power + 1))) == 0)
        ++power;
    return fmt::format("{} {}", bytes >> (10 * power), units.at(power));
}

std::string format_bytes(uint64_t bytes) {
    size_t power = 0;
    while (power + 1 < units.size() && (bytes >> (10 * (power + 1))) != 0)
        ++power;
    const uint64_t unit = uint64_t{1} << (10 * power);
    if (bytes % unit == 0)
        return fmt::format("{} {}", bytes / unit, units[power]);
    return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit), units[power]);
}

uint64_t page_size() {
    static const auto size = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

} // namespace pinscope
