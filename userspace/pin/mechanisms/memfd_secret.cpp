// SPDX-License-Identifier: Apache-2.0
// memfd_secret(2): pages that are taken out of the kernel's own map and cannot be swapped.
#include "base/fd.h"
#include "pin/mechanisms/mechanisms.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace pinscope::pin {
namespace {

class MemfdSecret : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        file_ = Fd(static_cast<int>(::syscall(SYS_memfd_secret, 0)));
        if (!file_) {
            if (errno == ENOSYS)
                return Step::unsupported(
                    "memfd_secret",
                    "this kernel has no memfd_secret, or not without secretmem.enable=1 at boot");
            return errno == EPERM
                       ? Step::unsupported("memfd_secret", "a seccomp filter or policy denies memfd_secret")
                       : Step::refused("memfd_secret");
        }
        if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
            return Step::refused("ftruncate");
        return Step::ok();
    }
    Step pin() override {
        memory_ = Mapping::shared(file_, bytes_);
        return memory_ ? Step::ok() : Step::refused("mmap");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Fd file_;
    Mapping memory_;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "memfd-secret",
    .summary = "memfd_secret(2) memory",
    .over_limit = {errno_error(EAGAIN), signal_error(SIGBUS)},
    .at_zero_limit = {},
    .budgets = {Budget::locked_vm, Budget::user_locked_vm},
    .source = "mm/secretmem.c: EAGAIN at mmap by mlock_future_check (5.15, 6.5, 6.18) into locked_vm; SIGBUS "
              "at the "
              "first touch, per folio into user_locked_vm, whatever the capability (6.1.192, 6.12.117, 7.2)",
    .needs = "",
    .capability_lifts = false,
    .not_limited_because = "",
};

} // namespace

const RegisteredMechanism memfd_secret_mechanism = {facts, &create<MemfdSecret>, &any_size, &no_allowance,
                                                    true};

} // namespace pinscope::pin
