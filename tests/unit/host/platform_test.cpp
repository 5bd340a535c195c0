// SPDX-License-Identifier: Apache-2.0
#include "host/platform.h"
#include "support/fake_tree.h"

#include <gtest/gtest.h>

namespace pinscope::host {
namespace {

using test::FakeTree;

TEST(Container, BySigns) {
    const FakeTree bare = {{"proc/self/cgroup", "0::/user.slice\n"},
                           {"proc/1/environ", std::string("A=b\0", 4)}};
    const FakeTree docker = {{".dockerenv", ""}};
    const FakeTree pod = {{"proc/self/cgroup", "4:memory:/kubepods/pod1\n"}};
    const FakeTree lxc = {{"proc/1/environ", std::string("A=b\0container=lxc\0", 18)}};
    EXPECT_EQ(recognise_container(Root{bare.root()}), std::nullopt);
    EXPECT_EQ(recognise_container(Root{docker.root()}), "docker");
    EXPECT_EQ(recognise_container(Root{pod.root()}), "kubernetes");
    EXPECT_EQ(recognise_container(Root{lxc.root()}), "lxc");
}

TEST(Virtualisation, BySigns) {
    const FakeTree bare = {{"proc/version", "Linux version 6.1.0\n"},
                           {"proc/cpuinfo", "flags\t\t: fpu vme\n"}};
    const FakeTree wsl = {{"proc/version", "Linux version 5.15.90-microsoft-standard-WSL2\n"}};
    const FakeTree qemu = {{"sys/class/dmi/id/sys_vendor", "QEMU\n"}};
    const FakeTree unnamed = {{"proc/cpuinfo", "flags\t\t: fpu hypervisor lahf_lm\n"}};
    EXPECT_EQ(recognise_virtualisation(Root{bare.root()}), std::nullopt);
    EXPECT_EQ(recognise_virtualisation(Root{wsl.root()}), "wsl2");
    EXPECT_EQ(recognise_virtualisation(Root{qemu.root()}), "qemu");
    EXPECT_EQ(recognise_virtualisation(Root{unnamed.root()}), "vm");
}

TEST(Nvidia, VersionOfBothFlavours) {
    const FakeTree closed = {
        {"proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
         "GCC version:  gcc version 12.2.0\n"}};
    const FakeTree open = {
        {"proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build  (x)\n"},
        {"dev/nvidiactl", ""}};
    const FakeTree none = {{"proc/version", ""}};
    EXPECT_EQ(recognise_nvidia(Root{closed.root()}).driver_version, "535.104.05");
    EXPECT_EQ(recognise_nvidia(Root{open.root()}).driver_version, "560.35.03");
    EXPECT_TRUE(recognise_nvidia(Root{open.root()}).device_present);
    EXPECT_EQ(recognise_nvidia(Root{none.root()}).driver_version, std::nullopt);
}

} // namespace
} // namespace pinscope::host
