// SPDX-License-Identifier: Apache-2.0
// What a verb is and takes, as a table: the parser, the help, the completion and the man pages are made from
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinscope::cli {

struct Option {
    std::string name;                 // "--size"
    std::string value;                // "SIZE"; empty: it takes none
    std::string help;                 // a line or two
    std::vector<std::string> choices; // what may be written, where that is a list; for help and completion
    bool repeatable = false;
};

struct Example {
    std::string what;
    std::string command; // without "pinscope VERB"
};

// What the command line said, by the names of the verb's table.
class Arguments {
  public:
    bool has(const std::string& option) const { return values_.count(option) != 0; }
    std::optional<std::string> value(const std::string& option) const {
        const auto found = values_.find(option);
        return found != values_.end() && !found->second.empty() ? std::optional(found->second.front())
                                                                : std::nullopt;
    }
    std::vector<std::string> values(const std::string& option) const {
        const auto found = values_.find(option);
        return found != values_.end() ? found->second : std::vector<std::string>();
    }
    const std::vector<std::string>& positional() const { return positional_; }
    // What followed the first "--", byte for byte.
    const std::vector<std::string>& command() const { return command_; }

    void add(const std::string& option, std::vector<std::string> values) {
        values_[option] = std::move(values);
    }
    void set_positional(std::vector<std::string> words) { positional_ = std::move(words); }
    void set_command(std::vector<std::string> words) { command_ = std::move(words); }

  private:
    std::map<std::string, std::vector<std::string>> values_;
    std::vector<std::string> positional_;
    std::vector<std::string> command_;
};

struct Verb {
    std::string name;
    std::string summary;     // one line
    std::string description; // what --help says above the options
    std::string usage;       // after "pinscope VERB"
    std::vector<Option> options;
    std::string positional; // the name of what it takes without an option; empty: nothing
    std::vector<std::string> positional_choices;
    bool takes_command = false;
    std::vector<Example> examples;
    std::string statuses; // what the exit status means
    int (*run)(const Arguments& arguments) = nullptr;
};

// In the order in which the help lists them.
const std::vector<Verb>& all_verbs();

} // namespace pinscope::cli
