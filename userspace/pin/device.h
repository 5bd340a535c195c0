// SPDX-License-Identifier: Apache-2.0
// Opening a device that a mechanism needs, with the reasons why it may not be there.
#pragma once

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "pin/registry.h"

#include <fmt/format.h>

#include <fcntl.h>

#include <string>
#include <vector>

namespace pinscope::pin {

// `what`: what the device is, without an article: "dma-buf heap".
inline Step open_device(const std::string& path, std::string_view what, Fd& device) {
    device = Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (device)
        return Step::ok();
    switch (errno) {
    case EACCES:
    case EPERM:
        return Step::unsupported("open", fmt::format("{} may not be opened by this process", path));
    case ENOENT:
        return Step::unsupported("open", fmt::format("there is no {} here ({})", what, path));
    default:
        return Step::unsupported("open", fmt::format("{} cannot be opened: {}", path, errno_name(errno)));
    }
}

// Opens the devices of a folder, those whose names satisfy `is_one`, until one can be used: the step of that
// one, else of the last, else `none`.
template <class IsOne, class Open>
Step open_first(const std::string& folder, IsOne is_one, Open open, Step none) {
    Step last = std::move(none);
    for (const auto& name : list_folder(folder).value_or(std::vector<std::string>())) {
        if (!is_one(name))
            continue;
        last = open(name);
        if (last)
            break;
    }
    return last;
}

} // namespace pinscope::pin
