// SPDX-License-Identifier: Apache-2.0
#include "cli/condition_options.h"

#include "base/bytes.h"
#include "base/text.h"

#include <fmt/format.h>

#include <cerrno>

namespace pinscope::cli {

Option with_cap_option() {
    return {"--with-cap", "", "With CAP_IPC_LOCK in the effective set.", {}, false};
}

Option without_cap_option() {
    return {"--without-cap", "", "Without CAP_IPC_LOCK in any set.", {}, false};
}

Result<std::optional<bool>> read_capability(const Arguments& arguments) {
    const bool with = arguments.has("--with-cap");
    const bool without = arguments.has("--without-cap");
    if (with && without)
        return fail(
            {"--with-cap and --without-cap", "", "they contradict each other", "give one of them", EINVAL});
    return with ? std::optional(true) : without ? std::optional(false) : std::nullopt;
}

Result<Limit> read_limit(const std::string& text) {
    if (text == "unlimited" || text == "infinity")
        return Limit::none();
    const auto bytes = parse_bytes(text);
    if (!bytes)
        return fail(bytes.error());
    return Limit::of(*bytes);
}

Result<uint64_t> read_size(const std::string& option, const std::string& text) {
    auto bytes = parse_bytes(text);
    if (bytes && *bytes == 0)
        return fail(
            {option + " 0", "", "nothing would be tried", "give a size of at least one byte", EINVAL});
    return bytes;
}

Result<uint64_t> read_count(const std::string& option, const std::string& text, uint64_t largest) {
    const auto count = parse_unsigned(text);
    if (!count || *count == 0 || *count > largest)
        return fail({fmt::format("{} '{}'", option, printable(text)), "", "it is not a whole number from 1",
                     fmt::format("give a number from 1 to {}", largest), EINVAL});
    return *count;
}

} // namespace pinscope::cli
