// SPDX-License-Identifier: Apache-2.0
// The owner of one memory mapping.
#pragma once

#include "base/fd.h"
#include "trial/marks.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

namespace pinscope::trial {

class Mapping {
  public:
    Mapping() = default;
    // Takes over what mmap returned; MAP_FAILED makes an empty one.
    Mapping(void* address, uint64_t bytes)
        : address_(address == MAP_FAILED ? nullptr : address), bytes_(bytes) {}
    Mapping(Mapping&& other) noexcept
        : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Mapping& operator=(Mapping&& other) noexcept {
        if (this != &other) {
            reset();
            address_ = std::exchange(other.address_, nullptr);
            bytes_ = std::exchange(other.bytes_, 0);
        }
        return *this;
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { reset(); }

    // Private anonymous memory of small pages: transparent huge pages would make sizes inexact.
    static Mapping anonymous(uint64_t bytes, int more_flags = 0) {
        Mapping mapping(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more_flags, -1, 0),
            bytes);
        if (mapping)
            ::madvise(mapping.address_, bytes, MADV_NOHUGEPAGE);
        return mapping;
    }

    // The same, and every page is there already.
    static Mapping populated(uint64_t bytes) {
        Mapping mapping = anonymous(bytes);
        if (mapping)
            mapping.touch();
        return mapping;
    }

    // The memory behind a descriptor, from its beginning.
    static Mapping shared(const Fd& fd, uint64_t bytes) {
        return {::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0), bytes};
    }

    void* address() const { return address_; }
    // As interfaces of the kernel take it that have no pointers.
    uint64_t address_number() const { return reinterpret_cast<uint64_t>(address_); }
    uint64_t bytes() const { return bytes_; }
    explicit operator bool() const { return address_ != nullptr; }

    void touch() { mark_pages(address_, bytes_); }
    bool holds_marks() const { return pages_hold_marks(address_, bytes_); }

    void reset() {
        if (address_ != nullptr)
            ::munmap(address_, bytes_);
        address_ = nullptr;
    }

  private:
    void* address_ = nullptr;
    uint64_t bytes_ = 0;
};

} // namespace pinscope::trial
