// SPDX-License-Identifier: Apache-2.0
#include "model/limit.h"

#include "base/bytes.h"

namespace pinscope {

std::string limit_text(const Limit& limit) {
    return limit.unlimited ? "unlimited" : format_exact_bytes(limit.bytes);
}

} // namespace pinscope
