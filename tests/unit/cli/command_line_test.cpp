// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/text.h"
#include "cli/condition_options.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/pin_options.h"
#include "cli/verbs.h"

#include <gtest/gtest.h>

namespace pinscope::cli {
namespace {

using Words = std::vector<std::string>;

Result<PinRequest> request(const Words& words) {
    const auto arguments = parse(pin_verb(), cut(words));
    if (!arguments)
        return fail(arguments.error());
    return read_pin_request(*arguments);
}

std::string error_of(const Words& words) {
    const auto made = request(words);
    return made ? "" : made.error().text();
}

TEST(Cut, AtTheFirstDashesOnly) {
    const auto line = cut({"--timeout", "1s", "--", "[a,b]", "", "--", "--help"});
    EXPECT_EQ(line.before, (Words{"--timeout", "1s"}));
    EXPECT_EQ(line.command, (Words{"[a,b]", "", "--", "--help"}));
    EXPECT_TRUE(line.has_command);
    EXPECT_FALSE(cut({"a"}).has_command);
}

TEST(Parse, WhatFollowsTheDashesIsNeverRead) {
    const auto arguments =
        parse(run_verb(), cut({"--memlock", "8MiB", "--", "x", "--memlock", "[1,2]", "--help"}));
    ASSERT_TRUE(arguments) << arguments.error().text();
    EXPECT_EQ(arguments->value("--memlock"), "8MiB");
    EXPECT_EQ(arguments->command(), (Words{"x", "--memlock", "[1,2]", "--help"}));
    EXPECT_FALSE(arguments->has("--help"));
}

TEST(Parse, RefusesWhatItDoesNotKnow) {
    EXPECT_NE(error_of({"--budgt", "3"}).find("--budgt"), std::string::npos);
    EXPECT_NE(error_of({"word"}).find("word"), std::string::npos);
    EXPECT_NE(error_of({"--size"}).find("--size"), std::string::npos);
    EXPECT_NE(error_of({"--size", "1MiB", "--size", "2MiB"}).find("--size is given 2 times"),
              std::string::npos);
    EXPECT_NE(error_of({"--", "true"}).find("runs no command"), std::string::npos);
    EXPECT_NE(error_of({"--hold-at", "nowhere"}).find("nowhere"), std::string::npos);
}

TEST(PinOptions, Defaults) {
    const auto made = request({});
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->options.named);
    EXPECT_EQ(made->options.mechanisms.size(), pin::all_mechanisms().size());
    EXPECT_EQ(made->options.with_cap, std::nullopt);
}

Words names(const std::vector<const pin::RegisteredMechanism*>& mechanisms) {
    Words found;
    for (const auto* mechanism : mechanisms)
        found.emplace_back(mechanism->facts.name);
    return found;
}

TEST(PinOptions, ExactNamesAndFamilies) {
    EXPECT_EQ(names(request({"--mechanism", "mlock"})->options.mechanisms), Words{"mlock"});
    EXPECT_EQ(names(request({"--mechanism", "io_uring"})->options.mechanisms),
              (Words{"io_uring-buffers", "io_uring-ring"}));
    EXPECT_EQ(
        names(request({"--mechanism", "vmsplice,mlock", "--mechanism", "vmsplice"})->options.mechanisms),
        (Words{"vmsplice", "mlock"}));
    EXPECT_EQ(names(request({"--mechanism", "cudaHostAlloc"})->options.mechanisms), Words{"cudaHostAlloc"});
    EXPECT_EQ(names(request({"--mechanism", "cudaHostRegister-memfd,mlock"})->options.mechanisms),
              (Words{"cudaHostRegister-memfd", "mlock"}));
    // Half a name is none.
    EXPECT_NE(error_of({"--mechanism", "mloc"}).find("'mloc'"), std::string::npos);
    EXPECT_NE(error_of({"--mechanism", "mlock,,vmsplice"}).find("''"), std::string::npos);
    EXPECT_NE(error_of({"--mechanism", ""}).find("names nothing"), std::string::npos);
}

TEST(PinOptions, Values) {
    const auto made =
        request({"--size", "64MiB", "--memlock", "8MiB", "--with-cap", "--count", "3", "--timeout", "2s"});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->options.size_bytes, 64_MiB);
    EXPECT_EQ(made->options.limit.exactly, Limit::of(8_MiB));
    EXPECT_EQ(made->options.with_cap, true);
    EXPECT_EQ(made->options.count, 3U);
    EXPECT_EQ(made->timeout->count(), 2000);
    EXPECT_EQ(request({"--memlock", "unlimited"})->options.limit.exactly, Limit::none());
    EXPECT_EQ(request({"--memlock", "current"})->options.limit.kind, pin::LimitChoice::Kind::current);
    EXPECT_EQ(request({"--memlock", "0"})->options.limit.exactly, Limit::of(0));
}

TEST(PinOptions, BadValuesAreNamed) {
    EXPECT_NE(error_of({"--size", "1.5Q"}).find("1.5Q"), std::string::npos);
    EXPECT_NE(error_of({"--size", "0"}).find("--size 0"), std::string::npos);
    EXPECT_NE(error_of({"--count", "0"}).find("--count '0'"), std::string::npos);
    EXPECT_NE(error_of({"--count", "99999"}).find("99999"), std::string::npos);
    EXPECT_NE(error_of({"--like", "x"}).find("--like 'x'"), std::string::npos);
    EXPECT_NE(error_of({"--timeout", "soon"}).find("soon"), std::string::npos);
    EXPECT_NE(error_of({"--memlock", "plenty"}).find("plenty"), std::string::npos);
}

TEST(PinOptions, Contradictions) {
    EXPECT_NE(error_of({"--with-cap", "--without-cap"}).find("contradict"), std::string::npos);
    EXPECT_NE(error_of({"--sweep", "--count", "2"}).find("--sweep and --count"), std::string::npos);
    EXPECT_NE(error_of({"--dry-run", "--hold-at", "freed"}).find("--dry-run and --hold-at"),
              std::string::npos);
}

TEST(Help, NamesEveryVerbAndOption) {
    const std::string general = general_help();
    for (const auto& verb : all_verbs()) {
        EXPECT_NE(general.find("  " + verb.name), std::string::npos);
        const std::string help = verb_help(verb);
        for (const auto& option : verb.options)
            EXPECT_NE(help.find("  " + option.name), std::string::npos) << option.name;
        EXPECT_NE(help.find("Examples:"), std::string::npos) << verb.name;
    }
}

// The words of an example as a shell would pass them on, as far as examples go.
Words shell_words(const std::string& command) {
    Words found;
    const std::string_view before_redirection = std::string_view(command).substr(0, command.find(" >"));
    for (const auto word : words(before_redirection))
        found.emplace_back(word);
    return found;
}

// What the help shows must be accepted; a shell's own substitutions are left out.
TEST(Help, ExamplesParse) {
    for (const auto& verb : all_verbs()) {
        for (const auto& example : verb.examples) {
            if (example.command.find('$') != std::string::npos)
                continue;
            const auto arguments = parse(verb, cut(shell_words(example.command)));
            EXPECT_TRUE(arguments) << example.command << ": " << arguments.error().text();
        }
    }
}

} // namespace
} // namespace pinscope::cli
