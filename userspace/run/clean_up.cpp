// SPDX-License-Identifier: Apache-2.0
#include "run/clean_up.h"

#include "base/file.h"
#include "base/text.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

namespace pinscope::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds patience{5000};
constexpr milliseconds pause_between_tries{2};

void kill_all_in(const std::string& folder) {
    // cgroup.kill: v2 from 5.14 on (kernel/cgroup/cgroup.c cgroup_kill_write); it leaves no time to fork.
    if (write_file(folder + "/cgroup.kill", "1"))
        return;
    const auto text = read_file(folder + "/cgroup.procs").value_or("");
    for (const auto line : split(trim(text), '\n'))
        if (const auto pid = parse_unsigned(line); pid && *pid > 0)
            ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

bool is_folder(const std::string& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

// Kills until the folder can be removed.
Status remove_leaf(const std::string& folder) {
    const auto deadline = steady_clock::now() + patience;
    for (;;) {
        // Asked first: on a read-only mount rmdir does not say that there is nothing.
        if (!exists(folder) || ::rmdir(folder.c_str()) == 0)
            return {};
        const int error = errno;
        if ((error != EBUSY && error != ENOTEMPTY) || steady_clock::now() > deadline)
            return fail(os_error("cannot remove the cgroup", folder, error));
        kill_all_in(folder);
        // Cgroups that a command has made within it; a pinscope among them, say.
        for (const auto& name : list_folder(folder).value_or(std::vector<std::string>()))
            if (const std::string child = fmt::format("{}/{}", folder, name); is_folder(child))
                (void)remove_leaf(child);
        std::this_thread::sleep_for(pause_between_tries);
    }
}

// Moves every process of `from` to `to` and removes `from`.
Status move_back(const std::string& from, const std::string& to) {
    const auto text = read_file(from + "/cgroup.procs").value_or("");
    for (const auto line : split(trim(text), '\n')) {
        auto moved = write_file(to + "/cgroup.procs", line);
        if (!moved && moved.error().number != ESRCH)
            return moved;
    }
    return remove_leaf(from);
}

Status keep_first(Status kept, Status next) {
    return kept ? std::move(next) : std::move(kept);
}

} // namespace

bool gives_memory_to_children(const std::string& folder) {
    const auto text = read_file(folder + "/cgroup.subtree_control").value_or("");
    const auto controllers = words(trim(text));
    return std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
}

bool has_other_runs(const std::string& own_folder, const std::string& leaf_folder) {
    const std::string own = leaf_folder.substr(leaf_folder.rfind('/') + 1);
    const auto names = list_folder(own_folder).value_or(std::vector<std::string>());
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return name.rfind("pinscope-", 0) == 0 && name != own && name != own + "-self";
    });
}

Status clean_up(const CleanUpPlan& plan, const std::set<pid_t>& children) {
    for (const pid_t pid : children)
        ::kill(pid, SIGKILL);
    Status status;
    if (plan.cgroup_version != 0 && !plan.leaf_folder.empty())
        status = remove_leaf(plan.leaf_folder);
    if (plan.cgroup_version != 2)
        return status;
    // Processes may return to a cgroup only when its subtree has no controllers left.
    if (plan.disable_memory && gives_memory_to_children(plan.own_folder) &&
        !has_other_runs(plan.own_folder, plan.leaf_folder))
        status =
            keep_first(std::move(status), write_file(plan.own_folder + "/cgroup.subtree_control", "-memory"));
    if (!plan.self_folder.empty() && exists(plan.self_folder))
        status = keep_first(std::move(status), move_back(plan.self_folder, plan.own_folder));
    return status;
}

} // namespace pinscope::run
