// SPDX-License-Identifier: Apache-2.0
// Structures of NVIDIA's ioctls made by hand, of each version, cut short and hostile.
#include "probes/nvidia_ioctl.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace pinscope::probes {
namespace {

constexpr uint32_t control_device = (NVIDIA_MAJOR << 20) | 255;
constexpr uint32_t first_gpu = NVIDIA_MAJOR << 20;
constexpr uint32_t uvm_device = 511U << 20;

// An ioctl whose structure has `bytes`; as _IOWR('F', number, structure).
struct Made : window_ioctl {
    Made(uint32_t device_number, uint32_t number, uint32_t structure_bytes) : window_ioctl{} {
        device = device_number;
        command = 0xc0004600U | structure_bytes << 16 | number;
        bytes = structure_bytes;
    }
    template <class T>
    Made& set(size_t offset, T value) {
        std::memcpy(data + offset, &value, sizeof(value)); // NOLINT: the kernel side's array
        return *this;
    }
    template <class T>
    Made& set_parameter(size_t offset, T value) {
        std::memcpy(parameters + offset, &value, sizeof(value)); // NOLINT
        return *this;
    }
    NvidiaCallSeen read() const { return read_nvidia_ioctl(*this); }
};

Made os_descriptor(uint32_t status) {
    Made made(first_gpu, 0x27, 56);
    made.set<uint32_t>(0, 0xc1d00001).set<uint32_t>(8, 0x5c000013).set<uint32_t>(12, 0x71);
    made.set<uint64_t>(24, 0x7f0000000000).set<uint64_t>(32, (16U << 20) - 1).set<uint32_t>(40, status);
    return made;
}

TEST(NvidiaIoctl, PinnedUserMemory) {
    const auto seen = os_descriptor(0).read();
    EXPECT_EQ(seen.device, "nvidia0");
    EXPECT_EQ(seen.name, "RM_ALLOC_MEMORY");
    EXPECT_EQ(seen.client, 0xc1d00001U);
    EXPECT_EQ(seen.object, 0x5c000013U);
    EXPECT_EQ(seen.object_class, 0x71U);
    EXPECT_EQ(seen.class_name, "OS descriptor");
    EXPECT_EQ(seen.address, 0x7f0000000000U);
    EXPECT_EQ(seen.bytes, 16U << 20);
    EXPECT_EQ(seen.status, 0U);
    EXPECT_EQ(seen.status_name, "OK");
}

TEST(NvidiaIoctl, ARefusalIsInTheStructureNotInTheResult) {
    const auto seen = os_descriptor(0x51).read();
    EXPECT_EQ(seen.result, 0);
    EXPECT_EQ(seen.status_name, "NO_MEMORY");
    EXPECT_EQ(os_descriptor(0x7777).read().status_name, "") << "no name is no status of ours";
    EXPECT_EQ(os_descriptor(0x7777).read().status, 0x7777U);
}

TEST(NvidiaIoctl, OnlyTheNumberOfACommandCounts) {
    auto made = os_descriptor(0);
    made.command = 0x27; // without type and direction
    EXPECT_EQ(made.read().name, "RM_ALLOC_MEMORY");
}

TEST(NvidiaIoctl, BothFormsOfAlloc) {
    for (const auto& [bytes, status_at] : {std::pair<uint32_t, size_t>{32, 28}, {48, 40}}) {
        Made made(control_device, 0x2b, bytes);
        made.set<uint32_t>(12, 0x3e).set<uint64_t>(16, 0x7ffc0000).set<uint32_t>(status_at, 0x1a);
        made.set_parameter<uint64_t>(64, 4096);
        const auto seen = made.read();
        EXPECT_EQ(seen.device, "nvidiactl");
        EXPECT_EQ(seen.class_name, "system memory");
        EXPECT_EQ(seen.bytes, 4096U);
        EXPECT_EQ(seen.status_name, "INSUFFICIENT_RESOURCES") << bytes;
        made.set<uint64_t>(16, 0);
        EXPECT_EQ(made.read().bytes, std::nullopt) << "no parameters";
    }
    Made descriptor(control_device, 0x2b, 48);
    descriptor.set<uint32_t>(12, 0x71).set<uint64_t>(16, 1);
    descriptor.set_parameter<uint64_t>(16, 0x1000).set_parameter<uint64_t>(24, 0x1fff);
    EXPECT_EQ(descriptor.read().bytes, 0x2000U);
    EXPECT_EQ(descriptor.read().address, 0x1000U);
}

TEST(NvidiaIoctl, VidHeapControl) {
    Made made(control_device, 0x4a, 184);
    made.set<uint32_t>(8, 2).set<uint32_t>(44, 7).set<uint64_t>(88, 1U << 20).set<uint32_t>(20, 0);
    EXPECT_EQ(made.read().bytes, 1U << 20);
    EXPECT_EQ(made.read().object, 7U);
    made.set<uint32_t>(8, 27).set<uint32_t>(40, 9).set<uint64_t>(64, 0x5000).set<uint64_t>(72, 0xfff);
    EXPECT_EQ(made.read().bytes, 4096U);
    EXPECT_EQ(made.read().address, 0x5000U);
    EXPECT_EQ(made.read().object, 9U);
    EXPECT_EQ(made.read().object_class, 0x71U);
}

TEST(NvidiaIoctl, FreeAndMapInEachLength) {
    Made freed(control_device, 0x29, 16);
    freed.set<uint32_t>(0, 1).set<uint32_t>(8, 2).set<uint32_t>(12, 0);
    EXPECT_EQ(freed.read().client, 1U);
    EXPECT_EQ(freed.read().object, 2U);
    EXPECT_EQ(freed.read().status, 0U);
    for (const uint32_t bytes : {56U, 64U}) { // from 580 on it is longer
        Made mapped(control_device, 0x57, bytes);
        mapped.set<uint64_t>(24, 4096);
        EXPECT_EQ(mapped.read().bytes, 4096U);
        EXPECT_EQ(mapped.read().status, std::nullopt) << "its place differs: not read";
    }
}

TEST(NvidiaIoctl, Uvm) {
    Made made(uvm_device, 0, 0);
    made.command = 0x49;
    made.bytes = 64;
    made.set<uint64_t>(0, 0x7f0000000000).set<uint64_t>(8, 1U << 21);
    EXPECT_EQ(made.read().device, "nvidia-uvm");
    EXPECT_EQ(made.read().name, "UVM_CREATE_EXTERNAL_RANGE");
    EXPECT_EQ(made.read().bytes, 1U << 21);
    made.command = 0x30000001;
    made.set<uint32_t>(8, 0x56);
    EXPECT_EQ(made.read().status_name, "NOT_SUPPORTED");
}

TEST(NvidiaIoctl, WhatWasNotCopiedHasNoValue) {
    auto made = os_descriptor(0x51);
    made.bytes = 40; // the status lies behind
    EXPECT_EQ(made.read().status, std::nullopt);
    EXPECT_EQ(made.read().bytes, 16U << 20);
    made.bytes = 38;
    EXPECT_EQ(made.read().bytes, std::nullopt) << "half a number is none";
    made.bytes = 0;
    EXPECT_EQ(made.read().object_class, std::nullopt);
    made = os_descriptor(0);
    made.faults = 1;
    EXPECT_EQ(made.read().status, std::nullopt) << "zeros of a read that failed are no success";
    EXPECT_EQ(made.read().faults, 1U);
}

TEST(NvidiaIoctl, HostileStructures) {
    std::mt19937 engine(1);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    for (int i = 0; i < 20000; ++i) {
        window_ioctl seen{};
        for (auto& byte : seen.data)
            byte = static_cast<uint8_t>(random());
        seen.command = i % 2 == 0 ? random() & 0xff : random();
        seen.bytes = random() % 3 == 0 ? UINT32_MAX : random() % 300;
        seen.device = i % 3 == 0 ? uvm_device : first_gpu | (random() & 0xfffff);
        EXPECT_NO_THROW((void)read_nvidia_ioctl(seen));
    }
    auto made = os_descriptor(0);
    made.set<uint64_t>(32, UINT64_MAX);
    EXPECT_EQ(made.read().bytes, std::nullopt) << "a limit of all ones is no size";
}

} // namespace
} // namespace pinscope::probes
