// SPDX-License-Identifier: Apache-2.0
#include "probes/memlock_for_bpf.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace pinscope::probes {
namespace {

// Free on every system that we know of; the numbers above are systemd's and containers'.
constexpr unsigned nobodys_uid = 2147483117;

// Of this thread alone: glibc's would change all.
bool set_real_uid(unsigned uid) {
    constexpr long keep = -1;
    return ::syscall(SYS_setresuid, uid, keep, keep) == 0;
}

} // namespace

// libbpf raises the limit too there, and leaves it so; while it is raised already, that changes nothing.
// kernel/bpf/syscall.c: bpf_map_charge_init was removed in 5.11, when memory cgroups took its place. The user
// is that of the real uid (kernel/cred.c); the effective one, and with it the capabilities, stay.
MemlockForBpf::MemlockForBpf(const KernelTypes& types) {
    if (!types.function_type("bpf_map_charge_init"))
        return;
    rlimit before{};
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    if (::getrlimit(RLIMIT_MEMLOCK, &before) == 0 && ::setrlimit(RLIMIT_MEMLOCK, &none) == 0)
        limit_before_ = before;
    const unsigned uid = ::getuid();
    if (set_real_uid(nobodys_uid))
        real_uid_before_ = uid;
}

MemlockForBpf::~MemlockForBpf() {
    if (real_uid_before_)
        (void)set_real_uid(*real_uid_before_);
    if (limit_before_)
        (void)::setrlimit(RLIMIT_MEMLOCK, &*limit_before_);
}

} // namespace pinscope::probes
