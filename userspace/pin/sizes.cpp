// SPDX-License-Identifier: Apache-2.0
#include "pin/sizes.h"

#include "base/bytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinscope::pin {
namespace {

constexpr uint64_t default_limit = 8_MiB; // what systemd and most container runtimes set
// Pipes of one user hold 64 MiB (fs.pipe-user-pages-soft): twice this still fits into them.
constexpr uint64_t largest_default_limit = 24_MiB;
constexpr uint64_t least_step_over = 1_MiB;
// What a trial process takes besides what it pins.
constexpr uint64_t process_overhead = 8_MiB;

} // namespace

Room find_room(const HostFacts& host, std::optional<uint64_t> cgroup_headroom) {
    Room room;
    if (host.memory_available_bytes)
        room.bytes = *host.memory_available_bytes / 2;
    if (cgroup_headroom) {
        const uint64_t usable =
            *cgroup_headroom > process_overhead ? (*cgroup_headroom - process_overhead) / 4 * 3 : 0;
        room.bytes = room.bytes ? std::min(*room.bytes, usable) : usable;
    }
    return room;
}

ChosenLimit choose_soft_limit(const LimitChoice& choice, const HostFacts& host, const Room& room) {
    if (choice.kind == LimitChoice::Kind::exactly)
        return {choice.exactly, ""};
    const Limit current = host.memlock_soft;
    if (choice.kind == LimitChoice::Kind::current)
        return {current, ""};
    const bool fits = !current.unlimited && current.bytes <= largest_default_limit;
    const uint64_t wanted = fits ? current.bytes : default_limit;
    std::string because;
    if (current.unlimited)
        because = "the current one is unlimited";
    else if (!fits)
        because =
            fmt::format("not every mechanism can be tried over the current one, {}", limit_text(current));
    // Twice the limit, and the perf allowance, must fit.
    const uint64_t allowance = host.perf_free_bytes.value_or(0);
    uint64_t limit = wanted;
    while (room.bytes && limit > page_size() && 2 * limit + allowance > *room.bytes)
        limit = round_down(limit / 2, page_size());
    if (limit < wanted)
        because += fmt::format("{}{} of memory are too little to go over one of {}",
                               because.empty() ? "" : "; ", format_bytes(*room.bytes), format_bytes(wanted));
    return {Limit::of(limit), because};
}

uint64_t size_over(uint64_t limit, const RegisteredMechanism& mechanism) {
    const uint64_t over = round_up(limit + std::max(limit, least_step_over), page_size());
    return mechanism.fit_size(over + round_up(mechanism.allowance(), page_size()));
}

std::optional<uint64_t> size_under(uint64_t limit, const RegisteredMechanism& mechanism) {
    // Two pages to spare, for what a mechanism counts besides its size.
    for (uint64_t size = round_down(limit / 2, page_size()); size >= page_size();
         size = round_down(size / 2, page_size()))
        if (mechanism.fit_size(size) + 2 * page_size() <= limit)
            return mechanism.fit_size(size);
    return std::nullopt;
}

std::optional<SoftPair> pair_below(uint64_t hard, const RegisteredMechanism& mechanism) {
    const auto size = size_under(hard, mechanism);
    const uint64_t allowance = mechanism.allowance();
    if (!size || *size < allowance + 2 * page_size())
        return std::nullopt;
    return SoftPair{*size, round_down((*size - allowance) / 2, page_size())};
}

} // namespace pinscope::pin
