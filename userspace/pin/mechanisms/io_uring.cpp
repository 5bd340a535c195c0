// SPDX-License-Identifier: Apache-2.0
// io_uring: registered (fixed) buffers, and the memory of the rings themselves.
#include "base/bytes.h"
#include "pin/mechanisms/mechanisms.h"

#include <liburing.h>

#include <sys/uio.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace pinscope::pin {
namespace {

class Ring {
  public:
    Ring() = default;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        if (open_)
            ::io_uring_queue_exit(&ring_);
    }

    // Unlike errno, liburing returns the negative error.
    Step open(unsigned entries) {
        const int result = ::io_uring_queue_init(entries, &ring_, 0);
        if (result == 0) {
            open_ = true;
            return Step::ok();
        }
        if (result == -ENOSYS)
            return Step::unsupported("io_uring_setup", "this kernel, or its seccomp filter, has no io_uring",
                                     ENOSYS);
        if (result == -EPERM)
            return Step::unsupported(
                "io_uring_setup",
                "io_uring is denied: by kernel.io_uring_disabled, a seccomp filter or a policy", EPERM);
        return Step::refused("io_uring_setup", -result);
    }

    io_uring* get() { return &ring_; }

  private:
    io_uring ring_{};
    bool open_ = false;
};

// The kernel takes at most 1 GiB as one buffer (io_uring/rsrc.c io_buffer_validate).
constexpr uint64_t largest_buffer = 1_GiB;

class IoUringBuffers : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::populated(bytes);
        if (!memory_)
            return Step::refused("mmap");
        return Step::ok();
    }
    // The ring is part of the request: where rings count too, a limit of 0 stops it there.
    Step pin() override {
        if (auto opened = ring_.open(1); !opened)
            return opened;
        std::vector<iovec> buffers;
        for (uint64_t at = 0; at < memory_.bytes(); at += largest_buffer)
            buffers.push_back(
                {static_cast<char*>(memory_.address()) + at, std::min(largest_buffer, memory_.bytes() - at)});
        const int result =
            ::io_uring_register_buffers(ring_.get(), buffers.data(), static_cast<unsigned>(buffers.size()));
        return result == 0 ? Step::ok() : Step::refused("io_uring_register(BUFFERS)", -result);
    }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return memory_.bytes(); }

  private:
    Mapping memory_;
    Ring ring_;
};

// As many rings as it takes: one holds little more than 3 MiB.
class IoUringRing : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        return Step::ok();
    }
    Step pin() override {
        while (charged_ < bytes_) {
            const unsigned entries = entries_for(bytes_ - charged_);
            auto ring = std::make_unique<Ring>();
            if (auto opened = ring->open(entries); !opened)
                return opened;
            charged_ += ring_bytes(entries);
            rings_.push_back(std::move(ring));
        }
        return Step::ok();
    }
    uint64_t charged_bytes() const override { return charged_; }

  private:
    static constexpr unsigned most_entries = 32768; // IORING_MAX_ENTRIES

    // The submission entries (64 bytes), and the two rings with their index array (io_uring/io_uring.c
    // rings_size): the completion ring has twice as many entries, of 16 bytes.
    static uint64_t ring_bytes(unsigned entries) {
        constexpr uint64_t heads_and_tails = 320;
        return round_up(uint64_t{entries} * 64, page_size()) +
               round_up(heads_and_tails + uint64_t{entries} * (2 * 16 + 4), page_size());
    }
    // The largest power of two that stays within `bytes`, or 1.
    static unsigned entries_for(uint64_t bytes) {
        unsigned entries = most_entries;
        while (entries > 1 && ring_bytes(entries) > bytes)
            entries /= 2;
        return entries;
    }

    uint64_t bytes_ = 0;
    uint64_t charged_ = 0;
    std::vector<std::unique_ptr<Ring>> rings_;
};

const MechanismFacts buffers_facts = {
    .name = "io_uring-buffers",
    .summary = "io_uring fixed buffers (IORING_REGISTER_BUFFERS)",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {},
    .budgets = {Budget::user_locked_vm, Budget::pinned_vm},
    .source =
        "io_uring/rsrc.c io_account_mem, __io_account_mem (fs/io_uring.c before 6.0); whether it counts is "
        "decided when the ring is set up (5.10 to 7.2)",
    .needs = "io_uring",
    .not_limited_because = "",
};

const MechanismFacts ring_facts = {
    .name = "io_uring-ring",
    .summary = "the memory of io_uring's own rings",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {},
    .budgets = {Budget::user_locked_vm},
    .source = "fs/io_uring.c io_uring_create (5.10 up to 5.10.161), io_uring/memmap.c io_create_region (6.14 "
              "on); in "
              "between, and from "
              "7.2 on, rings are charged to the memory cgroup only",
    .needs = "io_uring",
    .not_limited_because = "most kernels from 5.12 on charge rings to the memory cgroup only",
};

} // namespace

const RegisteredMechanism io_uring_buffers_mechanism = {buffers_facts, &create<IoUringBuffers>, &any_size,
                                                        &no_allowance, true};
const RegisteredMechanism io_uring_ring_mechanism = {ring_facts, &create<IoUringRing>, &any_size,
                                                     &no_allowance, true};

} // namespace pinscope::pin
