// SPDX-License-Identifier: Apache-2.0
// The options of a libbpf function. libbpf's own macro for them is C, not C++.
#pragma once

#include <cstring>

namespace pinscope::probes {

// All zero, padding too, but for the size, by which libbpf knows the version of the structure.
template <class Options>
Options libbpf_options() {
    Options options;
    std::memset(&options, 0, sizeof(options));
    options.sz = sizeof(options);
    return options;
}

} // namespace pinscope::probes
