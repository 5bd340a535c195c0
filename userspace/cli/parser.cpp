// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include "base/text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <exception>

namespace pinscope::cli {
namespace {

Error usage_error(const Verb& verb, std::string reason) {
    return {verb.name, "", std::move(reason),
            fmt::format("'pinscope {} --help' lists what it takes", verb.name), EINVAL};
}

} // namespace

CommandLine cut(const std::vector<std::string>& words) {
    CommandLine line;
    const auto dashes = std::find(words.begin(), words.end(), "--");
    line.before.assign(words.begin(), dashes);
    line.has_command = dashes != words.end();
    if (line.has_command)
        line.command.assign(dashes + 1, words.end());
    return line;
}

Result<Arguments> parse(const Verb& verb, const CommandLine& line) {
    CLI::App app;
    app.set_help_flag();
    app.add_flag("--help,-h");
    std::deque<std::vector<std::string>> values; // stays where it is as it grows
    std::vector<std::pair<const Option*, CLI::Option*>> known;
    for (const auto& option : verb.options) {
        if (option.value.empty()) {
            known.emplace_back(&option, app.add_flag(option.name)->disable_flag_override());
            continue;
        }
        values.emplace_back();
        // One word at a time, however often; nothing is split.
        auto* added = app.add_option(option.name, values.back());
        added->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        known.emplace_back(&option, added);
    }
    std::vector<std::string> positional;
    if (!verb.positional.empty())
        app.add_option("words", positional);

    try {
        std::vector<std::string> reversed(line.before.rbegin(), line.before.rend());
        app.parse(reversed);
    } catch (const std::exception& error) { // CLI11's own, and what its conversions throw
        return fail(usage_error(verb, printable(error.what())));
    }

    Arguments arguments;
    if (app.count("--help") > 0)
        arguments.add("--help", {});
    size_t next_value = 0;
    for (const auto& [option, parsed] : known) {
        const bool takes_value = !option->value.empty();
        const auto& words = takes_value ? values.at(next_value++) : std::vector<std::string>();
        if (parsed->count() == 0)
            continue;
        if (takes_value && words.size() > 1 && !option->repeatable)
            return fail(usage_error(verb, fmt::format("{} is given {} times", option->name, words.size())));
        for (const auto& word : words)
            if (!option->choices.empty() && !option->repeatable &&
                std::find(option->choices.begin(), option->choices.end(), word) == option->choices.end())
                return fail(
                    usage_error(verb, fmt::format("{} '{}' is none of {}", option->name, printable(word),
                                                  fmt::join(option->choices, ", "))));
        arguments.add(option->name, words);
    }
    if (line.has_command && !verb.takes_command && !arguments.has("--help"))
        return fail(usage_error(verb, "it runs no command: nothing may follow '--'"));
    arguments.set_positional(std::move(positional));
    arguments.set_command(line.command);
    return arguments;
}

} // namespace pinscope::cli
