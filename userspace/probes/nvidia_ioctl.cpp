// SPDX-License-Identifier: Apache-2.0
#include "probes/nvidia_ioctl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

namespace pinscope::probes {
namespace {

using Name = std::pair<uint32_t, std::string_view>;

// kernel-open/common/inc/nv_escape.h and nv-ioctl-numbers.h
enum Escape : uint32_t {
    alloc_memory = 0x27,
    free_object = 0x29,
    control = 0x2a,
    alloc_object = 0x2b,
    vid_heap_control = 0x4a,
    map_memory = 0x4e,
    unmap_memory = 0x4f,
    map_memory_dma = 0x57,
    unmap_memory_dma = 0x58,
};
constexpr Name escape_names[] = {
    {alloc_memory, "RM_ALLOC_MEMORY"},
    {free_object, "RM_FREE"},
    {control, "RM_CONTROL"},
    {alloc_object, "RM_ALLOC"},
    {0x34, "RM_DUP_OBJECT"},
    {0x35, "RM_SHARE"},
    {vid_heap_control, "RM_VID_HEAP_CONTROL"},
    {map_memory, "RM_MAP_MEMORY"},
    {unmap_memory, "RM_UNMAP_MEMORY"},
    {map_memory_dma, "RM_MAP_MEMORY_DMA"},
    {unmap_memory_dma, "RM_UNMAP_MEMORY_DMA"},
    {200, "CARD_INFO"},
    {201, "REGISTER_FD"},
    {206, "ALLOC_OS_EVENT"},
    {207, "FREE_OS_EVENT"},
    {210, "CHECK_VERSION_STR"},
    {211, "IOCTL_XFER_CMD"},
    {214, "SYS_PARAMS"},
    {217, "EXPORT_TO_DMABUF_FD"},
};

enum Uvm : uint32_t { uvm_initialize = 0x30000001 };
constexpr Name uvm_names[] = {
    {uvm_initialize, "UVM_INITIALIZE"},
    {0x30000002, "UVM_DEINITIALIZE"},
    {0x21, "UVM_MAP_EXTERNAL_ALLOCATION"},
    {0x22, "UVM_FREE"},
    {0x25, "UVM_REGISTER_GPU"},
    {0x2a, "UVM_SET_PREFERRED_LOCATION"},
    {0x33, "UVM_MIGRATE"},
    {0x42, "UVM_UNMAP_EXTERNAL"},
    {0x44, "UVM_ALLOC_SEMAPHORE_POOL"},
    {0x48, "UVM_VALIDATE_VA_RANGE"},
    {0x49, "UVM_CREATE_EXTERNAL_RANGE"},
    {0x4b, "UVM_MM_INITIALIZE"},
};
// Those that begin with an address and a length.
constexpr uint32_t uvm_ranges[] = {0x21, 0x2a, 0x33, 0x42, 0x44, 0x48, 0x49};

constexpr uint32_t class_system_memory = 0x3e;
constexpr uint32_t class_local_user = 0x40;
constexpr uint32_t class_os_descriptor = 0x71;
constexpr Name class_names[] = {
    {class_system_memory, "system memory"},
    {0x3f, "local privileged"},
    {class_local_user, "GPU memory"},
    {0x41, "root client"},
    {0x70, "virtual memory"},
    {class_os_descriptor, "OS descriptor"},
    {0x80, "device"},
    {0x2080, "subdevice"},
    {0x50a0, "GPU virtual memory"},
    {0x90f1, "address space"},
};

// src/common/sdk/nvidia/inc/nvstatuscodes.h
constexpr Name status_names[] = {
    {0, "OK"},
    {0x3, "BUSY_RETRY"},
    {0x1a, "INSUFFICIENT_RESOURCES"},
    {0x1b, "INSUFFICIENT_PERMISSIONS"},
    {0x1e, "INVALID_ADDRESS"},
    {0x1f, "INVALID_ARGUMENT"},
    {0x22, "INVALID_CLASS"},
    {0x29, "INVALID_FLAGS"},
    {0x2e, "INVALID_LIMIT"},
    {0x3a, "INVALID_PARAM_STRUCT"},
    {0x51, "NO_MEMORY"},
    {0x56, "NOT_SUPPORTED"},
    {0x59, "OPERATING_SYSTEM"},
    {0xffff, "GENERIC"},
};

std::string name_in(std::span<const Name> names, uint32_t number) {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const Name& name) { return name.first == number; });
    return found != names.end() ? std::string(found->second) : "";
}

class Reader {
  public:
    explicit Reader(std::span<const uint8_t> data) : data_(data) {}

