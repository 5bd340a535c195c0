// SPDX-License-Identifier: Apache-2.0
// A memfd's pages made into a DMA buffer, as virtual machines and graphics do.
#include "base/file.h"
#include "pin/device.h"
#include "pin/mechanisms/mechanisms.h"

#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace pinscope::pin {
namespace {

class Udmabuf : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        if (auto opened = open_device("/dev/udmabuf", "udmabuf driver", driver_); !opened)
            return opened;
        const auto most = read_number("/sys/module/udmabuf/parameters/size_limit_mb");
        if (most && bytes > *most * 1_MiB)
            return Step::unsupported("UDMABUF_CREATE",
                                     fmt::format("one udmabuf holds at most {} (udmabuf.size_limit_mb)",
                                                 format_bytes(*most * 1_MiB)),
                                     EINVAL);
        file_ = Fd(::memfd_create("pinscope-udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        if (!file_)
            return Step::refused("memfd_create");
        if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
            return Step::refused("ftruncate");
        // The driver takes a file only that cannot shrink under it.
        if (::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
            return Step::refused("fcntl(F_ADD_SEALS)");
        Mapping file_memory = Mapping::shared(file_, bytes);
        if (!file_memory)
            return Step::refused("mmap");
        file_memory.touch();
        return Step::ok();
    }
    Step pin() override {
        udmabuf_create request{};
        request.memfd = static_cast<uint32_t>(file_.get());
        request.flags = UDMABUF_FLAGS_CLOEXEC;
        request.size = bytes_;
        buffer_ = Fd(::ioctl(driver_.get(), UDMABUF_CREATE, &request));
        return buffer_ ? Step::ok() : Step::refused("ioctl(UDMABUF_CREATE)");
    }
    bool verify() override {
        const Mapping memory = Mapping::shared(buffer_, bytes_);
        return memory && memory.holds_marks();
    }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Fd driver_;
    Fd file_;
    Fd buffer_;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "udmabuf",
    .summary = "a memfd made into a DMA buffer (UDMABUF_CREATE)",
    .over_limit = {},
    .at_zero_limit = {},
    .budgets = {},
    .source =
        "drivers/dma-buf/udmabuf.c udmabuf_create looks at size_limit_mb and list_limit only; pages are "
        "pinned by memfd_pin_folios (6.11 on)",
    .needs = "/dev/udmabuf",
    .not_limited_because = "udmabuf has a size limit of its own only (udmabuf.size_limit_mb)",
};

} // namespace

const RegisteredMechanism udmabuf_mechanism = {facts, &create<Udmabuf>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
