// SPDX-License-Identifier: Apache-2.0
#include "run/apply_conditions.h"

#include "base/fd.h"
#include "base/file.h"
#include "host/process.h"

#include <cap-ng.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace pinscope::run {
namespace {

rlim_t to_rlim(Limit limit) {
    return limit.unlimited ? RLIM_INFINITY : limit.bytes;
}

Status set_memlock(const Conditions& conditions) {
    if (!conditions.memlock_soft && !conditions.memlock_hard)
        return {};
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    const rlim_t had = limit.rlim_max;
    if (conditions.memlock_hard)
        limit.rlim_max = to_rlim(*conditions.memlock_hard);
    if (conditions.memlock_soft)
        limit.rlim_cur = to_rlim(*conditions.memlock_soft);
    if (::setrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        return {};
    const int error = errno;
    const auto as_limit = [](rlim_t value) {
        return value == RLIM_INFINITY ? Limit::none() : Limit::of(value);
    };
    Error failure = os_error("cannot set the memlock limit to",
                             fmt::format("{} (soft), {} (hard)", limit_text(as_limit(limit.rlim_cur)),
                                         limit_text(as_limit(limit.rlim_max))),
                             error);
    if (error == EPERM)
        failure.reason = fmt::format("the hard limit is {} and raising it takes CAP_SYS_RESOURCE",
                                     limit_text(as_limit(had)));
    return fail(failure);
}

// Becomes what `pid` is as far as permissions go: its user namespace, its uid and gid there.
Status become_like(pid_t pid) {
    const host::Root root;
    const std::string folder = host::process_folder(root, pid);
    const auto identity = host::read_identity(root, pid);
    if (!identity)
        return fail(identity.error());
    const auto uid_map = read_file(folder + "/uid_map");
    const auto gid_map = read_file(folder + "/gid_map");
    if (!uid_map || !gid_map)
        return fail((uid_map ? gid_map : uid_map).error());

    struct stat own {};
    struct stat theirs {};
    uint32_t uid = identity->uid;
    uint32_t gid = identity->gid;
    const std::string name = folder + "/ns/user";
    if (::stat("/proc/self/ns/user", &own) != 0 || ::stat(name.c_str(), &theirs) != 0)
        return fail(os_error("cannot look at the user namespace of process", fmt::format("{}", pid), errno));
    if (own.st_ino != theirs.st_ino) {
        const Fd ns(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
        if (!ns || ::setns(ns.get(), CLONE_NEWUSER) != 0)
            return fail(os_error("cannot join the user namespace of process", fmt::format("{}", pid), errno));
        // The maps were read from outside: they take an outside id to an inside one.
        uid = host::map_id_inside(*uid_map, uid).value_or(uid);
        gid = host::map_id_inside(*gid_map, gid).value_or(gid);
    }
    if (uid == ::geteuid() && gid == ::getegid())
        return {};
    ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    // A namespace may forbid setgroups; then there are no groups to lose.
    (void)!::setgroups(0, nullptr);
    if (::setresgid(gid, gid, gid) != 0 || ::setresuid(uid, uid, uid) != 0)
        return fail(os_error("cannot take the ids of process", fmt::format("{}", pid), errno));
    return {};
}

// Whether the calling process may drop from its bounding set.
bool may_change_bounding_set() {
    ::capng_get_caps_process();
    return ::capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) != 0;
}

bool holds_anywhere(unsigned capability) {
    for (const auto set :
         {CAPNG_EFFECTIVE, CAPNG_PERMITTED, CAPNG_INHERITABLE, CAPNG_AMBIENT, CAPNG_BOUNDING_SET})
        if (::capng_have_capability(set, capability) != 0)
            return true;
    return false;
}

constexpr auto process_sets =
    static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE | CAPNG_AMBIENT);

Status apply_sets(bool with_bounding_set) {
    // The bounding set goes first: CAP_SETPCAP may be among what is dropped.
    if (with_bounding_set && ::capng_apply(CAPNG_SELECT_BOUNDS) != 0)
        return fail(os_error("cannot change the bounding set", "", errno));
    if (::capng_apply(CAPNG_SELECT_CAPS) != 0)
        return fail(os_error("cannot change the capabilities", "", errno));
    if (::capng_apply(CAPNG_SELECT_AMBIENT) != 0)
        return fail(os_error("cannot change the ambient capabilities", "", errno));
    return {};
}

Status take_capability(unsigned capability) {
    const bool bounding = may_change_bounding_set();
    // A filter may refuse capset, and where there is nothing to take that does not matter.
    if (!holds_anywhere(capability))
        return {};
    ::capng_update(CAPNG_DROP, process_sets, capability);
    if (bounding)
        ::capng_update(CAPNG_DROP, CAPNG_BOUNDING_SET, capability);
    if (auto applied = apply_sets(bounding); !applied)
        return applied;
    // Allowed to everybody, and an exec as uid 0 can then gain nothing.
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail(os_error("cannot set no_new_privs", "", errno));
    return {};
}

Status give_capability(unsigned capability) {
    ::capng_get_caps_process();
    if (::capng_have_capability(CAPNG_PERMITTED, capability) == 0) {
        // An exec as uid 0 gives what the bounding set holds.
        if (::geteuid() == 0 && ::capng_have_capability(CAPNG_BOUNDING_SET, capability) != 0)
            return {};
        return fail({"cannot add CAP_IPC_LOCK", "", "this process is not permitted to have it",
                     "run as root, or in a container started with --cap-add IPC_LOCK", EPERM});
    }
    // The ambient set carries it over the exec of a uid other than 0.
    ::capng_update(CAPNG_ADD, process_sets, capability);
    return apply_sets(false);
}

// Exactly these, as far as they can be had.
Status set_capabilities(uint64_t wanted) {
    const bool bounding = may_change_bounding_set();
    for (unsigned capability = 0; capability <= CAP_LAST_CAP; ++capability) {
        const bool keep = (wanted >> capability & 1U) != 0;
        if (keep && ::capng_have_capability(CAPNG_PERMITTED, capability) != 0)
            ::capng_update(CAPNG_ADD, process_sets, capability);
        else
            ::capng_update(CAPNG_DROP, process_sets, capability);
        if (!keep && bounding)
            ::capng_update(CAPNG_DROP, CAPNG_BOUNDING_SET, capability);
    }
    if (auto applied = apply_sets(bounding); !applied)
        return applied;
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return {};
}

} // namespace

Status apply_conditions(const Conditions& conditions) {
    if (auto set = set_memlock(conditions); !set)
        return set;
    // libcap-ng remembers the pid it first saw.
    ::capng_setpid(static_cast<int>(::getpid()));
    if (conditions.like)
        if (auto like = become_like(*conditions.like); !like)
            return like;
    if (conditions.capabilities)
        if (auto set = set_capabilities(*conditions.capabilities); !set)
            return set;
    if (conditions.cap_ipc_lock)
        return *conditions.cap_ipc_lock ? give_capability(CAP_IPC_LOCK) : take_capability(CAP_IPC_LOCK);
    return {};
}

} // namespace pinscope::run
