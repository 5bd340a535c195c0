// SPDX-License-Identifier: Apache-2.0
#include "kernel/expected.h"

#include <sys/utsname.h>

#include <cstdio>

namespace pinscope::test {

KernelVersion this_kernel() {
    utsname names{};
    KernelVersion version;
    if (::uname(&names) == 0)
        (void)std::sscanf(names.release, "%d.%d", &version.major, &version.minor); // NOLINT(cert-err34-c)
    return version;
}

std::set<std::string> expected_verdicts(std::string_view mechanism, const KernelVersion& kernel) {
    // Charged until 5.10 (kernel/bpf/syscall.c bpf_map_charge_init), to the memory cgroup from 5.11 on.
    if (mechanism == "bpf-map")
        return {kernel.at_least(5, 11) ? "not_enforced" : "enforced"};
    // fs/io_uring.c io_uring_create charged rings until 5.11, but 5.10.162 took over all of 5.15's io_uring,
    // and uname does not always show the patch level; io_uring/memmap.c io_create_region does from 6.14 on,
    // and not in 7.2.
    if (mechanism == "io_uring-ring") {
        if (!kernel.at_least(5, 12))
            return {"enforced", "not_enforced"};
        return {kernel.at_least(6, 14) && !kernel.at_least(7, 2) ? "enforced" : "not_enforced"};
    }
    // No memfd_secret before 5.14, and until 6.5 only with secretmem.enable=1.
    if (mechanism == "memfd-secret")
        return {"enforced", "unsupported"};
    if (mechanism == "vmsplice" || mechanism == "packet-ring")
        return {"not_enforced"};
    // Depends on the pool, and on drivers that are built in, or not.
    if (mechanism == "hugetlb" || mechanism == "udmabuf" || mechanism == "dma-heap")
        return {"not_enforced", "unsupported"};
    // Takes a device.
    if (mechanism == "rdma-reg-mr" || mechanism == "vfio-map")
        return {"enforced", "unsupported"};
    return {"enforced"};
}

std::set<std::string> expected_deciders(std::string_view mechanism, const KernelVersion& kernel,
                                        bool functions) {
    if (mechanism == "mlock" || mechanism == "mlock2-onfault")
        return {"do_mlock"};
    if (mechanism == "mlockall")
        return {"mlockall"};
    // mm/mmap.c: the check is a function of its own, or inlined in do_mmap, from build to build.
    if (mechanism == "mmap-locked")
        return {"do_mmap", "mlock_future_check", "mlock_future_ok", "do_mmap|mlock_future_ok"};
    if (mechanism == "shm-lock")
        return {"user_shm_lock"};
    // Late stable kernels count at the first touch, in mm/secretmem.c, in no function that can be probed.
    if (mechanism == "memfd-secret")
        return {"mlock_future_check", "mlock_future_ok", "secretmem_mmap", ""};
    // io_uring/rsrc.c: inlined in 5.10; without function probes nothing shows it, since it asks for no
    // capability.
    if (mechanism == "io_uring-buffers")
        return functions && kernel.at_least(6, 1)
                   ? std::set<std::string>{"__io_account_mem", "io_account_mem"}
                   : std::set<std::string>{""};
    if (mechanism == "io_uring-ring")
        return {functions ? "__io_account_mem" : "io_uring_setup"};
    if (mechanism == "af_xdp-umem")
        return {"xdp_umem_create"};
    if (mechanism == "perf-ring")
        return {"perf_mmap"};
    // net/core/skbuff.c
    if (mechanism == "msg-zerocopy")
        return {kernel.at_least(5, 11) ? "mm_account_pinned_pages" : "sock_zerocopy_alloc"};
    // drivers/infiniband/core/umem.c
    if (mechanism == "rdma-reg-mr")
        return {"ib_umem_get", "__ib_umem_get", "__ib_umem_get_va"};
    // drivers/vfio/vfio_iommu_type1.c: vfio_dma_do_map asks; inlined.
    if (mechanism == "vfio-map")
        return {"vfio_iommu_type1_ioctl", "vfio_dma_do_map"};
    if (mechanism == "bpf-map")
        return {functions ? "bpf_map_charge_init" : ""};
    return {};
}

} // namespace pinscope::test
