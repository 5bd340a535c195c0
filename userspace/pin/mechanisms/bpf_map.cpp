// SPDX-License-Identifier: Apache-2.0
// The memory of a BPF array map.
#include "base/bytes.h"
#include "base/fd.h"
#include "base/file.h"
#include "pin/mechanisms/mechanisms.h"

#include <cap-ng.h>

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pinscope::pin {
namespace {

// Whether a refusal with EPERM can only be the limit's. Making no map to find out, since before 5.11 that
// counts too.
bool may_make_maps() {
    ::capng_get_caps_process();
    if (::capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) != 0 ||
        ::capng_have_capability(CAPNG_EFFECTIVE, CAP_BPF) != 0)
        return true;
    return read_number("/proc/sys/kernel/unprivileged_bpf_disabled").value_or(1) == 0;
}

class BpfMap : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        if (!may_make_maps())
            return Step::unsupported(
                "bpf", "BPF maps take CAP_BPF here (kernel.unprivileged_bpf_disabled is set)", EPERM);
        return Step::ok();
    }
    Step pin() override {
        bpf_attr attributes{};
        attributes.map_type = BPF_MAP_TYPE_ARRAY;
        attributes.key_size = 4;
        attributes.value_size = static_cast<uint32_t>(page_size());
        attributes.max_entries = static_cast<uint32_t>(bytes_ / page_size());
        map_ = Fd(static_cast<int>(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes))));
        if (map_)
            return Step::ok();
        return errno == ENOSYS ? Step::unsupported("bpf", "this kernel, or its seccomp filter, has no bpf(2)")
                               : Step::refused("bpf(MAP_CREATE)");
    }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    uint64_t bytes_ = 0;
    Fd map_;
};

const MechanismFacts facts = {
    .name = "bpf-map",
    .summary = "the memory of a BPF array map",
    .over_limit = {errno_error(EPERM)},
    .at_zero_limit = {},
    .budgets = {Budget::user_locked_vm},
    .source = "kernel/bpf/syscall.c bpf_map_charge_init, whatever the capability (5.10); charged to the "
              "memory cgroup "
              "only from 5.11 on",
    .needs = "CAP_BPF",
    .capability_lifts = false,
    .not_limited_because = "from 5.11 on BPF maps are charged to the memory cgroup only",
};

} // namespace

const RegisteredMechanism bpf_map_mechanism = {facts, &create<BpfMap>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
