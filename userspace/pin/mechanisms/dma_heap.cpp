// SPDX-License-Identifier: Apache-2.0
// A DMA buffer from the system heap: kernel pages, as a rule charged to no memory cgroup.
#include "pin/device.h"
#include "pin/mechanisms/mechanisms.h"

#include <linux/dma-heap.h>
#include <sys/ioctl.h>

namespace pinscope::pin {
namespace {

class DmaHeap : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        return open_device("/dev/dma_heap/system", "dma-buf heap", heap_);
    }
    Step pin() override {
        dma_heap_allocation_data request{};
        request.len = bytes_;
        request.fd_flags = O_RDWR | O_CLOEXEC;
        if (::ioctl(heap_.get(), DMA_HEAP_IOCTL_ALLOC, &request) != 0)
            return Step::refused("ioctl(DMA_HEAP_IOCTL_ALLOC)");
        buffer_ = Fd(static_cast<int>(request.fd));
        memory_ = Mapping::shared(buffer_, bytes_);
        return memory_ ? Step::ok() : Step::refused("mmap");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Fd heap_;
    Fd buffer_;
    Mapping memory_;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "dma-heap",
    .summary = "a DMA buffer from /dev/dma_heap/system",
    .over_limit = {},
    .at_zero_limit = {},
    .budgets = {},
    .source =
        "drivers/dma-buf/heaps/system_heap.c allocates without __GFP_ACCOUNT (5.10 on; 7.0 on it does with "
        "the parameter mem_accounting) and looks at no limit",
    .needs = "/dev/dma_heap/system",
    .not_limited_because = "dma-buf heaps have no limit at all",
};

} // namespace

const RegisteredMechanism dma_heap_mechanism = {facts, &create<DmaHeap>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
