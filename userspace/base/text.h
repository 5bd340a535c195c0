// SPDX-License-Identifier: Apache-2.0
// Taking text apart, and making foreign text safe to print.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

std::string_view trim(std::string_view text);

// Splits at every `separator`; empty parts are kept, so "a,,b" has three. Nothing for empty text.
std::vector<std::string_view> split(std::string_view text, char separator);

// Splits at runs of blanks and tabs; no empty parts.
std::vector<std::string_view> words(std::string_view text);

// Decimal digits alone; nothing for a sign, a blank, or a number over 64 bits.
std::optional<uint64_t> parse_unsigned(std::string_view text);

// The value of "key  value" or "key: value" among the lines of `text`, trimmed: the shape of
// /proc/PID/status, /proc/meminfo, memory.stat. Nothing where the key is not there.
std::optional<std::string_view> find_value(std::string_view text, std::string_view key);

// Control characters become \xNN, so that names chosen by others cannot write to the reader's terminal.
std::string printable(std::string_view text);

// What these return points into the text, which must not be a temporary.
template <std::same_as<std::string> T>
void trim(T&&) = delete;
template <std::same_as<std::string> T>
void split(T&&, char) = delete;
template <std::same_as<std::string> T>
void words(T&&) = delete;
template <std::same_as<std::string> T>
void find_value(T&&, std::string_view) = delete;

// "a, b and c"
std::string join_and(const std::vector<std::string>& parts);

} // namespace pinscope
