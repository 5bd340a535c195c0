// SPDX-License-Identifier: Apache-2.0
// shmctl(2) SHM_LOCK of a System V shared memory segment.
#include "base/bytes.h"
#include "pin/mechanisms/mechanisms.h"

#include <sched.h>
#include <sys/ipc.h>
#include <sys/shm.h>

namespace pinscope::pin {
namespace {

class ShmLock : public Mechanism {
  public:
    ~ShmLock() override {
        if (address_ != nullptr) {
            (void)::shmctl(id_, SHM_UNLOCK, nullptr);
            ::shmdt(const_cast<unsigned char*>(address_));
        }
    }

    Step prepare(uint64_t bytes) override {
        // A segment outlives its process until it is marked for removal. In an IPC namespace of our own not
        // even a kill in between leaves it; without the privilege for one, the window is a few microseconds.
        static const bool own_namespace = ::unshare(CLONE_NEWIPC) == 0;
        (void)own_namespace;
        bytes_ = bytes;
        id_ = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        if (id_ < 0)
            return errno == ENOSYS ? Step::unsupported("shmget", "this kernel has no System V shared memory")
                                   : Step::refused("shmget");
        void* address = ::shmat(id_, nullptr, 0);
        const int error = errno;
        ::shmctl(id_, IPC_RMID, nullptr); // takes effect when the last one detaches
        // NOLINTNEXTLINE(performance-no-int-to-ptr): shmat's own sign of failure
        if (address == reinterpret_cast<void*>(-1))
            return Step::refused("shmat", error);
        address_ = static_cast<volatile unsigned char*>(address);
        return Step::ok();
    }
    Step pin() override {
        return ::shmctl(id_, SHM_LOCK, nullptr) == 0 ? Step::ok() : Step::refused("shmctl(SHM_LOCK)");
    }
    void touch() override {
        for (uint64_t at = 0; at < bytes_; at += page_size())
            address_[at] = static_cast<unsigned char>(at / page_size());
    }
    bool verify() override {
        for (uint64_t at = 0; at < bytes_; at += page_size())
            if (address_[at] != static_cast<unsigned char>(at / page_size()))
                return false;
        return true;
    }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    int id_ = -1;
    volatile unsigned char* address_ = nullptr;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "shm-lock",
    .summary = "shmctl(2) SHM_LOCK of a System V segment",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {errno_error(EPERM)},
    .budgets = {Budget::user_memlock},
    .source = "ipc/shm.c shmctl_do_lock, mm/mlock.c user_shm_lock (5.10 to 7.2)",
    .needs = "",
    .not_limited_because = "",
};

} // namespace

const RegisteredMechanism shm_lock_mechanism = {facts, &create<ShmLock>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
