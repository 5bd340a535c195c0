// SPDX-License-Identifier: Apache-2.0
#include "report/style.h"

#include "base/text.h"

#include <fmt/format.h>

namespace pinscope::report {

std::string paint(const Style& style, Tone tone, std::string_view text) {
    if (!style.colour || tone == Tone::plain)
        return std::string(text);
    const char* code = "";
    switch (tone) {
    case Tone::plain:
        break;
    case Tone::good:
        code = "32";
        break;
    case Tone::bad:
        code = "31";
        break;
    case Tone::quiet:
        code = "2";
        break;
    case Tone::strong:
        code = "1";
        break;
    }
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string wrap(const Style& style, size_t indent, std::string_view text) {
    constexpr size_t least_useful = 20;
    if (style.width == 0 || style.width < indent + least_useful)
        return std::string(text);
    std::string out;
    size_t column = indent;
    for (const auto word : words(text)) {
        if (column > indent && column + 1 + word.size() > style.width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        }
        if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out;
}

} // namespace pinscope::report
