// SPDX-License-Identifier: Apache-2.0
// pinscope completion SHELL: a script that the shell reads once, made from the verbs' tables.
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

#include <fmt/format.h>

#include <string>

namespace pinscope::cli {
namespace {

std::string option_names(const Verb& verb) {
    std::string names = "--help";
    for (const auto& option : verb.options)
        names += " " + option.name;
    return names;
}

std::string verb_names() {
    std::string names;
    for (const auto& verb : all_verbs())
        names += (names.empty() ? "" : " ") + verb.name;
    return names;
}

std::string bash_script() {
    std::string out = "_pinscope() {\n"
                      "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
                      "verb=${COMP_WORDS[1]}\n"
                      "    local words=\n"
                      "    COMPREPLY=()\n";
    out += fmt::format("    if [ \"$COMP_CWORD\" = 1 ]; then\n        words='{} --help --version'\n    else\n"
                       "        case $verb in\n",
                       verb_names());
    for (const auto& verb : all_verbs()) {
        out += fmt::format("        {})\n            case $previous in\n", verb.name);
        for (const auto& option : verb.options)
            if (!option.choices.empty())
                out += fmt::format("            {}) words='{}' ;;\n", option.name,
                                   fmt::join(option.choices, " "));
        out += fmt::format("            *) words='{} {}' ;;\n            esac ;;\n", option_names(verb),
                           fmt::join(verb.positional_choices, " "));
    }
    out += "        esac\n    fi\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "}\ncomplete -o default -F _pinscope pinscope\n";
    return out;
}

std::string zsh_script() {
    // zsh reads bash's completions, given the names that they use.
    return "#compdef pinscope\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script();
}

std::string fish_quote(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + "'";
}

std::string fish_script() {
    std::string out = "complete -c pinscope -f\n";
    for (const auto& verb : all_verbs()) {
        out += fmt::format("complete -c pinscope -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                           fish_quote(verb.summary));
        const std::string condition = fmt::format("-n '__fish_seen_subcommand_from {}'", verb.name);
        for (const auto& option : verb.options) {
            out += fmt::format("complete -c pinscope {} -l {} -d {}", condition, option.name.substr(2),
                               fish_quote(option.help));
            if (!option.value.empty())
                out += " -r";
            if (!option.choices.empty())
                out += fmt::format(" -a {}", fish_quote(fmt::format("{}", fmt::join(option.choices, " "))));
            out += "\n";
        }
        if (!verb.positional_choices.empty())
            out += fmt::format("complete -c pinscope {} -a {}\n", condition,
                               fish_quote(fmt::format("{}", fmt::join(verb.positional_choices, " "))));
    }
    return out;
}

int run_completion(const Arguments& arguments) {
    const auto& words = arguments.positional();
    std::string script;
    if (words.size() == 1 && words[0] == "bash")
        script = bash_script();
    else if (words.size() == 1 && words[0] == "zsh")
        script = zsh_script();
    else if (words.size() == 1 && words[0] == "fish")
        script = fish_script();
    if (script.empty()) {
        complain("completion takes one word: bash, zsh or fish");
        return bad_input;
    }
    return print_answer(script) ? answered : own_failure;
}

} // namespace

Verb completion_verb() {
    Verb verb;
    verb.name = "completion";
    verb.summary = "print a completion script for a shell";
    verb.usage = "bash|zsh|fish";
    verb.positional = "SHELL";
    verb.positional_choices = {"bash", "zsh", "fish"};
    verb.examples = {{"for bash, in this shell only", "bash >/tmp/pinscope.bash && . /tmp/pinscope.bash"}};
    verb.run = &run_completion;
    return verb;
}

} // namespace pinscope::cli
