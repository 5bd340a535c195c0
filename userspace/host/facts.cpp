// SPDX-License-Identifier: Apache-2.0
#include "host/facts.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "host/platform.h"
#include "host/process.h"

#include <fmt/format.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace pinscope::host {
namespace {

CapabilityFacts capability_from(const ProcessIdentity& identity, unsigned number) {
    const uint64_t bit = uint64_t{1} << number;
    return {(identity.cap_effective & bit) != 0, (identity.cap_permitted & bit) != 0,
            (identity.cap_bounding & bit) != 0};
}

// By system calls, since procfs may be masked.
CapabilityFacts own_capability(unsigned number) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
    CapabilityFacts facts;
    if (::syscall(SYS_capget, &header, data.data()) == 0) {
        const auto& half = data.at(number / 32);
        const uint32_t bit = uint32_t{1} << (number % 32);
        facts.effective = (half.effective & bit) != 0;
        facts.permitted = (half.permitted & bit) != 0;
    }
    facts.bounding = ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1;
    return facts;
}

Limit limit_from(rlim_t value) {
    return value == RLIM_INFINITY ? Limit::none() : Limit::of(value);
}

std::optional<uint64_t> meminfo_bytes(std::string_view meminfo, std::string_view key) {
    const auto value = find_value(meminfo, key);
    const auto parts = words(value.value_or(""));
    const auto number = parts.empty() ? std::nullopt : parse_unsigned(parts[0]);
    return number ? std::optional<uint64_t>(*number * 1024) : std::nullopt;
}

std::optional<uint64_t> sysctl(const Root& root, std::string_view path) {
    const auto number = read_number(root.at(path));
    return number ? std::optional<uint64_t>(*number) : std::nullopt;
}

std::optional<int64_t> signed_sysctl(const Root& root, std::string_view path) {
    const auto text = read_file(root.at(path)).value_or("");
    const auto body = trim(text);
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(body.data(), body.data() + body.size(), value);
    if (error != std::errc() || body.empty())
        return std::nullopt;
    return value;
}

// What is the same for every process of the host.
void look_at_system(const Root& root, HostFacts& facts) {
    utsname names{};
    if (::uname(&names) == 0)
        facts.kernel = names.release;
    const auto meminfo = read_file(root.at("/proc/meminfo"));
    facts.memory_total_bytes = meminfo_bytes(meminfo.value_or(""), "MemTotal");
    facts.memory_available_bytes = meminfo_bytes(meminfo.value_or(""), "MemAvailable");
    if (!meminfo)
        facts.missing.push_back({"the host's memory", meminfo.error().text(), "sizes that are sure to fit"});
    facts.overcommit_memory = sysctl(root, "/proc/sys/vm/overcommit_memory");
    if (const auto kib = sysctl(root, "/proc/sys/kernel/perf_event_mlock_kb"))
        facts.perf_free_bytes =
            *kib * 1024 * static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    facts.perf_event_paranoid = signed_sysctl(root, "/proc/sys/kernel/perf_event_paranoid");
    facts.container = recognise_container(root);
    facts.virtualisation = recognise_virtualisation(root);
    facts.nvidia = recognise_nvidia(root);
    if (!read_foll_pin_pages(root))
        facts.missing.push_back({"pages pinned system-wide",
                                 "/proc/vmstat has no readable nr_foll_pin_acquired",
                                 "the pages that a trial pinned, counted by the kernel"});
}

void note_cgroup(HostFacts& facts, const Result<CgroupPlace>& place) {
    if (!place) {
        facts.missing.push_back({"the memory cgroup", place.error().text(),
                                 "the cgroup's limit, what a trial was charged, and kills by the limit"});
        return;
    }
    facts.cgroup = describe(*place);
    if (!facts.cgroup.usage_bytes && place->folder != place->mount)
        facts.missing.push_back({"the memory cgroup's usage", place->folder + " has no readable usage file",
                                 "what a trial was charged"});
}

} // namespace

std::optional<uint64_t> read_foll_pin_pages(const Root& root) {
    const auto text = read_file(root.at("/proc/vmstat")).value_or("");
    const auto acquired = parse_unsigned(find_value(text, "nr_foll_pin_acquired").value_or("-"));
    const auto released = parse_unsigned(find_value(text, "nr_foll_pin_released").value_or("-"));
    if (!acquired || !released)
        return std::nullopt;
    return *acquired >= *released ? *acquired - *released : 0; // the two are read without a lock
}

Host look_at_self(const Root& root) {
    Host host;
    look_at_system(root, host.facts);
    HostFacts& facts = host.facts;
    rlimit memlock{};
    if (::getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
        facts.memlock_soft = limit_from(memlock.rlim_cur);
        facts.memlock_hard = limit_from(memlock.rlim_max);
    }
    facts.cap_ipc_lock = own_capability(CAP_IPC_LOCK);
    facts.cap_sys_resource = own_capability(CAP_SYS_RESOURCE);
    facts.uid = ::geteuid();
    facts.in_initial_user_namespace = in_initial_user_namespace(root, 0);
    if (!facts.in_initial_user_namespace)
        facts.missing.push_back(
            {"the user namespace", "/proc/self/uid_map cannot be read",
             "whether CAP_IPC_LOCK counts here: it does only in the initial user namespace"});
    const bool readable = exists(process_folder(root, 0) + "/status");
    if (!readable || !shows_own_pids(root))
        facts.missing.push_back(
            {"/proc/PID/status",
             readable ? "/proc shows the processes of another pid namespace" : "it cannot be read here",
             "VmLck, VmPin and the resident bytes of each trial"});
    const auto place = find_memory_cgroup(root, 0);
    note_cgroup(facts, place);
    if (place)
        host.cgroup = *place;
    return host;
}

Result<Host> look_at_process(const Root& root, pid_t pid) {
    Host host;
    const auto status = read_file(process_folder(root, pid) + "/status").value_or("");
    if (!status.empty() && !find_value(status, "VmSize"))
        return fail({fmt::format("cannot look at process {}", pid), "",
                     "it has no memory of its own: it is a kernel thread, or has ended",
                     "give the number of a running process", ESRCH});
    const auto limits = read_limits(root, pid);
    const auto identity = limits ? read_identity(root, pid) : fail(limits.error());
    if (!identity) {
        Error error = identity.error();
        if (error.number == ENOENT || error.number == ESRCH)
            error = {fmt::format("cannot look at process {}", pid), "", "there is none of that number",
                     "give the number of a running process, as this process's /proc shows it", ESRCH};
        return fail(error);
    }
    look_at_system(root, host.facts);
    HostFacts& facts = host.facts;
    facts.memlock_soft = limits->memlock_soft;
    facts.memlock_hard = limits->memlock_hard;
    facts.cap_ipc_lock = capability_from(*identity, CAP_IPC_LOCK);
    facts.cap_sys_resource = capability_from(*identity, CAP_SYS_RESOURCE);
    facts.uid = identity->uid;
    facts.like_capabilities = identity->cap_effective;
    facts.in_initial_user_namespace = in_initial_user_namespace(root, pid);
    if (!facts.in_initial_user_namespace)
        return fail({fmt::format("cannot look at process {}", pid), "", "its uid_map cannot be read",
                     "run as root", EACCES});
    const auto place = find_memory_cgroup(root, pid);
    note_cgroup(facts, place);
    if (place)
        host.cgroup = *place;
    return host;
}

} // namespace pinscope::host
