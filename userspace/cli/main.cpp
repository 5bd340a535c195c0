// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "pin/trial_process.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

namespace pinscope::cli {
namespace {

int run_verb_named(const std::string& name, const std::vector<std::string>& words) {
    for (const auto& verb : all_verbs()) {
        if (verb.name != name)
            continue;
        const auto arguments = parse(verb, cut(words));
        if (!arguments) {
            complain(arguments.error());
            return bad_input;
        }
        if (arguments->has("--help"))
            return print_answer(verb_help(verb)) ? answered : own_failure;
        return verb.run(*arguments);
    }
    std::string known;
    for (const auto& verb : all_verbs())
        known += (known.empty() ? "" : ", ") + verb.name;
    complain(fmt::format("there is no verb '{}'; choose from {}, or see 'pinscope --help'", name, known));
    return bad_input;
}

int run(const std::vector<std::string>& words) {
    if (words.empty()) {
        complain(
            "no verb was given; 'pinscope pin' answers the first question, 'pinscope --help' lists the rest");
        return bad_input;
    }
    const std::string& name = words.front();
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    // A trial is to start fast and small: past all tables.
    if (name == pin::trial_verb)
        return pin::run_trial_process(rest);
    if (name == "--help" || name == "-h" || name == "help")
        return print_answer(general_help()) ? answered : own_failure;
    if (name == "--version")
        return print_answer(fmt::format("pinscope {}\n", PINSCOPE_VERSION)) ? answered : own_failure;
    return run_verb_named(name, rest);
}

} // namespace
} // namespace pinscope::cli

int main(int argc, char** argv) {
    try {
        return pinscope::cli::run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& error) {
        pinscope::cli::complain(error.what());
        return pinscope::cli::own_failure;
    }
}
