// SPDX-License-Identifier: Apache-2.0
// Standard output and standard error, as a terminal or as a pipe.
#pragma once

#include "base/error.h"
#include "report/style.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace pinscope::cli {

// Colours and width for standard output: only on a terminal, and no colours where NO_COLOR is set or TERM is
// "dumb".
report::Style output_style();

// Writes an answer to standard output. False, with a message on standard error, where it could not be written
// whole.
bool print_answer(std::string_view text);

// "pinscope: …" on standard error.
void complain(std::string_view text);
void complain(const Error& error);

// One line on standard error that is written over, on a terminal only; gone when the object is.
class ProgressLine {
  public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(std::string_view what, size_t done, size_t of);
    void clear();

  private:
    bool on_terminal_;
    bool shown_ = false;
};

} // namespace pinscope::cli
