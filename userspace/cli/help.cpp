// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include "report/style.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinscope::cli {
namespace {

// Wide enough to read, narrow enough for any terminal; the same in a pipe.
constexpr report::Style page{false, 100};

void add_row(std::string& out, const std::string& left, const std::string& right, size_t width) {
    const size_t indent = width + 4;
    if (left.size() > width)
        out += fmt::format("  {}\n{}{}\n", left, std::string(indent, ' '), wrap(page, indent, right));
    else
        out += fmt::format("  {:<{}}  {}\n", left, width, wrap(page, indent, right));
}

} // namespace

std::string general_help() {
    std::string out = "pinscope: kernel evidence on pinned memory, RLIMIT_MEMLOCK and cgroup OOM kills\n\n"
                      "Usage: pinscope VERB [OPTION…]\n\nVerbs:\n";
    for (const auto& verb : all_verbs())
        add_row(out, verb.name, verb.summary, 12);
    out += "\n'pinscope VERB --help' explains one. 'pinscope --version' names the version.\n\n"
           "Exit status: 0 answered, nothing wrong; 1 answered, and there is a problem; 2 usage or "
           "unreadable input;\n"
           "77 cannot answer here. A verb that runs a command passes that command's status on.\n";
    return out;
}

std::string verb_help(const Verb& verb) {
    std::string out = fmt::format("pinscope {}: {}\n\nUsage: pinscope {} {}\n\n", verb.name, verb.summary,
                                  verb.name, verb.usage);
    if (!verb.description.empty())
        out += wrap(page, 0, verb.description) + "\n\n";
    if (!verb.options.empty())
        out += "Options:\n";
    for (const auto& option : verb.options) {
        const std::string left = option.value.empty() ? option.name : option.name + " " + option.value;
        std::string right = option.help;
        if (!option.choices.empty())
            right += fmt::format(" One of: {}.", fmt::join(option.choices, ", "));
        add_row(out, left, right, 24);
    }
    if (!verb.examples.empty())
        out += verb.options.empty() ? "Examples:\n" : "\nExamples:\n";
    for (const auto& example : verb.examples)
        out += fmt::format("  {}:\n      pinscope {}{}{}\n", example.what, verb.name,
                           example.command.empty() ? "" : " ", example.command);
    if (!verb.statuses.empty())
        out += "\nExit status: " + wrap(page, 13, verb.statuses) + "\n";
    return out;
}

} // namespace pinscope::cli
