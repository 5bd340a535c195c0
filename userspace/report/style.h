// SPDX-License-Identifier: Apache-2.0
// How text is laid out for the reader at hand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pinscope::report {

struct Style {
    bool colour = false;
    size_t width = 0; // of the terminal, in columns; 0: lines are not broken
};

enum class Tone : unsigned char { plain, good, bad, quiet, strong };

// The text in the tone's colour where colours are on.
std::string paint(const Style& style, Tone tone, std::string_view text);

// Breaks at blanks so that lines stay within style.width; lines after the first begin with `indent` blanks.
// The text is taken to begin in column `indent`.
std::string wrap(const Style& style, size_t indent, std::string_view text);

} // namespace pinscope::report
