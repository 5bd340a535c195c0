// SPDX-License-Identifier: Apache-2.0
#include "run/stage.h"

#include "base/file.h"
#include "base/text.h"
#include "host/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <set>
#include <vector>

namespace pinscope::run {
namespace {

// Needs CONFIG_PROC_CHILDREN; without it, or without a /proc of our pid namespace, there are none to be seen.
std::set<pid_t> children_of_this_process() {
    std::set<pid_t> pids;
    if (!host::shows_own_pids(host::Root{}))
        return pids;
    const auto text = read_file("/proc/thread-self/children").value_or("");
    for (const auto word : words(trim(text)))
        if (const auto pid = parse_unsigned(word))
            pids.insert(static_cast<pid_t>(*pid));
    return pids;
}

// Kills and collects the children that are not among `spared`. What may not be killed, because it has become
// another user's, is left alone.
void kill_children_but(const std::set<pid_t>& spared) {
    std::set<pid_t> left_alone = spared;
    for (;;) {
        std::vector<pid_t> killed;
        for (const pid_t pid : children_of_this_process()) {
            if (left_alone.count(pid) != 0)
                continue;
            left_alone.insert(pid);
            if (::kill(pid, SIGKILL) == 0)
                killed.push_back(pid);
        }
        if (killed.empty())
            return;
        // Their own children come to us as they end.
        for (const pid_t pid : killed)
            ::waitpid(pid, nullptr, 0);
    }
}

} // namespace

Result<Stage> Stage::set_up(const std::optional<host::CgroupPlace>& own, bool foreign) {
    // A caller may have it ignored, and then no exit status is kept.
    ::signal(SIGCHLD, SIG_DFL);
    // What the program that exec'd us had started is not ours to end.
    std::set<pid_t> spared = children_of_this_process();
    const CleanUpPlan plan = plan_leaf(own);
    auto janitor = Janitor::start(plan);
    if (!janitor)
        return fail(janitor.error());
    spared.insert(janitor->pid());
    LeafCgroup leaf = LeafCgroup::make(own, plan, *janitor, foreign);
    // Without a cgroup of their own, grandchildren are kept in sight by becoming our children when their
    // parent dies.
    if (leaf.is_shared())
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return Stage(std::move(*janitor), std::move(leaf), std::move(spared));
}

Result<Child> Stage::start(const Command& command, const Conditions& conditions) const {
    if (conditions.cgroup_limit)
        if (auto set = leaf_.set_limit(*conditions.cgroup_limit); !set)
            return fail(set.error());
    return run::start(command, conditions, leaf_, janitor_);
}

Status Stage::take_down() {
    if (leaf_.is_shared())
        kill_children_but(spared_);
    return janitor_.finish();
}

} // namespace pinscope::run
