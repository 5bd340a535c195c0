// SPDX-License-Identifier: Apache-2.0
#include "run/stage.h"

#include "base/file.h"
#include "base/text.h"
#include "host/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <vector>

namespace pinscope::run {
namespace {

// Needs CONFIG_PROC_CHILDREN; without it, or without a /proc of our pid namespace, there are none to be seen.
std::vector<pid_t> other_children(pid_t janitor) {
    std::vector<pid_t> pids;
    if (!host::shows_own_pids(host::Root{}))
        return pids;
    const auto text = read_file("/proc/thread-self/children").value_or("");
    for (const auto word : words(trim(text)))
        if (const auto pid = parse_unsigned(word); pid && static_cast<pid_t>(*pid) != janitor)
            pids.push_back(static_cast<pid_t>(*pid));
    return pids;
}

} // namespace

Result<Stage> Stage::set_up(const std::optional<host::CgroupPlace>& own, bool foreign) {
    // Grandchildren whose parent dies come to us, so that none outlives the run unseen.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const CleanUpPlan plan = plan_leaf(own);
    auto janitor = Janitor::start(plan);
    if (!janitor)
        return fail(janitor.error());
    LeafCgroup leaf = LeafCgroup::make(own, plan, *janitor, foreign);
    return Stage(std::move(*janitor), std::move(leaf));
}

Result<Child> Stage::start(const Command& command, const Conditions& conditions) const {
    if (conditions.cgroup_limit)
        if (auto set = leaf_.set_limit(*conditions.cgroup_limit); !set)
            return fail(set.error());
    return run::start(command, conditions, leaf_, janitor_);
}

Status Stage::take_down() {
    // In a shared cgroup the janitor knows direct children only; orphans have become ours.
    for (auto orphans = other_children(janitor_.pid()); !orphans.empty();
         orphans = other_children(janitor_.pid())) {
        for (const pid_t pid : orphans)
            ::kill(pid, SIGKILL);
        for (const pid_t pid : orphans)
            ::waitpid(pid, nullptr, 0);
    }
    Status status = janitor_.finish();
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return status;
}

} // namespace pinscope::run
