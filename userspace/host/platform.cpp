// SPDX-License-Identifier: Apache-2.0
#include "host/platform.h"

#include "base/file.h"
#include "base/text.h"

#include <array>
#include <string_view>
#include <utility>

namespace pinscope::host {
namespace {

using Sign = std::pair<std::string_view, std::string_view>; // what is found, what it means

// The first sign whose left side occurs in the text.
template <size_t N>
std::optional<std::string> find_sign(std::string_view text, const std::array<Sign, N>& signs) {
    for (const auto& [needle, meaning] : signs)
        if (text.find(needle) != std::string_view::npos)
            return std::string(meaning);
    return std::nullopt;
}

// The value of a variable in a /proc/PID/environ text.
std::optional<std::string> variable_in(std::string_view environ, std::string_view name) {
    for (const auto entry : split(environ, '\0')) {
        const size_t equals = entry.find('=');
        if (equals != std::string_view::npos && entry.substr(0, equals) == name)
            return printable(entry.substr(equals + 1));
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> recognise_container(const Root& root) {
    constexpr std::array<Sign, 2> files = {{{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}}};
    constexpr std::array<Sign, 4> cgroups = {
        {{"kubepods", "kubernetes"}, {"/docker", "docker"}, {"libpod", "podman"}, {"/lxc", "lxc"}}};
    if (exists(root.at("/run/secrets/kubernetes.io")) || exists(root.at("/var/run/secrets/kubernetes.io")))
        return "kubernetes";
    if (auto sign = find_sign(read_file(root.at("/proc/self/cgroup")).value_or(""), cgroups))
        return sign;
    for (const auto& [file, meaning] : files)
        if (exists(root.at(file)))
            return std::string(meaning);
    const auto environ = read_file(root.at("/proc/1/environ")).value_or("");
    return variable_in(environ, "container");
}

std::optional<std::string> recognise_virtualisation(const Root& root) {
    constexpr std::array<Sign, 2> releases = {{{"microsoft-standard", "wsl2"}, {"Microsoft", "wsl2"}}};
    constexpr std::array<Sign, 8> vendors = {{{"Firecracker", "firecracker"},
                                              {"VMware", "vmware"},
                                              {"VirtualBox", "virtualbox"},
                                              {"Xen", "xen"},
                                              {"Microsoft Corporation", "hyper-v"},
                                              {"QEMU", "qemu"},
                                              {"KVM", "kvm"},
                                              {"Google Compute Engine", "kvm"}}};
    const auto version = read_file(root.at("/proc/version")).value_or("");
    if (version.find("gVisor") != std::string::npos)
        return "gvisor";
    if (auto sign = find_sign(version, releases))
        return sign;
    for (const char* file : {"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"})
        if (auto sign = find_sign(read_file(root.at(file)).value_or(""), vendors))
            return sign;
    // x86 sets this CPU flag under every hypervisor.
    if (read_file(root.at("/proc/cpuinfo")).value_or("").find(" hypervisor") != std::string::npos)
        return "vm";
    return std::nullopt;
}

NvidiaFacts recognise_nvidia(const Root& root) {
    NvidiaFacts facts;
    facts.device_present = exists(root.at("/dev/nvidiactl"));
    facts.wsl = exists(root.at("/dev/dxg"));
    // "NVRM version: NVIDIA UNIX … Kernel Module  535.104.05  date", or "… for x86_64  560.35.03  Release
    // Build …": the first word with two dots or one is the version.
    const auto text = read_file(root.at("/proc/driver/nvidia/version")).value_or("");
    const auto line = find_value(text, "NVRM version");
    for (const auto word : words(line.value_or(""))) {
        const auto parts = split(word, '.');
        if (parts.size() >= 2 && parse_unsigned(parts[0]) && parse_unsigned(parts[1])) {
            facts.driver_version = std::string(word);
            break;
        }
    }
    return facts;
}

} // namespace pinscope::host
