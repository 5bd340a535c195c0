// SPDX-License-Identifier: Apache-2.0
// Until 5.10 BPF maps and programs count in the locked memory of the user who makes them, against
// RLIMIT_MEMLOCK: the very budget that trials are to find untouched. While an object of this class lives
// there, what is loaded counts for a user that nobody is, and the limit is out of the way. Both are put back
// at the end. Elsewhere it does nothing.
#pragma once

#include "probes/kernel_types.h"

#include <sys/resource.h>

#include <optional>

namespace pinscope::probes {

class MemlockForBpf {
  public:
    explicit MemlockForBpf(const KernelTypes& types);
    MemlockForBpf(const MemlockForBpf&) = delete;
    MemlockForBpf& operator=(const MemlockForBpf&) = delete;
    ~MemlockForBpf();

  private:
    std::optional<rlimit> limit_before_;
    std::optional<unsigned> real_uid_before_;
};

} // namespace pinscope::probes
