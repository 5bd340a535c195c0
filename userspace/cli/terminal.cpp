// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace pinscope::cli {
namespace {

// Where this cannot be written there is nobody to be told.
void write_error(std::string_view text) {
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

} // namespace

report::Style output_style() {
    report::Style style;
    if (::isatty(STDOUT_FILENO) == 0)
        return style;
    const char* no_color = std::getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe)
    const char* term = std::getenv("TERM");         // NOLINT(concurrency-mt-unsafe)
    style.colour =
        (no_color == nullptr || *no_color == '\0') && term != nullptr && std::string_view(term) != "dumb";
    winsize size{};
    style.width = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    return style;
}

bool print_answer(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0)
        return true;
    complain(os_error("cannot write the answer to", "standard output", errno));
    return false;
}

void complain(std::string_view text) {
    write_error(fmt::format("pinscope: {}\n", text));
}

void complain(const Error& error) {
    complain(error.text());
}

ProgressLine::ProgressLine() : on_terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
    clear();
}

void ProgressLine::show(std::string_view what, size_t done, size_t of) {
    if (!on_terminal_)
        return;
    write_error(fmt::format("\r\x1b[K[{}/{}] {}", done, of, what));
    std::fflush(stderr);
    shown_ = true;
}

void ProgressLine::clear() {
    if (shown_)
        write_error("\r\x1b[K");
    shown_ = false;
}

} // namespace pinscope::cli
