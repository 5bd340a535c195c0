// SPDX-License-Identifier: Apache-2.0
#include "report/json_text.h"

#include "base/bytes.h"
#include "base/text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace pinscope::report {
namespace {

using nlohmann::ordered_json;

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string value_text(std::string_view key, const ordered_json& value) {
    if (value.is_null())
        return "-";
    if (value.is_string())
        return printable(value.get_ref<const std::string&>());
    if (value.is_number_unsigned() && ends_with(key, "_bytes") && value.get<uint64_t>() >= 1024)
        return fmt::format("{} ({})", value.get<uint64_t>(), format_bytes(value.get<uint64_t>()));
    return value.dump();
}

void add(std::string& out, const std::string& key, const ordered_json& value, size_t depth) {
    const std::string indent(depth * 2, ' ');
    if (!value.is_structured()) {
        out += fmt::format("{}{:<{}} {}\n", indent, key, 32 - std::min<size_t>(depth * 2, 31),
                           value_text(key, value));
        return;
    }
    if (value.empty()) {
        out += fmt::format("{}{:<{}} none\n", indent, key, 32 - std::min<size_t>(depth * 2, 31));
        return;
    }
    if (value.is_object()) {
        out += indent + key + "\n";
        for (const auto& [name, member] : value.items())
            add(out, name, member, depth + 1);
        return;
    }
    size_t index = 0;
    for (const auto& element : value)
        add(out, fmt::format("{}[{}]", key, index++), element, depth);
}

} // namespace

std::string dump(const ordered_json& document) {
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string outline(const ordered_json& document) {
    std::string out;
    for (const auto& [name, member] : document.items())
        add(out, name, member, 0);
    return out;
}

} // namespace pinscope::report
