// SPDX-License-Identifier: Apache-2.0
// The mlock family: mlock, mlock2 with MLOCK_ONFAULT, mlockall, mmap with MAP_LOCKED.
#include "base/bytes.h"
#include "pin/mechanisms/mechanisms.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace pinscope::pin {
namespace {

class Mlock : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::anonymous(bytes);
        return memory_ ? Step::ok() : Step::refused("mmap");
    }
    Step pin() override {
        return ::mlock(memory_.address(), memory_.bytes()) == 0 ? Step::ok() : Step::refused("mlock");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return memory_.bytes(); }

  protected:
    Mapping memory_;
};

class Mlock2OnFault : public Mlock {
  public:
    Step pin() override {
        return ::mlock2(memory_.address(), memory_.bytes(), MLOCK_ONFAULT) == 0 ? Step::ok()
                                                                                : Step::refused("mlock2");
    }
};

// The size of the whole process, which is what mlockall is measured by.
uint64_t process_size() {
    // VmSize in pages is the first number of statm; read without the heap, which would change it.
    std::FILE* statm = std::fopen("/proc/self/statm", "re");
    if (statm == nullptr)
        return 0;
    unsigned long pages = 0;
    const int got = std::fscanf(statm, "%lu", &pages); // NOLINT(cert-err34-c): 0 stands for "not known"
    std::fclose(statm);
    return got == 1 ? pages * page_size() : 0;
}

// Grows the process to the size asked for, and locks all of it. What it pins is therefore the process's size.
class Mlockall : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        const uint64_t size = process_size();
        if (size < bytes) {
            memory_ = Mapping::anonymous(bytes - size);
            if (!memory_)
                return Step::refused("mmap");
        }
        return Step::ok();
    }
    Step pin() override {
        charged_ = process_size();
        return ::mlockall(MCL_CURRENT) == 0 ? Step::ok() : Step::refused("mlockall");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return charged_; }

  private:
    Mapping memory_;
    uint64_t charged_ = 0;
};

class MmapLocked : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        return Step::ok();
    }
    Step pin() override {
        memory_ = Mapping(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0),
            bytes_);
        return memory_ ? Step::ok() : Step::refused("mmap");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Mapping memory_;
    uint64_t bytes_ = 0;
};

const MechanismFacts mlock_facts = {
    .name = "mlock",
    .summary = "mlock(2) of anonymous memory",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {errno_error(EPERM)},
    .budgets = {Budget::locked_vm},
    .source = "mm/mlock.c do_mlock, can_do_mlock (5.10 to 7.2)",
    .needs = "",
    .not_limited_because = "",
};

const MechanismFacts mlock2_facts = {
    .name = "mlock2-onfault",
    .summary = "mlock2(2) with MLOCK_ONFAULT: charged at once, filled when touched",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {errno_error(EPERM)},
    .budgets = {Budget::locked_vm},
    .source = "mm/mlock.c do_mlock, can_do_mlock (5.10 to 7.2)",
    .needs = "",
    .not_limited_because = "",
};

const MechanismFacts mlockall_facts = {
    .name = "mlockall",
    .summary = "mlockall(2) MCL_CURRENT: the size is the whole process's",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {errno_error(EPERM)},
    .budgets = {Budget::total_vm, Budget::locked_vm},
    .source = "mm/mlock.c __do_sys_mlockall: total_vm is compared, not what is locked already (5.10 to 7.2)",
    .needs = "",
    .not_limited_because = "",
};

const MechanismFacts mmap_locked_facts = {
    .name = "mmap-locked",
    .summary = "mmap(2) with MAP_LOCKED",
    .over_limit = {errno_error(EAGAIN)},
    .at_zero_limit = {errno_error(EPERM)},
    .budgets = {Budget::locked_vm},
    .source = "mm/mmap.c do_mmap: mlock_future_check (5.10 to 6.1), mlock_future_ok (6.5 on)",
    .needs = "",
    .not_limited_because = "",
};

} // namespace

const RegisteredMechanism mlock_mechanism = {mlock_facts, &create<Mlock>, &any_size, &no_allowance, true};
const RegisteredMechanism mlock2_mechanism = {mlock2_facts, &create<Mlock2OnFault>, &any_size, &no_allowance,
                                              true};
const RegisteredMechanism mlockall_mechanism = {mlockall_facts, &create<Mlockall>, &any_size, &no_allowance,
                                                false};
const RegisteredMechanism mmap_locked_mechanism = {mmap_locked_facts, &create<MmapLocked>, &any_size,
                                                   &no_allowance, true};

} // namespace pinscope::pin
