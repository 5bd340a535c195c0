// SPDX-License-Identifier: Apache-2.0
#include "cuda/mechanisms.h"

#include "base/bytes.h"
#include "base/fd.h"
#include "cuda/gpu_check.h"
#include "cuda/libraries.h"
#include "model/cuda.h"
#include "trial/mapping.h"
#include "trial/marks.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <vector>

namespace pinscope::cuda {
namespace {

using trial::Mapping;
using trial::Mechanism;
using trial::Step;

// A library that says "success" may be lying: a page that nobody mapped ends mincore with ENOMEM.
bool is_mapped(void* memory, uint64_t bytes) {
    std::vector<unsigned char> resident(bytes / page_size() + 1);
    return memory != nullptr && ::mincore(memory, bytes, resident.data()) == 0;
}

Step check_mapped(std::string_view call, void* memory, uint64_t bytes) {
    if (is_mapped(memory, bytes))
        return Step::ok();
    Step step;
    step.result = run::StepResult::not_mapped;
    step.call = call;
    step.detail = fmt::format("{} succeeded, but there is no memory at the address that it gave ({})", call,
                              fmt::ptr(memory));
    return step;
}

// What all have in common: memory at an address, which the GPU may check.
class CudaMemory : public Mechanism {
  public:
    void touch() override { trial::mark_pages(memory_, bytes_); }
    bool verify() override {
        if (!trial::pages_hold_marks(memory_, bytes_))
            return false;
        const GpuCheck gpu = check_from_gpu(memory_, bytes_);
        findings_ = gpu.words;
        return gpu.agrees;
    }
    std::string findings() const override { return findings_; }
    uint64_t charged_bytes() const override { return bytes_; }

  protected:
    void* memory_ = nullptr;
    uint64_t bytes_ = 0;
    std::string findings_;
};

// --- The runtime API --------------------------------------------------------------------------------------

class RuntimeMemory : public CudaMemory {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        const auto& api = runtime();
        if (auto all =
                need(api.library, "libcudart", {{"cudaSetDevice or cudaFree", api.set_device || api.free}});
            !all)
            return all;
        const char* call = api.set_device != nullptr ? "cudaSetDevice" : "cudaFree(0)";
        RuntimeStatus status = api.set_device != nullptr ? api.set_device(0) : api.free(nullptr);
        // From CUDA 12 on cudaSetDevice makes the context, before it a call that needs one did.
        if (status == 0 && api.free != nullptr) {
            call = "cudaFree(0)";
            status = api.free(nullptr);
        }
        if (status == 0)
            return Step::ok();
        auto step = runtime_refused(call, status);
        step.result = run::StepResult::unsupported;
        step.detail =
            fmt::format("{} answers {}{}{}", call, status, step.detail.empty() ? "" : ", ", step.detail);
        return step;
    }
};

// Gives memory of its own: cudaHostAlloc, cudaMallocHost, cudaMallocManaged.
class RuntimeAlloc : public RuntimeMemory {
  public:
    using Call = RuntimeStatus (*)(const RuntimeApi&, void** pointer, size_t bytes);

    RuntimeAlloc(std::string_view name, Call call, bool managed = false)
        : name_(name), call_(call), managed_(managed) {}
    ~RuntimeAlloc() override {
        const auto& api = runtime();
        const auto free = managed_ ? api.free : api.free_host;
        if (memory_ != nullptr && free != nullptr)
            (void)free(memory_);
    }
    Step prepare(uint64_t bytes) override {
        const auto& api = runtime();
        const bool there = managed_                    ? api.malloc_managed != nullptr
                           : name_ == "cudaMallocHost" ? api.malloc_host != nullptr
                                                       : api.host_alloc != nullptr;
        if (auto all = need(api.library, "libcudart", {{name_.data(), there}}); !all)
            return all;
        return RuntimeMemory::prepare(bytes);
    }
    Step pin() override {
        void* memory = nullptr;
        if (const auto status = call_(runtime(), &memory, bytes_); status != 0)
            return runtime_refused(name_, status);
        auto mapped = check_mapped(name_, memory, bytes_);
        if (mapped)
            memory_ = memory;
        return mapped;
    }

