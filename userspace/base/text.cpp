// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <charconv>

namespace pinscope {

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    if (text.empty())
        return parts;
    for (;;) {
        const size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> words(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    std::vector<std::string_view> parts;
    for (;;) {
        const size_t first = text.find_first_not_of(blanks);
        if (first == std::string_view::npos)
            return parts;
        text.remove_prefix(first);
        const size_t end = text.find_first_of(blanks);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end);
    }
}

std::optional<uint64_t> parse_unsigned(std::string_view text) {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    return value;
}

std::optional<std::string_view> find_value(std::string_view text, std::string_view key) {
    for (std::string_view line : split(text, '\n')) {
        if (line.substr(0, key.size()) != key)
            continue;
        line.remove_prefix(key.size());
        if (line.empty() || (line.front() != ':' && line.front() != ' ' && line.front() != '\t'))
            continue;
        if (line.front() == ':')
            line.remove_prefix(1);
        return trim(line);
    }
    return std::nullopt;
}

std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    return out;
}

std::string join_and(const std::vector<std::string>& parts) {
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0)
            out += i + 1 == parts.size() ? " and " : ", ";
        out += parts[i];
    }
    return out;
}

} // namespace pinscope
