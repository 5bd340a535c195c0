// SPDX-License-Identifier: Apache-2.0
// Which limit and which sizes to try: pure arithmetic on what the host bears.
#pragma once

#include "base/result.h"
#include "model/host_facts.h"
#include "pin/registry.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pinscope::pin {

// The memlock limit of the trials, as asked for on the command line.
struct LimitChoice {
    enum class Kind : uint8_t { fitting, current, exactly } kind = Kind::fitting;
    Limit exactly; // for `exactly`
};

// Sizes that are not chosen by the caller stay within this.
struct Room {
    std::optional<uint64_t> bytes; // nothing: not known
};

// Half of what the host has left, three quarters of what the cgroup has; the less of the two.
Room find_room(const HostFacts& host, std::optional<uint64_t> cgroup_headroom);

struct ChosenLimit {
    Limit limit;
    std::string because; // why it is not the current one, though none was asked for; else empty
};

// The soft limit to try under: as asked for; by default the current one, or less where that is unlimited or
// too large for every mechanism to be tried over it.
ChosenLimit choose_soft_limit(const LimitChoice& choice, const HostFacts& host, const Room& room);

// A size over `limit` that this mechanism can be asked for.
uint64_t size_over(uint64_t limit, const RegisteredMechanism& mechanism);

// A size under `limit`; nothing where the limit has no room for a page.
std::optional<uint64_t> size_under(uint64_t limit, const RegisteredMechanism& mechanism);

// A size, a soft limit below it, and the hard limit above it: what shows the soft limit at work where the
// hard one cannot be raised. Nothing where the hard limit is too small for that.
struct SoftPair {
    uint64_t size = 0;
    uint64_t soft_below = 0;
};
std::optional<SoftPair> pair_below(uint64_t hard, const RegisteredMechanism& mechanism);

} // namespace pinscope::pin
