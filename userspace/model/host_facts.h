// SPDX-License-Identifier: Apache-2.0
// What was read of the host before anything was tried. What could not be read has no value, and a Missing
// says so.
#pragma once

#include "model/cuda.h"
#include "model/limit.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinscope {

// Something that could not be seen, and what it would have added to the answer.
struct Missing {
    std::string what;
    std::string reason;
    std::string would_add;
};

struct CgroupFacts {
    std::optional<int> version; // of the hierarchy that the memory controller is in: 1 or 2
    std::string path;           // as in /proc/PID/cgroup
    std::string folder;         // where its files are; empty where they cannot be reached
    std::optional<Limit> limit; // the tightest of its own and of those above
    std::optional<uint64_t> usage_bytes;
    // The nearest cgroup from here up that sets memory.oom.group: there a kill takes all. Empty: none.
    std::string oom_group_folder;
};

struct CapabilityFacts {
    bool effective = false;
    bool permitted = false;
    bool bounding = false;
};

struct NvidiaFacts {
    std::optional<std::string> driver_version; // nothing: no driver is loaded, as far as this process can see
    bool device_present = false;               // /dev/nvidiactl
    bool wsl = false;                          // /dev/dxg: the Windows driver of WSL2
};

struct HostFacts {
    std::string kernel;
    CgroupFacts cgroup;
    Limit memlock_soft;
    Limit memlock_hard;
    CapabilityFacts cap_ipc_lock;
    CapabilityFacts cap_sys_resource;
    std::optional<bool> in_initial_user_namespace;
    std::optional<std::string> container;      // "docker", "kubernetes", …; nothing: none was recognised
    std::optional<std::string> virtualisation; // "kvm", "wsl2", …; nothing: none was recognised
    uint32_t uid = 0;
    uint64_t like_capabilities = 0; // of another process looked at: its effective set, bit by number
    std::optional<uint64_t> memory_total_bytes;
    std::optional<uint64_t> memory_available_bytes;
    std::optional<uint64_t> overcommit_memory; // vm.overcommit_memory
    std::optional<uint64_t> perf_free_bytes;   // perf_event_mlock_kb over all CPUs
    std::optional<int64_t> perf_event_paranoid;
    NvidiaFacts nvidia;
    CudaFacts cuda;
    std::vector<Missing> missing;
};

} // namespace pinscope
