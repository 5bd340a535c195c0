// SPDX-License-Identifier: Apache-2.0
#include "kernel/probe_host.h"

#include "base/fd.h"
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "probes/catalog.h"

#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <memory>

namespace pinscope::test {

std::string why_no_windows() {
    if (!is_root())
        return "it takes root to load BPF programs";
    if (!exists("/sys/kernel/btf/vmlinux"))
        return "this kernel has no BTF";
    const auto lockdown = read_file("/sys/kernel/security/lockdown");
    if (lockdown && lockdown->find("[confidentiality]") != std::string::npos)
        return "this kernel is locked down (confidentiality)";
    return {};
}

bool has_function_probes() {
    return exists("/sys/bus/event_source/devices/kprobe/type");
}

bool has_capability_tracepoint() {
    const std::unique_ptr<btf, decltype(&::btf__free)> types(::btf__load_vmlinux_btf(), &::btf__free);
    return types && ::btf__find_by_name_kind(types.get(), "btf_trace_cap_capable", BTF_KIND_TYPEDEF) > 0;
}

uint64_t cgroup_id(const std::string& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
}

int count_own_programs() {
    int count = 0;
    uint32_t id = 0;
    while (::bpf_prog_get_next_id(id, &id) == 0) {
        const Fd program(::bpf_prog_get_fd_by_id(id));
        bpf_prog_info info{};
        uint32_t size = sizeof(info);
        if (!program || ::bpf_obj_get_info_by_fd(program.get(), &info, &size) != 0)
            continue;
        const std::string name(std::begin(info.name));
        for (const auto& facts : probes::plain_programs())
            count += name == facts.name.substr(0, BPF_OBJ_NAME_LEN - 1) ? 1 : 0;
    }
    return count;
}

std::string words(const std::vector<Probe>& probes) {
    std::string out;
    for (const auto& probe : probes)
        if (!probe.attached)
            out += probe.hook + ": " + probe.reason + "\n";
    return out;
}

} // namespace pinscope::test
