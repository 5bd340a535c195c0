// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "pin/registry.h"
#include "trial/trial_process.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

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

// A descriptor that is opened must not become the standard output that the caller closed. Opened the wrong
// way round, so that using one fails as it would have.
void keep_standard_descriptors_apart() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) >= 0)
            continue;
        if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            (void)::open("/", O_RDONLY | O_DIRECTORY); // stays open
    }
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
    if (name == trial::trial_verb)
        return trial::run_trial_process(rest, &pin::find_mechanism);
    if (name == "help" && !rest.empty())
        return run_verb_named(rest.front(), {"--help"});
    if (name == "--help" || name == "-h" || name == "help")
        return print_answer(general_help()) ? answered : own_failure;
    if (name == "--version")
        return print_answer(fmt::format("pinscope {}\n", PINSCOPE_VERSION)) ? answered : own_failure;
    return run_verb_named(name, rest);
}

} // namespace

// A caller of execve may leave out even the program's name.
int run_program(int argc, char** argv) {
    keep_standard_descriptors_apart();
    try {
        return run(argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>());
    } catch (const std::exception& error) {
        complain(error.what());
        return own_failure;
    }
}

} // namespace pinscope::cli

int main(int argc, char** argv) {
    return pinscope::cli::run_program(argc, argv);
}
