// SPDX-License-Identifier: Apache-2.0
#include "run/leaf_cgroup.h"

#include "base/file.h"
#include "base/text.h"

#include <fmt/format.h>

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace pinscope::run {
namespace {

Status make_folder(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0755) != 0)
        return fail(os_error("cannot make the cgroup", folder, errno));
    return {};
}

// Processes of the cgroup that are neither this one nor the janitor; 0 stands for one outside the pid
// namespace.
bool has_strangers(const std::string& folder, pid_t janitor) {
    const auto text = read_file(folder + "/cgroup.procs").value_or("");
    for (const auto line : split(trim(text), '\n')) {
        const auto pid = parse_unsigned(line);
        if (!pid || (*pid != static_cast<uint64_t>(::getpid()) && *pid != static_cast<uint64_t>(janitor)))
            return true;
    }
    return false;
}

Status move_into(const std::string& folder, pid_t pid) {
    return write_file(folder + "/cgroup.procs", fmt::format("{}", pid));
}

// Gives the memory controller to the children of a v2 cgroup, emptying it into plan.self_folder where that is
// needed.
Status give_memory(const CleanUpPlan& plan, const Janitor& janitor, bool foreign) {
    const std::string subtree = plan.own_folder + "/cgroup.subtree_control";
    auto given = write_file(subtree, "+memory");
    if (given || given.error().number != EBUSY)
        return given;
    if (foreign)
        return fail({"cannot make a cgroup below", plan.own_folder, "it holds processes", "", EBUSY});
    if (has_strangers(plan.own_folder, janitor.pid()))
        return fail({"cannot make a cgroup below", plan.own_folder, "it holds processes of others too",
                     "start pinscope in a cgroup of its own", EBUSY});
    if (auto made = make_folder(plan.self_folder); !made)
        return made;
    for (const pid_t pid : {janitor.pid(), ::getpid()})
        if (auto moved = move_into(plan.self_folder, pid); !moved)
            return moved;
    return write_file(subtree, "+memory");
}

} // namespace

CleanUpPlan plan_leaf(const std::optional<host::CgroupPlace>& own) {
    CleanUpPlan plan;
    if (!own)
        return plan;
    plan.cgroup_version = own->version;
    plan.own_folder = own->folder;
    // Runs in different pid namespaces may have the same number.
    uint32_t apart = 0;
    (void)!::getrandom(&apart, sizeof(apart), GRND_NONBLOCK);
    plan.leaf_folder = fmt::format("{}/pinscope-{}-{:08x}", own->folder, ::getpid(), apart);
    if (own->version == 2) {
        plan.self_folder = plan.leaf_folder + "-self";
        plan.disable_memory =
            !gives_memory_to_children(own->folder) || has_other_runs(own->folder, plan.leaf_folder);
    }
    return plan;
}

LeafCgroup LeafCgroup::make(const std::optional<host::CgroupPlace>& own, const CleanUpPlan& plan,
                            const Janitor& janitor, bool foreign) {
    LeafCgroup leaf;
    leaf.place_ = own;
    if (!own) {
        leaf.shared_because_ = "no memory cgroup can be seen here";
        return leaf;
    }
    Status status;
    // Without a hierarchy (the default of v1 before 5.11) a cgroup is not bound by the limits above it.
    const bool escapes = own->version == 1 && own->folder != own->mount &&
                         read_number(own->folder + "/memory.use_hierarchy").value_or(1) == 0;
    if (escapes)
        status = fail({"cannot make a cgroup below", own->folder,
                       "memory.use_hierarchy is 0, so that it would escape this one's limit", "", EINVAL});
    if (own->version == 2 && !gives_memory_to_children(own->folder))
        status = give_memory(plan, janitor, foreign);
    if (status)
        status = make_folder(plan.leaf_folder);
    if (!status) {
        leaf.shared_because_ = status.error().text();
        if (foreign)
            leaf.share_foreign(*own);
        return leaf;
    }
    leaf.place_->folder = plan.leaf_folder;
    leaf.place_->path = (own->path == "/" ? "" : own->path) + plan.leaf_folder.substr(plan.own_folder.size());
    leaf.join_file_ = plan.leaf_folder + "/cgroup.procs";
    return leaf;
}

// Where the other process's cgroup may not be joined, pinscope's own has to do.
void LeafCgroup::share_foreign(const host::CgroupPlace& foreign) {
    const auto ours = host::find_memory_cgroup(host::Root{}, 0);
    if (ours && ours->folder == foreign.folder)
        return;
    join_file_ = foreign.folder + "/cgroup.procs";
    if (::access(join_file_.c_str(), W_OK) == 0)
        return;
    shared_because_ =
        os_error("that process's cgroup may not be joined, so they ran in pinscope's own: cannot write to",
                 join_file_, errno)
            .text();
    join_file_.clear();
    place_ = ours ? std::optional<host::CgroupPlace>(*ours) : std::nullopt;
}

Status LeafCgroup::set_limit(Limit limit) const {
    if (is_shared())
        return fail({"cannot set a memory limit", "", "there is no cgroup of its own for it", "", ENOENT});
    const bool v1 = place_->version == 1;
    const std::string file = place_->folder + (v1 ? "/memory.limit_in_bytes" : "/memory.max");
    const std::string none = v1 ? "-1" : "max";
    return write_file(file, limit.unlimited ? none : fmt::format("{}", limit.bytes));
}

} // namespace pinscope::run
