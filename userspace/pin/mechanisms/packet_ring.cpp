// SPDX-License-Identifier: Apache-2.0
// The receive ring of an AF_PACKET socket: kernel pages that no memory cgroup is charged for.
#include "base/fd.h"
#include "pin/mechanisms/mechanisms.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

namespace pinscope::pin {
namespace {

constexpr uint64_t block_bytes = 64_KiB;

uint64_t whole_blocks(uint64_t bytes) {
    return round_up(bytes, block_bytes);
}

class PacketRing : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = whole_blocks(bytes);
        // Protocol 0: no packet is ever delivered to it.
        socket_ = Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
        if (!socket_)
            return Step::unsupported("socket(AF_PACKET)", errno == EPERM
                                                              ? "packet sockets take CAP_NET_RAW"
                                                              : "this kernel has no packet sockets");
        return Step::ok();
    }
    Step pin() override {
        tpacket_req ring{};
        ring.tp_block_size = static_cast<unsigned>(block_bytes);
        ring.tp_block_nr = static_cast<unsigned>(bytes_ / block_bytes);
        ring.tp_frame_size = static_cast<unsigned>(page_size());
        ring.tp_frame_nr = static_cast<unsigned>(bytes_ / page_size());
        if (::setsockopt(socket_.get(), SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) != 0)
            return Step::refused("setsockopt(PACKET_RX_RING)");
        memory_ = Mapping::shared(socket_, bytes_);
        return memory_ ? Step::ok() : Step::refused("mmap");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Fd socket_;
    Mapping memory_;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "packet-ring",
    .summary = "an AF_PACKET receive ring: kernel pages that no cgroup is charged for",
    .over_limit = {},
    .at_zero_limit = {},
    .budgets = {},
    .source = "net/packet/af_packet.c alloc_pg_vec allocates without __GFP_ACCOUNT and looks at no limit",
    .needs = "CAP_NET_RAW",
    .not_limited_because = "packet rings have no limit at all, and no memory cgroup is charged",
};

} // namespace

const RegisteredMechanism packet_ring_mechanism = {facts, &create<PacketRing>, &whole_blocks, &no_allowance,
                                                   true};

} // namespace pinscope::pin