  private:
    std::string_view name_; // a literal: zero-terminated
    Call call_;
    bool managed_;
};

template <unsigned flags>
RuntimeStatus host_alloc(const RuntimeApi& api, void** pointer, size_t bytes) {
    return api.host_alloc(pointer, bytes, flags);
}

template <unsigned flags>
std::unique_ptr<Mechanism> make_host_alloc() {
    return std::make_unique<RuntimeAlloc>("cudaHostAlloc", &host_alloc<flags>);
}

std::unique_ptr<Mechanism> make_malloc_host() {
    return std::make_unique<RuntimeAlloc>(
        "cudaMallocHost",
        [](const RuntimeApi& api, void** pointer, size_t bytes) { return api.malloc_host(pointer, bytes); });
}

std::unique_ptr<Mechanism> make_malloc_managed() {
    return std::make_unique<RuntimeAlloc>(
        "cudaMallocManaged",
        [](const RuntimeApi& api, void** pointer, size_t bytes) {
            return api.malloc_managed(pointer, bytes, attach_global);
        },
        true);
}

// --- Memory that is registered afterwards -----------------------------------------------------------------

enum class Backing { anonymous, memfd, file };

// Memory of the kind, filled; unsupported with the reason where it is not to be had.
Step back(Backing backing, uint64_t bytes, Mapping& memory) {
    if (backing == Backing::anonymous) {
        memory = Mapping::populated(bytes);
        return memory ? Step::ok() : Step::unsupported("mmap", "no memory to register", errno);
    }
    const char* folder = std::getenv("TMPDIR");
    if (folder == nullptr || *folder == '\0')
        // /tmp is often a tmpfs, whose files are no files for a driver.
        folder = ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
    const Fd file(backing == Backing::memfd ? ::memfd_create("pinscope-register", MFD_CLOEXEC)
                                            : ::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
        return Step::unsupported("open", backing == Backing::memfd
                                             ? "no memfd can be made"
                                             : fmt::format("no file can be made in {}", folder));
    memory = Mapping::shared(file, bytes);
    if (!memory)
        return Step::unsupported("mmap", "the file cannot be mapped");
    memory.touch();
    return Step::ok();
}

template <Backing backing>
class RuntimeRegister : public RuntimeMemory {
  public:
    ~RuntimeRegister() override {
        if (registered_ && runtime().host_unregister != nullptr)
            (void)runtime().host_unregister(memory_);
    }
    Step prepare(uint64_t bytes) override {
        const auto& api = runtime();
        if (auto all = need(api.library, "libcudart", {{"cudaHostRegister", api.host_register != nullptr}});
            !all)
            return all;
        if (auto ready = RuntimeMemory::prepare(bytes); !ready)
            return ready;
        auto backed = back(backing, bytes, mapping_);
        memory_ = mapping_.address();
        return backed;
    }
    Step pin() override {
        if (const auto status = runtime().host_register(memory_, bytes_, 0); status != 0)
            return runtime_refused("cudaHostRegister", status);
        registered_ = true;
        return Step::ok();
    }

  private:
    Mapping mapping_;
    bool registered_ = false;
};

// --- The driver API ---------------------------------------------------------------------------------------

class DriverHostAlloc : public CudaMemory {
  public:
    ~DriverHostAlloc() override {
        if (memory_ != nullptr && driver().mem_free_host != nullptr)
            (void)driver().mem_free_host(memory_);
    }
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        const auto& api = driver();
        if (auto all = need(api.library, "libcuda.so.1", {{"cuMemHostAlloc", api.mem_host_alloc != nullptr}});
            !all)
            return all;
        return make_context();
    }
    Step pin() override {
        void* memory = nullptr;
        if (const auto status = driver().mem_host_alloc(&memory, bytes_, 0); status != 0)
            return driver_refused("cuMemHostAlloc", status);
        auto mapped = check_mapped("cuMemHostAlloc", memory, bytes_);
        if (mapped)
            memory_ = memory;
        return mapped;
    }
};

class DriverRegister : public CudaMemory {
  public:
    ~DriverRegister() override {
        if (registered_ && driver().mem_host_unregister != nullptr)
            (void)driver().mem_host_unregister(memory_);
    }
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        const auto& api = driver();
        if (auto all = need(api.library, "libcuda.so.1",
                            {{"cuMemHostRegister_v2", api.mem_host_register != nullptr}});
            !all)
            return all;
        if (auto ready = make_context(); !ready)
            return ready;
        auto backed = back(Backing::anonymous, bytes, mapping_);
        memory_ = mapping_.address();
        return backed;
    }
    Step pin() override {
        if (const auto status = driver().mem_host_register(memory_, bytes_, 0); status != 0)
            return driver_refused("cuMemHostRegister", status);
        registered_ = true;
        return Step::ok();
    }

