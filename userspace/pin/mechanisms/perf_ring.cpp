// SPDX-License-Identifier: Apache-2.0
// The ring buffer of a perf event.
#include "base/fd.h"
#include "base/file.h"
#include "pin/mechanisms/mechanisms.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>

namespace pinscope::pin {
namespace {

// A ring has one page of its own before a power of two of data pages.
uint64_t power_of_two(uint64_t bytes) {
    return std::bit_ceil(bytes);
}

// Every user has perf_event_mlock_kb for each CPU before the limit is looked at.
uint64_t free_allowance() {
    const uint64_t kib =
        read_number("/proc/sys/kernel/perf_event_mlock_kb").value_or(516); // the kernel's default
    return kib * 1024 * static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

class PerfRing : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = power_of_two(bytes) + page_size();
        perf_event_attr event{};
        event.size = sizeof(event);
        event.type = PERF_TYPE_SOFTWARE;
        event.config = PERF_COUNT_SW_DUMMY;
        event.disabled = 1;
        event.exclude_kernel = 1;
        event.exclude_hv = 1;
        event_ =
            Fd(static_cast<int>(::syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
        if (!event_)
            return Step::unsupported("perf_event_open",
                                     errno == ENOSYS
                                         ? "this kernel, or its seccomp filter, has no perf events"
                                         : "perf events are denied: by kernel.perf_event_paranoid, a "
                                           "seccomp filter or a policy");
        return Step::ok();
    }
    Step pin() override {
        memory_ = Mapping::shared(event_, bytes_);
        return memory_ ? Step::ok() : Step::refused("mmap");
    }
    // The first page is the kernel's to write, and the rest is data for us to read.
    bool verify() override {
        return static_cast<const volatile perf_event_mmap_page*>(memory_.address())->data_size ==
               bytes_ - page_size();
    }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Fd event_;
    Mapping memory_;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "perf-ring",
    .summary = "the ring buffer of a perf event",
    .over_limit = {errno_error(EPERM)},
    .at_zero_limit = {},
    .budgets = {Budget::user_locked_vm, Budget::pinned_vm},
    .source = "kernel/events/core.c perf_mmap: perf_event_mlock_kb for each CPU is free, the rest goes into "
              "pinned_vm; "
              "not looked at where kernel.perf_event_paranoid is -1 (5.10 to 7.2)",
    .needs = "perf events",
    .not_limited_because = "perf rings are not limited where kernel.perf_event_paranoid is -1",
};

} // namespace

const RegisteredMechanism perf_ring_mechanism = {facts, &create<PerfRing>, &power_of_two, &free_allowance,
                                                 true};

} // namespace pinscope::pin