    template <class T>
    std::optional<T> at(size_t offset) const {
        T value{};
        if (offset + sizeof(T) > data_.size())
            return std::nullopt;
        std::memcpy(&value, data_.data() + offset, sizeof(T));
        return value;
    }
    std::optional<uint32_t> word(size_t offset) const { return at<uint32_t>(offset); }
    std::optional<uint64_t> number(size_t offset) const { return at<uint64_t>(offset); }

  private:
    std::span<const uint8_t> data_;
};

// A "limit" is a size less one.
std::optional<uint64_t> size_of_limit(std::optional<uint64_t> limit) {
    return limit && *limit + 1 != 0 ? std::optional(*limit + 1) : std::nullopt;
}

void read_alloc(const Reader& data, const Reader& parameters, bool wide, NvidiaCallSeen& out) {
    out.client = data.word(0);
    out.object = data.word(8);
    out.object_class = data.word(12);
    out.status = data.word(wide ? 40 : 28);
    if (data.number(16).value_or(0) == 0)
        return;
    if (out.object_class == class_system_memory || out.object_class == class_local_user) {
        out.bytes = parameters.number(64);
    } else if (out.object_class == class_os_descriptor) {
        out.address = parameters.number(16);
        out.bytes = size_of_limit(parameters.number(24));
    }
}

void read_vid_heap(const Reader& data, NvidiaCallSeen& out) {
    constexpr uint32_t alloc_size = 2;
    constexpr uint32_t os_descriptor = 27;
    out.client = data.word(0);
    out.status = data.word(20);
    const auto function = data.word(8);
    if (function == alloc_size) {
        out.object = data.word(44);
        out.bytes = data.number(88);
    } else if (function == os_descriptor) {
        out.object = data.word(40);
        out.object_class = class_os_descriptor;
        out.address = data.number(64);
        out.bytes = size_of_limit(data.number(72));
    }
}

void read_escape(const Reader& data, const Reader& parameters, uint32_t bytes, NvidiaCallSeen& out) {
    switch (out.number) {
    case alloc_memory:
        out.client = data.word(0);
        out.object = data.word(8);
        out.object_class = data.word(12);
        out.address = data.number(24);
        out.bytes = size_of_limit(data.number(32));
        out.status = data.word(40);
        break;
    case free_object:
        out.client = data.word(0);
        out.object = data.word(8);
        out.status = data.word(12);
        break;
    case control:
        out.client = data.word(0);
        out.object = data.word(4);
        out.status = data.word(28);
        break;
    case alloc_object: {
        constexpr uint32_t wide_bytes = 48; // NVOS64_PARAMETERS; NVOS21 has 32
        read_alloc(data, parameters, bytes >= wide_bytes, out);
        break;
    }
    case vid_heap_control:
        read_vid_heap(data, out);
        break;
    case map_memory:
        out.client = data.word(0);
        out.object = data.word(8);
        out.bytes = data.number(24);
        out.address = data.number(32);
        out.status = data.word(40);
        break;
    case unmap_memory:
        out.client = data.word(0);
        out.address = data.number(16);
        out.status = data.word(24);
        break;
    case map_memory_dma: // how long it is, and where its status is, differs
        out.client = data.word(0);
        out.object = data.word(12);
        out.bytes = data.number(24);
        break;
    default:
        break;
    }
}

} // namespace

NvidiaCallSeen read_nvidia_ioctl(const window_ioctl& seen) {
    NvidiaCallSeen out;
    const bool is_uvm = seen.device >> 20 != NVIDIA_MAJOR;
    const uint32_t minor = seen.device & 0xfffff;
    constexpr uint32_t control_minor = 255;
    out.device = is_uvm                   ? "nvidia-uvm"
                 : minor == control_minor ? "nvidiactl"
                                          : fmt::format("nvidia{}", minor);
    out.number = is_uvm ? seen.command : seen.command & 0xff;
    out.result = seen.result;
    out.faults = seen.faults;
    out.name =
        name_in(is_uvm ? std::span<const Name>(uvm_names) : std::span<const Name>(escape_names), out.number);
    // A read that failed leaves zeros, which mean nothing.
    const size_t held = seen.faults != 0 ? 0 : std::min<size_t>(seen.bytes, sizeof(seen.data));
    const Reader data(std::span(seen.data).first(held));
    const Reader parameters(std::span(seen.parameters).first(seen.faults != 0 ? 0 : sizeof(seen.parameters)));
    if (!is_uvm) {
        read_escape(data, parameters, seen.bytes, out);
    } else if (out.number == uvm_initialize) {
        out.status = data.word(8);
    } else if (std::find(std::begin(uvm_ranges), std::end(uvm_ranges), out.number) != std::end(uvm_ranges)) {
        out.address = data.number(0);
        out.bytes = data.number(8);
    }
    if (out.object_class)
        out.class_name = name_in(class_names, *out.object_class);
    if (out.status)
        out.status_name = name_in(status_names, *out.status);
    return out;
}

} // namespace pinscope::probes