  private:
    Mapping mapping_;
    bool registered_ = false;
};

// cuMemCreate on NUMA node 0, mapped where the CPU reaches it.
class DriverCreate : public CudaMemory {
  public:
    ~DriverCreate() override {
        const auto& api = driver();
        if (mapped_)
            (void)api.mem_unmap(address_, bytes_);
        if (address_ != 0)
            (void)api.address_free(address_, bytes_);
        if (created_)
            (void)api.mem_release(handle_);
    }
    Step prepare(uint64_t bytes) override {
        bytes_ = bytes;
        const auto& api = driver();
        if (auto all = need(api.library, "libcuda.so.1",
                            {{"cuMemCreate", api.mem_create != nullptr},
                             {"cuMemRelease", api.mem_release != nullptr},
                             {"cuMemAddressReserve", api.address_reserve != nullptr},
                             {"cuMemAddressFree", api.address_free != nullptr},
                             {"cuMemMap", api.mem_map != nullptr},
                             {"cuMemUnmap", api.mem_unmap != nullptr},
                             {"cuMemSetAccess", api.mem_set_access != nullptr}});
            !all)
            return all;
        return make_context();
    }
    Step pin() override {
        const auto& api = driver();
        AllocationProperties properties{};
        properties.type = allocation_pinned;
        properties.location = {location_host_numa, 0};
        if (const auto status = api.mem_create(&handle_, bytes_, &properties, 0); status != 0)
            return driver_refused("cuMemCreate", status);
        created_ = true;
        if (const auto status = api.address_reserve(&address_, bytes_, 0, 0, 0); status != 0)
            return driver_refused("cuMemAddressReserve", status);
        if (const auto status = api.mem_map(address_, bytes_, 0, handle_, 0); status != 0)
            return driver_refused("cuMemMap", status);
        mapped_ = true;
        const MemoryAccess access{{location_host_numa, 0}, access_read_write};
        if (const auto status = api.mem_set_access(address_, bytes_, &access, 1); status != 0)
            return driver_refused("cuMemSetAccess", status);
        memory_ = reinterpret_cast<void*>(address_); // NOLINT: one address for both
        return check_mapped("cuMemCreate", memory_, bytes_);
    }

  private:
    uint64_t handle_ = 0;
    DevicePointer address_ = 0;
    bool created_ = false;
    bool mapped_ = false;
};

// --- The table --------------------------------------------------------------------------------------------

template <class T>
std::unique_ptr<Mechanism> make() {
    return std::make_unique<T>();
}

using Maker = std::unique_ptr<Mechanism> (*)();

// In the order of cuda_mechanisms().
constexpr std::array<Maker, 12> makers = {
    &make_host_alloc<0>,
    &make_host_alloc<host_alloc_portable>,
    &make_host_alloc<host_alloc_mapped>,
    &make_host_alloc<host_alloc_write_combined>,
    &make_malloc_host,
    &make<RuntimeRegister<Backing::anonymous>>,
    &make<RuntimeRegister<Backing::memfd>>,
    &make<RuntimeRegister<Backing::file>>,
    &make_malloc_managed,
    &make<DriverHostAlloc>,
    &make<DriverRegister>,
    &make<DriverCreate>,
};

uint64_t any_size(uint64_t bytes) {
    return bytes;
}
uint64_t nothing_free() {
    return 0;
}

std::vector<trial::RegisteredMechanism> make_table() {
    std::vector<trial::RegisteredMechanism> table;
    const auto all = cuda_mechanisms();
    table.reserve(all.size());
    for (size_t i = 0; i < all.size(); ++i)
        table.push_back({all[i], makers.at(i), &any_size, &nothing_free, true});
    return table;
}

} // namespace

const trial::RegisteredMechanism* find_mechanism(std::string_view name) {
    static const auto table = make_table();
    for (const auto& mechanism : table)
        if (mechanism.facts.name == name)
            return &mechanism;
    return nullptr;
}

} // namespace pinscope::cuda
