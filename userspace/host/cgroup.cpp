// SPDX-License-Identifier: Apache-2.0
#include "host/cgroup.h"

#include "base/file.h"
#include "base/text.h"
#include "host/process.h"

#include <algorithm>
#include <cerrno>
#include <vector>

namespace pinscope::host {
namespace {

// A v1 limit at or above this is "none": the kernel shows PAGE_COUNTER_MAX pages (mm/page_counter.c), which
// is LONG_MAX rounded down to a page.
constexpr uint64_t v1_unlimited_from = uint64_t{1} << 62U;

struct Mount {
    std::string root;
    std::string point;
    std::string type;
    std::string options; // of the superblock: v1 names its controllers there
};

bool is_octal(char c) {
    return c >= '0' && c <= '7';
}

// mountinfo writes blanks and backslashes as \ooo.
std::string unescape(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
            is_octal(text[i + 3])) {
            const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
            out += static_cast<char>(code);
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::vector<Mount> cgroup_mounts(std::string_view mountinfo) {
    std::vector<Mount> mounts;
    for (const auto line : split(mountinfo, '\n')) {
        // 36 35 98:0 /root /point options optional… - type source superoptions
        const size_t dash = line.find(" - ");
        if (dash == std::string_view::npos)
            continue;
        const auto left = words(line.substr(0, dash));
        const auto right = words(line.substr(dash + 3));
        if (left.size() < 5 || right.empty() || (right[0] != "cgroup" && right[0] != "cgroup2"))
            continue;
        mounts.push_back({unescape(left[3]), unescape(left[4]), std::string(right[0]),
                          right.size() >= 3 ? std::string(right[2]) : std::string()});
    }
    return mounts;
}

bool lists(std::string_view comma_list, std::string_view name) {
    const auto parts = split(comma_list, ',');
    return std::find(parts.begin(), parts.end(), name) != parts.end();
}

bool is_within(std::string_view path, std::string_view root) {
    return root == "/" || path == root ||
           (path.size() > root.size() && path.substr(0, root.size()) == root && path[root.size()] == '/');
}

Result<CgroupPlace> place_on(const Mount& mount, int version, std::string_view path) {
    if (path.empty() || path.front() != '/')
        return fail({"cannot reach the memory cgroup", printable(path), "its path is not an absolute one", "",
                     EINVAL});
    if (path.substr(0, 4) == "/../" || path == "/..")
        return fail({"cannot reach the memory cgroup", printable(path),
                     "it lies outside this cgroup namespace", "run in the host's cgroup namespace", ENOENT});
    // Within a cgroup namespace a mount's root is "/" or "/.." and so on; the path already counts from there.
    const bool root_is_outside = mount.root.substr(0, 3) == "/..";
    if (!root_is_outside && !is_within(path, mount.root))
        return fail({"cannot reach the memory cgroup", printable(path),
                     "the mount at " + mount.point + " shows only " + mount.root, "", ENOENT});
    std::string_view below = path;
    if (!root_is_outside && mount.root != "/")
        below.remove_prefix(mount.root.size());
    if (below == "/")
        below = {};
    return CgroupPlace{version, std::string(path), mount.point + std::string(below), mount.point};
}

std::optional<uint64_t> number_in(const CgroupPlace& place, const char* file) {
    const auto number = read_number(place.folder + "/" + file);
    return number ? std::optional<uint64_t>(*number) : std::nullopt;
}

std::optional<uint64_t> stat_item(std::string_view text, std::string_view key) {
    const auto value = find_value(text, key);
    return value ? parse_unsigned(*value) : std::nullopt;
}

std::string text_of(const CgroupPlace& place, const char* file) {
    return read_file(place.folder + "/" + file).value_or("");
}

} // namespace

Result<CgroupPlace> locate_memory_cgroup(std::string_view proc_cgroup, std::string_view mountinfo) {
    std::optional<std::string_view> v1_path;
    std::optional<std::string_view> v2_path;
    for (const auto line : split(proc_cgroup, '\n')) {
        // hierarchy:controllers:path, and 0::path for v2
        const size_t first = line.find(':');
        const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos)
            continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const auto path = line.substr(second + 1);
        if (lists(controllers, "memory"))
            v1_path = path;
        else if (line.substr(0, first) == "0" && controllers.empty())
            v2_path = path;
    }
    if (!v1_path && !v2_path)
        return fail(
            {"cannot find a memory cgroup", "", "no hierarchy has the memory controller", "", ENOENT});

