// SPDX-License-Identifier: Apache-2.0
// Gathers HostFacts: what this process, or another one, lives under.
#pragma once

#include "base/result.h"
#include "host/cgroup.h"
#include "host/root.h"
#include "model/host_facts.h"

#include <sys/types.h>

#include <optional>

namespace pinscope::host {

struct Host {
    HostFacts facts;
    std::optional<CgroupPlace> cgroup; // of the process looked at
};

// Of this process. Never fails: what cannot be read is listed as missing.
Host look_at_self(const Root& root);

// Of another process: its limits, capabilities, user namespace and cgroup. Fails where these cannot be read,
// since an answer for another process must not be made of our own conditions.
Result<Host> look_at_process(const Root& root, pid_t pid);

// nr_foll_pin_acquired - nr_foll_pin_released of /proc/vmstat: pages pinned now, of the whole system
// (mm/gup.c, 5.7 on).
std::optional<uint64_t> read_foll_pin_pages(const Root& root);

} // namespace pinscope::host
