// SPDX-License-Identifier: Apache-2.0
#include "model/cuda.h"

#include <algorithm>
#include <array>

namespace pinscope {
namespace {

constexpr std::string_view pins_user_pages = "NVIDIA's open kernel modules, kernel-open/nvidia/os-mlock.c "
                                             "os_lock_user_pages: pin_user_pages without a "
                                             "look at any limit (515 to 595); mm/gup.c has none either";
constexpr std::string_view asks_no_limit =
    "neither pin_user_pages nor the source of NVIDIA's open kernel modules looks at the limit";
constexpr std::string_view needs_gpu = "an NVIDIA driver and GPU";

MechanismFacts describe(std::string_view name, std::string_view summary) {
    MechanismFacts facts;
    facts.name = name;
    facts.summary = summary;
    facts.source = pins_user_pages;
    facts.needs = needs_gpu;
    facts.any_error_may_be_the_limit = true;
    facts.not_limited_because = asks_no_limit;
    return facts;
}

MechanismFacts managed() {
    auto facts = describe("cudaMallocManaged", "managed memory, touched from the CPU");
    facts.source =
        "NVIDIA's open kernel modules, kernel-open/nvidia-uvm: pages of the kernel, charged to the "
        "memory cgroup where int_active_memcg is exported; nothing is pinned";
    facts.not_limited_because = "managed memory is the driver's own, and nothing is pinned";
    return facts;
}

MechanismFacts created() {
    auto facts = describe("cuMemCreate-host", "memory of a NUMA node of the host, made by the driver");
    facts.source = "NVIDIA's open kernel modules, kernel-open/nvidia/nv-vm.c nv_alloc_pages: pages of the "
                   "driver, charged to no memory cgroup";
    facts.not_limited_because = "the memory is the driver's own";
    return facts;
}

} // namespace

std::span<const MechanismFacts> cuda_mechanisms() {
    static const std::array all = {
        describe("cudaHostAlloc", "pinned host memory, default flags"),
        describe("cudaHostAlloc-portable", "pinned for every CUDA context"),
        describe("cudaHostAlloc-mapped", "pinned, and mapped for the GPU"),
        describe("cudaHostAlloc-writecombined", "pinned, write-combined"),
        describe("cudaMallocHost", "pinned host memory by the older call"),
        describe("cudaHostRegister", "memory of malloc, pinned afterwards"),
        describe("cudaHostRegister-memfd", "a memfd's memory, pinned afterwards"),
        describe("cudaHostRegister-file", "a file's memory, pinned afterwards"),
        managed(),
        describe("cuMemHostAlloc", "pinned host memory by the driver API"),
        describe("cuMemHostRegister", "memory of malloc, pinned by the driver API"),
        created(),
    };
    return all;
}

bool is_cuda_mechanism(std::string_view name) {
    const auto all = cuda_mechanisms();
    return std::any_of(all.begin(), all.end(), [&](const auto& facts) { return facts.name == name; });
}

namespace {

std::string taken_path(const std::vector<CudaCandidate>& candidates) {
    const auto taken =
        std::find_if(candidates.begin(), candidates.end(), [](const auto& one) { return one.taken; });
    return taken != candidates.end() ? taken->path : "";
}

} // namespace

std::string CudaLibraries::driver_path() const {
    return taken_path(driver);
}
std::string CudaLibraries::runtime_path() const {
    return taken_path(runtime);
}

} // namespace pinscope
