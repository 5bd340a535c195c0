// SPDX-License-Identifier: Apache-2.0
// An RDMA memory region, registered as libibverbs' ibv_reg_mr does. Spoken here is the kernel's own
// interface, commands written to /dev/infiniband/uverbsN, so that the program stays one static file.
#include "base/file.h"
#include "base/text.h"
#include "pin/device.h"
#include "pin/mechanisms/mechanisms.h"

#include <array>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

namespace pinscope::pin {
namespace {

constexpr uint32_t local_write = 1; // IB_ACCESS_LOCAL_WRITE
constexpr std::string_view devices_folder = "/dev/infiniband";

// Drivers append to a response what their user-space library needs; none appends more than this.
template <class Response>
union Answer {
    Response response;
    std::array<char, 512> space;
};

template <class Structure>
std::string_view as_bytes(const Structure& structure) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes may be looked at as such
    return {reinterpret_cast<const char*>(&structure), sizeof(structure)};
}

class Verbs {
  public:
    explicit Verbs(Fd device) : device_(std::move(device)) {}

    // `driver_part`: what the device's driver wants behind the request.
    template <class Response, class Request>
    bool command(uint32_t number, Request request, Response& response,
                 std::string_view driver_part = {}) const {
        Answer<Response> answer{};
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the interface takes addresses as
        // integers
        request.response = reinterpret_cast<uint64_t>(&answer);
        if (!send(number, as_bytes(request), driver_part, sizeof(answer)))
            return false;
        response = answer.response;
        return true;
    }

    // A command without a response.
    template <class Request>
    bool command(uint32_t number, const Request& request) const {
        return send(number, as_bytes(request), {}, 0);
    }

  private:
    bool send(uint32_t number, std::string_view request, std::string_view driver_part,
              size_t answer_bytes) const {
        const size_t bytes = sizeof(ib_uverbs_cmd_hdr) + request.size() + driver_part.size();
        ib_uverbs_cmd_hdr header{};
        header.command = number;
        header.in_words = static_cast<uint16_t>(bytes / sizeof(uint32_t));
        header.out_words = static_cast<uint16_t>(answer_bytes / sizeof(uint32_t));
        std::string packet(as_bytes(header));
        packet += request;
        packet += driver_part;
        return ::write(device_.get(), packet.data(), packet.size()) == static_cast<ssize_t>(packet.size());
    }

    Fd device_;
};

// The name of the kernel driver behind uverbsN; empty for software devices, which have none.
std::string driver_of(const std::string& uverbs) {
    const auto device = read_file("/sys/class/infiniband_verbs/" + uverbs + "/ibdev");
    if (!device)
        return "";
    const auto driver = read_link("/sys/class/infiniband/" + std::string(trim(*device)) + "/device/driver");
    return driver ? driver->substr(driver->rfind('/') + 1) : "";
}

class RdmaRegMr : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::populated(bytes);
        if (!memory_)
            return Step::refused("mmap");
        return open_first_device();
    }
    Step pin() override {
        ib_uverbs_reg_mr_resp region{};
        return register_region(memory_.bytes(), region) ? Step::ok() : Step::refused("REG_MR");
    }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return memory_.bytes(); }

  private:
    bool register_region(uint64_t bytes, ib_uverbs_reg_mr_resp& region) {
        ib_uverbs_reg_mr request{};
        request.start = memory_.address_number();
        request.length = bytes;
        request.hca_va = request.start;
        request.pd_handle = protection_domain_;
        request.access_flags = local_write;
        return verbs_->command(IB_USER_VERBS_CMD_REG_MR, request, region);
    }

    // The first device that gives a context and a protection domain, and whose driver takes a region without
    // data of its own; or why the last one does not.
    Step open_first_device() {
        return open_first(
            std::string(devices_folder), [](std::string_view name) { return name.rfind("uverbs", 0) == 0; },
            [this](const std::string& name) { return open(name); },
            Step::unsupported(
                "open", fmt::format("there is no RDMA device here ({}/uverbs0)", devices_folder), ENOENT));
    }

    Step open(const std::string& name) {
        Fd device;
        if (auto opened = open_device(fmt::format("{}/{}", devices_folder, name), "RDMA device", device);
            !opened)
            return opened;
        verbs_ = std::make_unique<Verbs>(std::move(device));
        const std::string driver = driver_of(name);
        // drivers/infiniband/hw/mlx5/main.c mlx5_ib_alloc_ucontext takes no context without doorbells.
        mlx5_ib_alloc_ucontext_req_v2 doorbells{};
        doorbells.total_num_bfregs = 16;
        doorbells.num_low_latency_bfregs = 4;
        const std::string_view driver_part = driver == "mlx5_core" ? as_bytes(doorbells) : std::string_view();
        ib_uverbs_get_context_resp context{};
        if (!verbs_->command(IB_USER_VERBS_CMD_GET_CONTEXT, ib_uverbs_get_context{}, context, driver_part))
            return Step::unsupported("GET_CONTEXT",
                                     fmt::format("{}{} gives no context ({})", name,
                                                 driver.empty() ? "" : " of " + driver, errno_name(errno)));
        events_ = Fd(static_cast<int>(context.async_fd));
        ib_uverbs_alloc_pd_resp domain{};
        if (!verbs_->command(IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{}, domain))
            return Step::unsupported(
                "ALLOC_PD", fmt::format("{} gives no protection domain ({})", name, errno_name(errno)));
        protection_domain_ = domain.pd_handle;
        return try_one_page(name);
    }

    // Drivers that want data of their own with a region (siw, irdma) say EINVAL; that is not the limit's
    // answer.
    Step try_one_page(const std::string& name) {
        ib_uverbs_reg_mr_resp region{};
        if (register_region(page_size(), region)) {
            ib_uverbs_dereg_mr request{};
            request.mr_handle = region.mr_handle;
            if (!verbs_->command(IB_USER_VERBS_CMD_DEREG_MR, request))
                return Step::unsupported(
                    "DEREG_MR", fmt::format("{} does not give a region back ({})", name, errno_name(errno)));
            return Step::ok();
        }
        if (errno == ENOMEM || errno == EPERM) // the limit has no room for a page
            return Step::ok();
        return Step::unsupported("REG_MR",
                                 fmt::format("{} takes no plain region ({})", name, errno_name(errno)));
    }

    Mapping memory_; // outlives the region, which ends with the device's descriptor
    std::unique_ptr<Verbs> verbs_;
    Fd events_;
    uint32_t protection_domain_ = 0;
};

const MechanismFacts facts = {
    .name = "rdma-reg-mr",
    .summary = "an RDMA memory region (ibv_reg_mr)",
    .over_limit = {errno_error(ENOMEM)},
    .at_zero_limit = {errno_error(EPERM)},
    .budgets = {Budget::pinned_vm},
    .source = "drivers/infiniband/core/umem.c __ib_umem_get compares pinned_vm (5.10 to 7.2); EPERM by "
              "can_do_mlock",
    .needs = "an RDMA device",
    .not_limited_because = "",
};

} // namespace

const RegisteredMechanism rdma_reg_mr_mechanism = {facts, &create<RdmaRegMr>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
