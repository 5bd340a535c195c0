// SPDX-License-Identifier: Apache-2.0
#include "analysis/words.h"

#include "base/bytes.h"
#include "base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

namespace pinscope::analysis {
namespace {

std::string signed_bytes(int64_t bytes) {
    return fmt::format("{}{}", bytes < 0 ? "-" : "+", format_bytes(static_cast<uint64_t>(std::abs(bytes))));
}

void add_delta(std::string& line, std::string_view name, const std::optional<int64_t>& delta) {
    if (delta && *delta != 0)
        line += fmt::format(", {} {}", name, signed_bytes(*delta));
}

} // namespace

std::string size_words(const Trial& trial) {
    const std::string size = format_bytes(trial.size_bytes);
    return trial.count > 1 ? fmt::format("{} times {}", trial.count, size) : size;
}

std::string outcome_words(const Trial& trial) {
    const std::string by = trial.call.empty() ? "" : fmt::format(" ({})", trial.call);
    switch (trial.outcome) {
    case Outcome::granted:
        return "granted";
    case Outcome::denied:
    case Outcome::failed:
        if (trial.granted_count > 0)
            return fmt::format("refused with {}{} after {} were granted", error_name(trial.error), by,
                               format_bytes(trial.held_bytes));
        if (trial.last_stop == StopPoint::initialised)
            return fmt::format("not asked for: preparing it failed with {}{}", error_name(trial.error), by);
        return fmt::format("refused with {}{}", error_name(trial.error), by);
    default:
        return trial.detail.empty() ? std::string(outcome_name(trial.outcome)) : trial.detail;
    }
}

std::string under_limit_words(const Trial& trial) {
    return trial.conditions_read
               ? fmt::format(" under a limit of {}", limit_text(trial.conditions.memlock_soft))
               : "";
}

std::string cause_words(const Trial& trial, const HostFacts& host) {
    const auto& limit = trial.conditions.cgroup_limit;
    std::string cgroup = limit && !limit->unlimited
                             ? fmt::format("the memory cgroup's limit of {}", format_bytes(limit->bytes))
                             : "the memory cgroup's limit";
    if (trial.outcome == Outcome::killed)
        return trial.cgroup_oom_kills.value_or(0) > 0 ? cgroup + " (OOM kill)" : trial.detail;
    if (trial.error.domain != ErrorDomain::errno_value)
        return trial.detail;
    std::string error = fmt::format("{} from {}", error_name(trial.error), trial.call);
    switch (trial.error.code) {
    case ENOMEM:
        if (trial.cgroup_limit_hits.value_or(0) > 0)
            return cgroup;
        if (host.overcommit_memory == 2)
            return fmt::format("vm.overcommit_memory=2 ({})", error);
        return error;
    case EPERM:
    case EACCES:
        return fmt::format("a missing permission, a policy or a seccomp filter ({})", error);
    default:
        return error;
    }
}

std::string evidence_line(const Trial& trial) {
    if (!trial.conditions_read)
        return fmt::format("{}: {}: {}", role_name(trial.role), size_words(trial), outcome_words(trial));
    std::string line = fmt::format("{}: {}, soft limit {}, {} CAP_IPC_LOCK: {}", role_name(trial.role),
                                   size_words(trial), limit_text(trial.conditions.memlock_soft),
                                   trial.conditions.cap_ipc_lock ? "with" : "without", outcome_words(trial));
    add_delta(line, "VmLck", trial.deltas.vm_lck_bytes);
    add_delta(line, "VmPin", trial.deltas.vm_pin_bytes);
    add_delta(line, "RssAnon", trial.deltas.rss_anon_bytes);
    add_delta(line, "RssShmem", trial.deltas.rss_shmem_bytes);
    add_delta(line, "cgroup", trial.deltas.cgroup_bytes);
    return line;
}

} // namespace pinscope::analysis
