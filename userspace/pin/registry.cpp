// SPDX-License-Identifier: Apache-2.0
#include "pin/registry.h"

#include "base/bytes.h"
#include "model/cuda.h"
#include "pin/mechanisms/mechanisms.h"

#include <array>
#include <vector>

namespace pinscope::pin {
namespace {

// What cuMemCreate takes comes in pages of 2 MiB.
uint64_t huge_pages(uint64_t bytes) {
    return round_up(bytes, 2_MiB);
}

} // namespace

std::span<const RegisteredMechanism> all_mechanisms() {
    // Made at the first call, when every mechanism's file has been initialised.
    static const std::array all = {
        mlock_mechanism,       mlock2_mechanism,       mlockall_mechanism,         mmap_locked_mechanism,
        shm_lock_mechanism,    memfd_secret_mechanism, io_uring_buffers_mechanism, io_uring_ring_mechanism,
        af_xdp_umem_mechanism, perf_ring_mechanism,    msg_zerocopy_mechanism,     rdma_reg_mr_mechanism,
        vfio_map_mechanism,    bpf_map_mechanism,      vmsplice_mechanism,         packet_ring_mechanism,
        hugetlb_mechanism,     udmabuf_mechanism,      dma_heap_mechanism};
    return all;
}

std::span<const RegisteredMechanism> cuda_mechanisms() {
    static const auto all = [] {
        std::vector<RegisteredMechanism> out;
        const auto facts = pinscope::cuda_mechanisms();
        out.reserve(facts.size());
        for (const auto& one : facts)
            out.push_back({one, nullptr, one.name == "cuMemCreate-host" ? &huge_pages : &any_size,
                           &no_allowance, true});
        return out;
    }();
    return all;
}

const RegisteredMechanism* find_mechanism(std::string_view name) {
    for (const auto& mechanism : all_mechanisms())
        if (mechanism.facts.name == name)
            return &mechanism;
    return nullptr;
}

} // namespace pinscope::pin
