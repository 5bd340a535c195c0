// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"

#include "base/file.h"
#include "base/text.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace pinscope::host {
namespace {

// "  123 kB" in bytes.
std::optional<uint64_t> kilobytes(std::string_view text, std::string_view key) {
    const auto value = find_value(text, key);
    if (!value)
        return std::nullopt;
    const auto parts = words(*value);
    if (parts.empty())
        return std::nullopt;
    const auto number = parse_unsigned(parts[0]);
    if (!number)
        return std::nullopt;
    return *number * 1024;
}

std::optional<uint64_t> hexadecimal(std::string_view text, std::string_view key) {
    const auto digits = find_value(text, key);
    if (!digits)
        return std::nullopt;
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(digits->data(), digits->data() + digits->size(), value, 16);
    if (error != std::errc() || stop != digits->data() + digits->size())
        return std::nullopt;
    return value;
}

// The second of the four ids of a "Uid:" or "Gid:" line, the effective one.
std::optional<uint32_t> effective_id(std::string_view status, std::string_view key) {
    const auto value = find_value(status, key);
    if (!value)
        return std::nullopt;
    const auto ids = words(*value);
    const auto id = ids.size() >= 2 ? parse_unsigned(ids[1]) : std::nullopt;
    if (!id || *id > UINT32_MAX)
        return std::nullopt;
    return static_cast<uint32_t>(*id);
}

std::optional<Limit> parse_limit(std::string_view word) {
    if (word == "unlimited")
        return Limit::none();
    const auto bytes = parse_unsigned(word);
    if (!bytes)
        return std::nullopt;
    return Limit::of(*bytes);
}

} // namespace

std::string process_folder(const Root& root, pid_t pid) {
    return root.at(pid == 0 ? std::string("/proc/self") : fmt::format("/proc/{}", pid));
}

bool shows_own_pids(const Root& root) {
    const auto self = read_link(root.at("/proc/self"));
    return self && parse_unsigned(*self) == static_cast<uint64_t>(::getpid());
}

ProcessMemory parse_process_memory(std::string_view status, std::string_view smaps_rollup) {
    ProcessMemory memory;
    memory.vm_size = kilobytes(status, "VmSize");
    memory.vm_lck = kilobytes(status, "VmLck");
    memory.vm_pin = kilobytes(status, "VmPin");
    memory.rss_anon = kilobytes(status, "RssAnon");
    memory.rss_file = kilobytes(status, "RssFile");
    memory.rss_shmem = kilobytes(status, "RssShmem");
    memory.pss = kilobytes(smaps_rollup, "Pss");
    memory.locked = kilobytes(smaps_rollup, "Locked");
    return memory;
}

ProcessMemory read_process_memory(const Root& root, pid_t pid) {
    const std::string folder = process_folder(root, pid);
    return parse_process_memory(read_file(folder + "/status").value_or(""),
                                read_file(folder + "/smaps_rollup").value_or(""));
}

Result<ProcessLimits> parse_limits(std::string_view limits) {
    const auto line = find_value(limits, "Max locked memory");
    const auto parts = words(line.value_or(""));
    if (parts.size() >= 2) {
        const auto soft = parse_limit(parts[0]);
        const auto hard = parse_limit(parts[1]);
        if (soft && hard)
            return ProcessLimits{*soft, *hard};
    }
    return fail({"cannot read the limits", "", "there is no 'Max locked memory' line in them", "", EINVAL});
}

Result<ProcessLimits> read_limits(const Root& root, pid_t pid) {
    const auto text = read_file(process_folder(root, pid) + "/limits");
    if (!text)
        return fail(text.error());
    return parse_limits(*text);
}

Result<ProcessIdentity> parse_identity(std::string_view status) {
    const auto uid = effective_id(status, "Uid");
    const auto gid = effective_id(status, "Gid");
    const auto effective = hexadecimal(status, "CapEff");
    const auto permitted = hexadecimal(status, "CapPrm");
    const auto bounding = hexadecimal(status, "CapBnd");
    if (!uid || !gid || !effective || !permitted || !bounding)
        return fail(
            {"cannot read a process's ids and capabilities", "", "its status file lacks them", "", EINVAL});
    return ProcessIdentity{*uid, *gid, *effective, *permitted, *bounding};
}

Result<ProcessIdentity> read_identity(const Root& root, pid_t pid) {
    const auto text = read_file(process_folder(root, pid) + "/status");
    if (!text)
        return fail(text.error());
    return parse_identity(*text);
}

std::optional<bool> in_initial_user_namespace(const Root& root, pid_t pid) {
    const auto map = read_file(process_folder(root, pid) + "/uid_map");
    if (!map)
        return std::nullopt;
    const auto lines = split(trim(*map), '\n');
    if (lines.size() != 1)
        return false;
    const auto fields = words(lines[0]);
    return fields.size() == 3 && fields[0] == "0" && fields[1] == "0" && fields[2] == "4294967295";
}

std::optional<uint32_t> map_id_inside(std::string_view id_map, uint32_t outside) {
    for (const auto line : split(id_map, '\n')) {
        const auto fields = words(line);
        if (fields.size() != 3)
            continue;
        const auto first_inside = parse_unsigned(fields[0]);
        const auto first_outside = parse_unsigned(fields[1]);
        const auto length = parse_unsigned(fields[2]);
        if (first_inside && first_outside && length && outside >= *first_outside &&
            outside - *first_outside < *length)
            return static_cast<uint32_t>(*first_inside + (outside - *first_outside));
    }
    return std::nullopt;
}

} // namespace pinscope::host
