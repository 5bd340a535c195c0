// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pinscope;
    const std::string_view text = fuzz::as_text(data, size);
    const auto bytes = parse_bytes(text);
    if (bytes) {
        fuzz::require(*bytes < (uint64_t{1} << 53U));
        // What is shown without a decimal is exact.
        const std::string shown = format_bytes(*bytes);
        if (shown.find('.') == std::string::npos)
            fuzz::require(parse_bytes(shown) == *bytes);
    } else {
        fuzz::require(!bytes.error().text().empty());
    }
    const auto time = parse_duration(text);
    fuzz::require(!time || time->count() > 0);
    for (const char c : printable(text))
        fuzz::require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    return 0;
}
