// SPDX-License-Identifier: Apache-2.0
#include "analysis/limit_checks.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace pinscope::analysis {
namespace {

struct AskerRule {
    std::string_view function;
    Asks asks;
};

// When each function asks for CAP_IPC_LOCK, from the kernel's sources, 5.10 to 7.2. Where compilers inline,
// the name is that of the function around.
constexpr std::array asker_rules = {
    // mm/mlock.c, only where the limit is 0
    AskerRule{"can_do_mlock", Asks::only_over},
    // mm/mlock.c, only where locked_vm and the request together are over
    AskerRule{"do_mlock", Asks::only_over},
    AskerRule{"mlockall", Asks::only_over},
    AskerRule{"user_shm_lock", Asks::only_over},
    // mm/mmap.c until 6.4, when mlock_future_check became mlock_future_ok and asks first
    AskerRule{"mlock_future_check", Asks::only_over},
    AskerRule{"mlock_future_ok", Asks::always},
    AskerRule{"do_mmap", Asks::always},
    AskerRule{"do_brk_flags", Asks::always},
    AskerRule{"vma_to_resize", Asks::always},
    AskerRule{"expand_downwards", Asks::always},
    // mm/util.c: asked by the caller, who passes the answer on
    AskerRule{"__account_locked_vm", Asks::only_over},
    AskerRule{"account_locked_vm", Asks::only_over},
    // kernel/events/core.c, only past the allowance of perf_event_mlock_kb and over the limit
    AskerRule{"perf_mmap", Asks::only_over},
    // drivers/infiniband/core/umem.c, only where pinned_vm is over
    AskerRule{"ib_umem_get", Asks::only_over},
    AskerRule{"__ib_umem_get", Asks::only_over},
    AskerRule{"__ib_umem_get_va", Asks::only_over},
    // ipc/shm.c, whether the caller may lock what is not its own
    AskerRule{"shmctl_do_lock", Asks::always},
    // io_uring/io_uring.c, once at set-up, whatever the limit
    AskerRule{"io_uring_setup", Asks::always},
    AskerRule{"io_uring_create", Asks::always},
    // net/xdp/xdp_umem.c, net/core/skbuff.c (inlined in sock_zerocopy_alloc until 5.10)
    AskerRule{"xdp_umem_create", Asks::always},
    AskerRule{"mm_account_pinned_pages", Asks::always},
    AskerRule{"sock_zerocopy_alloc", Asks::always},
    // drivers/vfio/vfio_iommu_type1.c, kept for what is pinned later
    AskerRule{"vfio_dma_do_map", Asks::always},
    AskerRule{"vfio_iommu_type1_ioctl", Asks::always},
};

Asks rule_for(const std::string& function) {
    const auto rule = std::find_if(asker_rules.begin(), asker_rules.end(), [&](const AskerRule& candidate) {
        return candidate.function == function;
    });
    return rule != asker_rules.end() ? rule->asks : Asks::unknown;
}

// Functions whose "no" can have another cause than the limit: theirs counts only where they were refused the
// capability too.
bool does_more_than_check(const std::string& function) {
    return function == "do_mlock" || function == "xdp_umem_create" || function == "ib_umem_get";
}

// What the trial was refused with, as the kernel returns it; 0: not with an errno.
int64_t trial_result(const Trial& trial) {
    return trial.error.domain == ErrorDomain::errno_value ? -static_cast<int64_t>(trial.error.code) : 0;
}

bool failed_in(const CallWindow& window, const std::string& syscall, int64_t result) {
    return std::any_of(window.syscalls.begin(), window.syscalls.end(), [&](const SyscallsSeen& call) {
        return call.name == syscall && call.result == result;
    });
}

// 0: not a decision; else as numbered in the header.
int rank_of(const LimitCheckSeen& seen, const LimitCheck& check, const CallWindow& window, int64_t result) {
    const bool refused = seen.capability_refused == true;
    if (!seen.capability_refused) {
        const bool of_limit = seen.denied && (seen.result == 0 || seen.result == result);
        return of_limit && !does_more_than_check(seen.function) ? 1 : 0;
    }
    if (!refused)
        return 0;
    if (check.asks == Asks::only_over)
        return 2;
    return result != 0 && failed_in(window, seen.syscall, result) ? 3 : 0;
}

struct Ranked {
    LimitCheck check;
    int rank = 0;
};

Ranked& entry_for(std::vector<Ranked>& entries, const LimitCheckSeen& seen) {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Ranked& entry) {
        return entry.check.function == seen.function;
    });
    if (found != entries.end())
        return *found;
    Ranked entry;
    entry.check.function = seen.function;
    entry.check.asks = rule_for(seen.function);
    entry.check.syscall = seen.syscall;
    entries.push_back(std::move(entry));
    return entries.back();
}

void note(LimitCheck& check, const LimitCheckSeen& seen) {
    check.tier = std::max(check.tier, seen.tier);
    check.count = std::max(check.count, seen.count);
    if (seen.capability_refused)
        check.capability_refused = check.capability_refused.value_or(false) || *seen.capability_refused;
    else if (!check.result || seen.denied)
        check.result = seen.result;
}

} // namespace

std::vector<LimitCheck> judge_limit_checks(const Trial& trial) {
    std::vector<Ranked> entries;
    if (!trial.windows)
        return {};
    for (const auto& window : trial.windows->windows) {
        for (const auto& seen : window.checks) {
            Ranked& entry = entry_for(entries, seen);
            note(entry.check, seen);
            if (trial.outcome != Outcome::denied)
                continue;
            const int rank = rank_of(seen, entry.check, window, trial_result(trial));
            if (rank != 0 && (entry.rank == 0 || rank < entry.rank))
                entry.rank = rank;
        }
    }
    int best = 0;
    for (const auto& entry : entries)
        if (entry.rank != 0 && (best == 0 || entry.rank < best))
            best = entry.rank;
    std::vector<LimitCheck> out;
    for (auto& entry : entries) {
        entry.check.decides = best != 0 && entry.rank == best;
        out.push_back(std::move(entry.check));
    }
    return out;
}

std::string deciding_functions(const std::vector<LimitCheck>& checks) {
    std::string out;
    for (const auto& check : checks) {
        if (!check.decides)
            continue;
        out += out.empty() ? "" : "|";
        out += check.function.empty() ? "a function whose name is not known" : check.function;
    }
    return out;
}

Tier sight_tier(const WindowSight& sight) {
    if (!sight.windows)
        return Tier::user;
    return sight.functions ? Tier::function : Tier::tracepoint;
}

Tier deciding_tier(const std::vector<LimitCheck>& checks) {
    Tier tier = Tier::user;
    for (const auto& check : checks)
        if (check.decides)
            tier = std::max(tier, check.tier);
    return tier;
}

} // namespace pinscope::analysis
