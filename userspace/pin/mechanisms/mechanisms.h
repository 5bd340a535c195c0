// SPDX-License-Identifier: Apache-2.0
// The registered mechanisms, and what their definitions share. For mechanisms/ and registry.cpp only.
#pragma once

#include "pin/registry.h"

#include <memory>

namespace pinscope::pin {

template <class T>
std::unique_ptr<Mechanism> create() {
    return std::make_unique<T>();
}

constexpr uint64_t any_size(uint64_t bytes) {
    return bytes;
}
constexpr uint64_t no_allowance() {
    return 0;
}

constexpr TrialError errno_error(int number) {
    return {ErrorDomain::errno_value, number};
}
constexpr TrialError signal_error(int number) {
    return {ErrorDomain::signal, number};
}

extern const RegisteredMechanism mlock_mechanism;
extern const RegisteredMechanism mlock2_mechanism;
extern const RegisteredMechanism mlockall_mechanism;
extern const RegisteredMechanism mmap_locked_mechanism;
extern const RegisteredMechanism shm_lock_mechanism;
extern const RegisteredMechanism memfd_secret_mechanism;
extern const RegisteredMechanism io_uring_buffers_mechanism;
extern const RegisteredMechanism io_uring_ring_mechanism;
extern const RegisteredMechanism af_xdp_umem_mechanism;
extern const RegisteredMechanism perf_ring_mechanism;
extern const RegisteredMechanism msg_zerocopy_mechanism;
extern const RegisteredMechanism bpf_map_mechanism;
extern const RegisteredMechanism vmsplice_mechanism;
extern const RegisteredMechanism packet_ring_mechanism;
extern const RegisteredMechanism hugetlb_mechanism;
extern const RegisteredMechanism udmabuf_mechanism;
extern const RegisteredMechanism dma_heap_mechanism;
extern const RegisteredMechanism rdma_reg_mr_mechanism;
extern const RegisteredMechanism vfio_map_mechanism;

} // namespace pinscope::pin