    for (const auto& mount : cgroup_mounts(mountinfo)) {
        if (v1_path && mount.type == "cgroup" && lists(mount.options, "memory"))
            return place_on(mount, 1, *v1_path);
        if (!v1_path && mount.type == "cgroup2")
            return place_on(mount, 2, *v2_path);
    }
    return fail(
        {"cannot find the memory cgroup's files", "",
         v1_path ? "the v1 memory hierarchy is not mounted here" : "no cgroup2 file system is mounted here",
         "mount it, or run where /sys/fs/cgroup is mounted", ENOENT});
}

Result<CgroupPlace> find_memory_cgroup(const Root& root, pid_t pid) {
    const auto cgroup = read_file(process_folder(root, pid) + "/cgroup");
    if (!cgroup)
        return fail(cgroup.error());
    // Mounts are those this process sees, whoever is looked at.
    const auto mountinfo = read_file(root.at("/proc/self/mountinfo"));
    if (!mountinfo)
        return fail(mountinfo.error());
    auto place = locate_memory_cgroup(*cgroup, *mountinfo);
    if (!place)
        return place;
    place->folder = root.at(place->folder);
    place->mount = root.at(place->mount);
    if (!exists(place->folder))
        return fail({"cannot reach the memory cgroup", place->folder, "it is not there", "", ENOENT});
    if (place->version == 2) {
        // A hybrid host may mount cgroup2 without the memory controller.
        const auto controllers = read_file(place->folder + "/cgroup.controllers").value_or("");
        const auto names = words(trim(controllers));
        if (std::find(names.begin(), names.end(), "memory") == names.end())
            return fail({"cannot find a memory cgroup", place->folder,
                         "the memory controller is not available in this cgroup", "", ENOENT});
    }
    return place;
}

bool has_memory_files(const CgroupPlace& place) {
    return exists(place.folder + (place.version == 1 ? "/memory.usage_in_bytes" : "/memory.current"));
}

CgroupMemory read_cgroup_memory(const CgroupPlace& place) {
    CgroupMemory memory;
    const std::string stat = text_of(place, "memory.stat");
    memory.shmem = stat_item(stat, "shmem");
    if (place.version == 1) {
        memory.usage = number_in(place, "memory.usage_in_bytes");
        memory.kernel = number_in(place, "memory.kmem.usage_in_bytes");
        memory.anon = stat_item(stat, "rss");
        memory.file = stat_item(stat, "cache");
        memory.limit_hits = number_in(place, "memory.failcnt");
        memory.oom_kills = stat_item(text_of(place, "memory.oom_control"), "oom_kill");
    } else {
        memory.usage = number_in(place, "memory.current");
        memory.kernel = stat_item(stat, "kernel");
        memory.anon = stat_item(stat, "anon");
        memory.file = stat_item(stat, "file");
        const std::string events = text_of(place, "memory.events");
        memory.limit_hits = stat_item(events, "max");
        memory.oom_kills = stat_item(events, "oom_kill");
    }
    return memory;
}

std::optional<Limit> read_own_limit(const CgroupPlace& place) {
    if (place.version == 1) {
        const auto bytes = number_in(place, "memory.limit_in_bytes");
        if (!bytes)
            return std::nullopt;
        return *bytes >= v1_unlimited_from ? Limit::none() : Limit::of(*bytes);
    }
    const std::string text = text_of(place, "memory.max");
    if (trim(text) == "max")
        return Limit::none();
    const auto bytes = parse_unsigned(trim(text));
    return bytes ? std::optional<Limit>(Limit::of(*bytes)) : std::nullopt;
}

std::optional<CgroupPlace> parent_of(const CgroupPlace& place) {
    if (place.folder.size() <= place.mount.size())
        return std::nullopt;
    CgroupPlace parent = place;
    parent.folder.resize(parent.folder.rfind('/'));
    parent.path.resize(parent.path.rfind('/'));
    if (parent.path.empty())
        parent.path = "/";
    return parent;
}

std::optional<Limit> read_effective_limit(const CgroupPlace& place) {
    if (place.version == 1) {
        const auto bytes = stat_item(text_of(place, "memory.stat"), "hierarchical_memory_limit");
        if (!bytes)
            return read_own_limit(place);
        return *bytes >= v1_unlimited_from ? Limit::none() : Limit::of(*bytes);
    }
    std::optional<Limit> tightest;
    for (std::optional<CgroupPlace> at = place; at; at = parent_of(*at)) {
        if (const auto own = read_own_limit(*at))
            tightest = tightest ? lower(*tightest, *own) : *own;
    }
    // The root has no memory.max: with no file on the whole path there is no limit, if the files can be read
    // at all.
    if (!tightest && exists(place.folder + "/cgroup.procs"))
        return Limit::none();
    return tightest;
}

std::optional<uint64_t> read_headroom(const CgroupPlace& place) {
    std::optional<uint64_t> least;
    for (std::optional<CgroupPlace> at = place; at; at = parent_of(*at)) {
        const auto own = read_own_limit(*at);
        const auto usage = read_cgroup_memory(*at).usage;
        if (!own || own->unlimited || !usage)
            continue;
        const uint64_t room = own->bytes > *usage ? own->bytes - *usage : 0;
        least = least ? std::min(*least, room) : room;
    }
    return least;
}

std::optional<std::string> find_oom_group(const CgroupPlace& place) {
    if (place.version != 2)
        return std::nullopt;
    for (std::optional<CgroupPlace> at = place; at; at = parent_of(*at))
        if (read_number(at->folder + "/memory.oom.group").value_or(0) == 1)
            return at->folder;
    return std::nullopt;
}

CgroupFacts describe(const CgroupPlace& place) {
    CgroupFacts facts;
    facts.version = place.version;
    facts.path = place.path;
    facts.folder = place.folder;
    facts.limit = read_effective_limit(place);
    facts.usage_bytes = read_cgroup_memory(place).usage;
    facts.oom_group_folder = find_oom_group(place).value_or("");
    return facts;
}

} // namespace pinscope::host
