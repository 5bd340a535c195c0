// SPDX-License-Identifier: Apache-2.0
// Words of a command line, one a line.
#include "base/text.h"
#include "cli/parser.h"
#include "cli/pin_options.h"
#include "cli/verbs.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pinscope;
    std::vector<std::string> words;
    for (const auto line : split(fuzz::as_text(data, size), '\n'))
        words.emplace_back(line);
    const auto line = cli::cut(words);
    const auto arguments = cli::parse(cli::run_verb(), line);
    if (arguments)
        fuzz::require(arguments->command() == line.command);
    const auto pin = cli::parse(cli::pin_verb(), line);
    if (!pin)
        fuzz::require(!pin.error().text().empty());
    else if (const auto request = cli::read_pin_request(*pin); !request)
        fuzz::require(request.error().text().find('\n') == std::string::npos);
    return 0;
}
