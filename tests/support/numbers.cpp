// SPDX-License-Identifier: Apache-2.0
#include "support/numbers.h"

#include "base/bytes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <regex>
#include <set>

namespace pinscope::test {
namespace {

using nlohmann::ordered_json;

const std::regex& number_pattern() {
    static const std::regex pattern(R"((\d+(\.\d+)?)( (B|KiB|MiB|GiB|TiB|s)\b)?)");
    return pattern;
}

std::vector<std::string> numbers_of(const std::string& text) {
    std::vector<std::string> found;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), number_pattern());
         it != std::sregex_iterator(); ++it)
        found.push_back(it->str());
    return found;
}

using Visitor = std::function<void(const std::string& path, const ordered_json& value)>;

void visit(const std::string& path, const ordered_json& value, const Visitor& visitor) {
    if (value.is_object())
        for (const auto& [key, member] : value.items())
            visit(path.empty() ? key : fmt::format("{}.{}", path, key), member, visitor);
    else if (value.is_array())
        for (size_t i = 0; i < value.size(); ++i)
            visit(fmt::format("{}[{}]", path, i), value[i], visitor);
    else
        visitor(path, value);
}

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

std::vector<std::string> numbers_missing_from_json(const std::string& text, const ordered_json& document) {
    std::set<std::string> known;
    visit("", document, [&](const std::string& path, const ordered_json& value) {
        if (value.is_string())
            for (const auto& number : numbers_of(value.get<std::string>()))
                known.insert(number);
        if (!value.is_number())
            return;
        known.insert(value.dump());
        if (value.is_number_unsigned() && ends_with(path, "_bytes")) {
            known.insert(format_bytes(value.get<uint64_t>()));
            known.insert(format_exact_bytes(value.get<uint64_t>()));
        }
        if (ends_with(path, "_ns"))
            known.insert(fmt::format("{:.1f} s", value.get<double>() / 1e9));
    });
    std::vector<std::string> missing;
    for (const auto& number : numbers_of(text))
        if (known.count(number) == 0)
            missing.push_back(number);
    return missing;
}

std::vector<std::string> numbers_missing_from_text(const ordered_json& document, const std::string& text) {
    std::vector<std::string> missing;
    visit("", document, [&](const std::string& path, const ordered_json& value) {
        if (!value.is_number())
            return;
        const std::string digits = value.dump();
        const std::regex alone("(^|[^0-9.])" + digits + "($|[^0-9.])");
        if (!std::regex_search(text, alone))
            missing.push_back(path + "=" + digits);
    });
    return missing;
}

} // namespace pinscope::test
