// SPDX-License-Identifier: Apache-2.0
// Memory mapped for a device that is given to user space (VFIO), as hypervisors and DPDK do.
#include "base/text.h"
#include "pin/device.h"
#include "pin/mechanisms/mechanisms.h"

#include <linux/vfio.h>
#include <sys/ioctl.h>

namespace pinscope::pin {
namespace {

class VfioMap : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::populated(bytes);
        if (!memory_)
            return Step::refused("mmap");
        if (auto opened = open_container(); !opened)
            return opened;
        return attach_first_group();
    }
    Step pin() override {
        vfio_iommu_type1_dma_map request{};
        request.argsz = sizeof(request);
        request.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
        request.vaddr = memory_.address_number();
        request.iova = first_address;
        request.size = memory_.bytes();
        return ::ioctl(container_.get(), VFIO_IOMMU_MAP_DMA, &request) == 0
                   ? Step::ok()
                   : Step::refused("ioctl(VFIO_IOMMU_MAP_DMA)");
    }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return memory_.bytes(); }

  private:
    // As the device sees it; above the windows of interrupts that IOMMUs keep (0xfee00000 on x86).
    static constexpr uint64_t first_address = 4_GiB;

    Step open_container() { return open_device("/dev/vfio/vfio", "VFIO driver", container_); }

    // A group of devices can be held by one process only; the first that is free, or why the last one was
    // not.
    Step attach_first_group() {
        return open_first(
            "/dev/vfio", [](std::string_view name) { return parse_unsigned(name).has_value(); },
            [this](const std::string& name) { return attach(name); },
            Step::unsupported("open", "no device is given to VFIO here (/dev/vfio/N)", ENOENT));
    }

    // With a container of its own: one that has had a group keeps what that group could.
    Step attach(const std::string& name) {
        if (auto opened = open_container(); !opened)
            return opened;
        if (auto opened = open_device("/dev/vfio/" + name, "VFIO group", group_); !opened)
            return opened;
        vfio_group_status status{};
        status.argsz = sizeof(status);
        if (::ioctl(group_.get(), VFIO_GROUP_GET_STATUS, &status) != 0)
            return unusable("ioctl(VFIO_GROUP_GET_STATUS)", name);
        if ((status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0)
            return Step::unsupported("ioctl(VFIO_GROUP_GET_STATUS)",
                                     fmt::format("not every device of VFIO group {} is given to VFIO", name),
                                     EPERM);
        const int container = container_.get();
        if (::ioctl(group_.get(), VFIO_GROUP_SET_CONTAINER, &container) != 0)
            return unusable("ioctl(VFIO_GROUP_SET_CONTAINER)", name);
        if (::ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0)
            return unusable("ioctl(VFIO_SET_IOMMU)", name);
        return Step::ok();
    }

    static Step unusable(std::string_view call, const std::string& name) {
        return Step::unsupported(call,
                                 fmt::format("VFIO group {} cannot be used ({})", name, errno_name(errno)));
    }

    Mapping memory_;
    Fd container_;
    Fd group_;
};

const MechanismFacts facts = {
    .name = "vfio-map",
    .summary = "memory mapped for a device in user space (VFIO_IOMMU_MAP_DMA)",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {},
    .budgets = {Budget::locked_vm},
    .source = "drivers/vfio/vfio_iommu_type1.c vfio_pin_pages_remote counts in locked_vm (5.10 to 7.2)",
    .needs = "a device given to VFIO",
    .not_limited_because = "",
};

} // namespace

// One process can hold a group once.
const RegisteredMechanism vfio_map_mechanism = {facts, &create<VfioMap>, &any_size, &no_allowance, false};

} // namespace pinscope::pin
