// SPDX-License-Identifier: Apache-2.0
#include "cuda/gpu_check.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "cuda/libraries.h"
#include "trial/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#if PINSCOPE_GPU_CODE
// PTX of gpu_sum.cu, which the driver compiles for the GPU that is there.
asm(".pushsection .rodata\n"
    "pinscope_gpu_sum:\n"
    ".incbin \"" PINSCOPE_GPU_CODE_FILE "\"\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char pinscope_gpu_sum[];
#endif

namespace pinscope::cuda {
namespace {

constexpr unsigned blocks = 64;
constexpr unsigned threads_per_block = 256;
constexpr int copies = 3;
constexpr uint64_t copy_at_most = 256_MiB;

const char* gpu_code() {
#if PINSCOPE_GPU_CODE
    return pinscope_gpu_sum;
#else
    return nullptr;
#endif
}

// Memory of the GPU.
class GpuMemory {
  public:
    explicit GpuMemory(size_t bytes) {
        if (driver().mem_alloc(&address_, bytes) != 0)
            address_ = 0;
    }
    ~GpuMemory() {
        if (address_ != 0)
            (void)driver().mem_free(address_);
    }
    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;
    DevicePointer address() const { return address_; }

  private:
    DevicePointer address_ = 0;
};

uint64_t sum_of_marks(uint64_t bytes) {
    uint64_t sum = 0;
    for (uint64_t at = 0; at < bytes; at += page_size())
        sum += trial::page_mark(at);
    return sum;
}

// What a kernel on the GPU sums; the name of the call that failed in `failed` where there is no sum.
uint64_t sum_on_gpu(DevicePointer memory, uint64_t bytes, std::string& failed) {
    const auto& api = driver();
    const auto check = [&](const char* call, DriverStatus status) {
        if (status != 0 && failed.empty())
            failed = fmt::format("{} answers {} {}", call, status, api.name_of(status));
        return status == 0;
    };
    void* module = nullptr;
    void* function = nullptr;
    uint64_t sum = 0;
    const GpuMemory result(sizeof(sum));
    if (!check("cuMemAlloc", result.address() == 0 ? 2 : 0) ||
        !check("cuModuleLoadData", api.module_load(&module, gpu_code())) ||
        !check("cuModuleGetFunction", api.module_function(&function, module, "pinscope_sum_pages")) ||
        !check("cuMemcpyHtoD", api.copy_to_device(result.address(), &sum, sizeof(sum))))
        return 0;
    unsigned long long total = bytes;
    unsigned long long page = page_size();
    DevicePointer to = result.address();
    std::array<void*, 4> parameters = {&memory, &total, &page, &to};
    if (check("cuLaunchKernel", api.launch(function, blocks, 1, 1, threads_per_block, 1, 1, 0, nullptr,
                                           parameters.data(), nullptr)) &&
        check("cuCtxSynchronize", api.synchronize()))
        check("cuMemcpyDtoH", api.copy_to_host(&sum, to, sizeof(sum)));
    return sum;
}

// GB/s (powers of ten, as link speeds are given) of the best of a few copies; 0 where none succeeded.
double copy_speed(DevicePointer to, const void* from, uint64_t bytes) {
    double best = 0;
    for (int i = 0; i < copies; ++i) {
        const auto began = MonotonicClock::now();
        if (driver().copy_to_device(to, from, bytes) != 0 || driver().synchronize() != 0)
            return 0;
        const std::chrono::duration<double> took = MonotonicClock::now() - began;
        best = std::max(best, static_cast<double>(bytes) / took.count() / 1e9);
    }
    return best;
}

std::string copy_words(const void* pinned, uint64_t bytes) {
    bytes = std::min(bytes, copy_at_most);
    const GpuMemory target(bytes);
    const auto pageable = trial::Mapping::populated(bytes);
    if (target.address() == 0 || !pageable)
        return {};
    const double pinned_speed = copy_speed(target.address(), pinned, bytes);
    const double pageable_speed = copy_speed(target.address(), pageable.address(), bytes);
    if (pinned_speed == 0 || pageable_speed == 0)
        return {};
    return fmt::format("; copies to it: {:.1f} GB/s, from pageable memory {:.1f} GB/s", pinned_speed,
                       pageable_speed);
}

} // namespace

GpuCheck check_from_gpu(void* memory, uint64_t bytes) {
    const auto& api = driver();
    GpuCheck out;
    if (gpu_code() == nullptr || !api.library.is_loaded() || !api.host_device_pointer || !api.mem_alloc ||
        !api.mem_free || !api.copy_to_device || !api.copy_to_host || !api.module_load ||
        !api.module_function || !api.launch || !api.synchronize)
        return out;
    DevicePointer mapped = 0;
    if (const auto status = api.host_device_pointer(&mapped, memory, 0); status != 0) {
        out.words = fmt::format("not looked at from the GPU: cuMemHostGetDevicePointer answers {} {}", status,
                                api.name_of(status));
        return out;
    }
    std::string failed;
    const uint64_t sum = sum_on_gpu(mapped, bytes, failed);
    if (!failed.empty()) {
        out.words = "not looked at from the GPU: " + failed;
        return out;
    }
    out.agrees = sum == sum_of_marks(bytes);
    out.words = out.agrees
                    ? fmt::format("the GPU reads what was written{}", copy_words(memory, bytes))
                    : fmt::format("the call succeeded, but the GPU does not read what was written: the "
                                  "sum of its pages is {}, not {}",
                                  sum, sum_of_marks(bytes));
    return out;
}

} // namespace pinscope::cuda
