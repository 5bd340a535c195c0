// SPDX-License-Identifier: Apache-2.0
// What kind of host this is: container, virtual machine, NVIDIA driver.
#pragma once

#include "host/root.h"
#include "model/host_facts.h"

#include <optional>
#include <string>

namespace pinscope::host {

// "docker", "podman", "kubernetes", "lxc", "systemd-nspawn", or what the container manager wrote into the
// variable `container` of process 1; nothing where no sign of one is found.
std::optional<std::string> recognise_container(const Root& root);

// "wsl2", "gvisor", "firecracker", "kvm", "qemu", "vmware", "xen", "hyper-v", "virtualbox", "vm" (a
// hypervisor of unknown name); nothing where no sign of one is found.
std::optional<std::string> recognise_virtualisation(const Root& root);

NvidiaFacts recognise_nvidia(const Root& root);

} // namespace pinscope::host
