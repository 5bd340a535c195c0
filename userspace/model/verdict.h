// SPDX-License-Identifier: Apache-2.0
// The answers, and what they stand on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

enum class ControlState : uint8_t { holds, fails, unavailable };

std::string_view control_state_name(ControlState state);

// A trial whose right outcome is known when the conditions really hold.
struct Control {
    std::string name;                    // over_without_cap, over_with_cap, under
    std::string mechanism;               // mlock, or the one judged where its budget is another
    std::string expected;                // an outcome
    std::optional<std::string> observed; // an outcome; nothing where it could not be tried
    ControlState state = ControlState::unavailable;
    std::string reason; // one sentence
};

enum class VerdictKind : uint8_t { enforced, not_enforced, blocked_elsewhere, unsupported, inconclusive };

std::string_view verdict_name(VerdictKind kind);

// What the evidence rests on.
enum class Tier : uint8_t { user, tracepoint, function };

std::string_view tier_name(Tier tier);

struct Verdict {
    std::string mechanism;
    VerdictKind kind = VerdictKind::inconclusive;
    Tier tier = Tier::user;
    std::string reason;                // one sentence a person can quote
    std::vector<std::string> evidence; // one line an observation
};

} // namespace pinscope
