// SPDX-License-Identifier: Apache-2.0
// The packet memory (umem) of an AF_XDP socket.
#include "base/fd.h"
#include "pin/mechanisms/mechanisms.h"

#include <linux/if_xdp.h>
#include <sys/socket.h>

namespace pinscope::pin {
namespace {

class AfXdpUmem : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::populated(bytes);
        if (!memory_)
            return Step::refused("mmap");
        socket_ = Fd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
        if (!socket_)
            return Step::unsupported("socket(AF_XDP)", errno == EPERM ? "AF_XDP sockets take CAP_NET_RAW"
                                                                      : "this kernel has no AF_XDP sockets");
        return Step::ok();
    }
    Step pin() override {
        xdp_umem_reg registration{};
        registration.addr = memory_.address_number();
        registration.len = memory_.bytes();
        registration.chunk_size = static_cast<uint32_t>(page_size());
        return ::setsockopt(socket_.get(), SOL_XDP, XDP_UMEM_REG, &registration, sizeof(registration)) == 0
                   ? Step::ok()
                   : Step::refused("setsockopt(XDP_UMEM_REG)");
    }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return memory_.bytes(); }

  private:
    Mapping memory_;
    Fd socket_;
};

const MechanismFacts facts = {
    .name = "af_xdp-umem",
    .summary = "AF_XDP packet memory (XDP_UMEM_REG)",
    .over_limit = {errno_error(ENOBUFS)},
    .at_zero_limit = {},
    .budgets = {Budget::user_locked_vm},
    .source = "net/xdp/xdp_umem.c xdp_umem_account_pages (5.10 to 7.2)",
    .needs = "CAP_NET_RAW",
    .not_limited_because = "",
};

} // namespace

const RegisteredMechanism af_xdp_umem_mechanism = {facts, &create<AfXdpUmem>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
