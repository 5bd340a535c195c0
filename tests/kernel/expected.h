// SPDX-License-Identifier: Apache-2.0
// The verdicts that are right on a kernel, as data with their sources.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pinscope::test {

struct KernelVersion {
    int major = 0;
    int minor = 0;

    bool at_least(int other_major, int other_minor) const {
        return major > other_major || (major == other_major && minor >= other_minor);
    }
};

KernelVersion this_kernel();

// The functions that may be named for an enforced verdict; "" stands for none, where this kernel cannot show
// it. `functions`: kernel functions can be probed; else there are tracepoints only.
std::set<std::string> expected_deciders(std::string_view mechanism, const KernelVersion& kernel,
                                        bool functions);

// The verdicts that may be given for the mechanism, as root without CAP_IPC_LOCK over the limit. More than
// one where the version alone does not decide: what the host lacks is unsupported.
std::set<std::string> expected_verdicts(std::string_view mechanism, const KernelVersion& kernel);

} // namespace pinscope::test
