// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pinscope;
    const std::string_view text = fuzz::as_text(data, size);
    (void)host::parse_process_memory(text, text);
    (void)host::parse_identity(text);
    (void)host::map_id_inside(text, 1000);
    const auto limits = host::parse_limits(text);
    fuzz::require(limits || !limits.error().text().empty());
    return 0;
}
