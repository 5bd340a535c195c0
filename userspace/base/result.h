// SPDX-License-Identifier: Apache-2.0
// A value or the Error that kept us from it. Nothing in pinscope reports a recoverable failure in another
// way.
#pragma once

#include "base/error.h"

#include <tl/expected.hpp>

#include <utility>

namespace pinscope {

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

} // namespace pinscope
