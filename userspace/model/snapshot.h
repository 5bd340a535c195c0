// SPDX-License-Identifier: Apache-2.0
// What user space can see of a trial process at one stop point. What could not be read has no value.
#pragma once

#include <cstdint>
#include <optional>

namespace pinscope {

// /proc/PID/status and /proc/PID/smaps_rollup, in bytes.
struct ProcessMemory {
    std::optional<uint64_t> vm_size;
    std::optional<uint64_t> vm_lck;
    std::optional<uint64_t> vm_pin;
    std::optional<uint64_t> rss_anon;
    std::optional<uint64_t> rss_file;
    std::optional<uint64_t> rss_shmem;
    std::optional<uint64_t> pss;    // smaps_rollup Pss
    std::optional<uint64_t> locked; // smaps_rollup Locked: resident bytes of locked mappings
};

// The memory cgroup's own files, in bytes; the last two are counts.
struct CgroupMemory {
    std::optional<uint64_t> usage;
    std::optional<uint64_t> kernel; // memory.kmem.usage_in_bytes (v1), memory.stat kernel (v2, 5.18 on)
    std::optional<uint64_t> anon;   // v1 rss
    std::optional<uint64_t> file;   // v1 cache
    std::optional<uint64_t> shmem;
    std::optional<uint64_t> limit_hits; // memory.failcnt (v1), memory.events max (v2)
    std::optional<uint64_t> oom_kills;  // memory.oom_control oom_kill (v1), memory.events oom_kill (v2)
};

struct Snapshot {
    ProcessMemory process;
    CgroupMemory cgroup;
    std::optional<uint64_t>
        foll_pin_pages; // /proc/vmstat nr_foll_pin_acquired - nr_foll_pin_released; system-wide
};

// Differences over a trial; negative where something shrank.
struct Deltas {
    std::optional<int64_t> vm_lck_bytes;
    std::optional<int64_t> vm_pin_bytes;
    std::optional<int64_t> user_locked_bytes; // seen by kernel probes only
    std::optional<int64_t> rss_anon_bytes;
    std::optional<int64_t> rss_shmem_bytes;
    std::optional<int64_t> rss_file_bytes;
    std::optional<int64_t> cgroup_bytes;
    std::optional<int64_t> foll_pin_pages;
};

} // namespace pinscope
