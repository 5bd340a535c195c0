// SPDX-License-Identifier: Apache-2.0
#include "pin/sweep.h"

#include "base/bytes.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace pinscope::pin {
namespace {

// Far enough over the limit to meet it, as far as there is room.
uint64_t upper_bound(const RegisteredMechanism& mechanism, const PinPlan& plan) {
    const Limit soft = plan.question.memlock_soft;
    uint64_t bound = size_over(soft.unlimited ? 64_MiB : soft.bytes, mechanism);
    if (plan.options.size_bytes)
        bound = std::max(bound, mechanism.fit_size(round_up(*plan.options.size_bytes, page_size())));
    if (plan.room.bytes && bound > *plan.room.bytes)
        bound = std::max(page_size(), round_down(*plan.room.bytes, page_size()));
    return bound;
}

bool is_refusal(const Trial& trial) {
    return trial.outcome == Outcome::denied || trial.outcome == Outcome::failed;
}

class Sweeper {
  public:
    Sweeper(const RegisteredMechanism& mechanism, const TrialRunner& runner, const Conditions& conditions)
        : mechanism_(mechanism), runner_(runner), conditions_(conditions) {}

    // What a step before held at a shared budget may come back late, so a refusal is looked at twice.
    std::optional<Trial> step(uint64_t size, uint64_t count, bool cumulative) {
        std::optional<Trial> last;
        for (const int pause_ms : {0, 20, 80}) {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
            ++steps_;
            auto trial = runner_.run({&mechanism_, Role::sweep, size, count, cumulative, conditions_});
            if (!trial)
                return last;
            last = std::move(*trial);
            if (last->outcome != Outcome::denied || !counts_in_shared_budget(mechanism_.facts))
                break;
        }
        return last;
    }

    uint64_t steps() const { return steps_; }

  private:
    const RegisteredMechanism& mechanism_;
    const TrialRunner& runner_;
    const Conditions& conditions_;
    uint64_t steps_ = 0;
};

} // namespace

Bisection bisect(uint64_t refused, const RegisteredMechanism& mechanism,
                 const std::function<bool(uint64_t size)>& is_granted) {
    Bisection found;
    found.smallest_refused = refused;
    uint64_t granted = 0;
    for (;;) {
        const uint64_t middle = round_down((granted + found.smallest_refused) / 2, page_size());
        uint64_t size = mechanism.fit_size(std::max(middle, page_size()));
        if (size >= found.smallest_refused)
            size = mechanism.fit_size(granted + page_size());
        if (size <= granted || size >= found.smallest_refused)
            return found;
        ++found.steps;
        if (is_granted(size)) {
            granted = size;
            found.largest_granted = size;
        } else {
            found.smallest_refused = size;
        }
    }
}

Sweep sweep(const RegisteredMechanism& mechanism, const PinPlan& plan, const TrialRunner& runner,
            const Conditions& conditions) {
    Sweep result;
    result.mechanism = std::string(mechanism.facts.name);
    result.memlock_soft = plan.question.memlock_soft;
    result.tested_up_to_bytes = upper_bound(mechanism, plan);
    Sweeper sweeper(mechanism, runner, conditions);

    const auto at_bound = sweeper.step(result.tested_up_to_bytes, 1, false);
    if (at_bound && at_bound->outcome == Outcome::granted) {
        result.largest_single_bytes = result.tested_up_to_bytes;
    } else if (at_bound && is_refusal(*at_bound)) {
        result.single_error = at_bound->error;
        bool answered = true;
        const auto found = bisect(result.tested_up_to_bytes, mechanism, [&](uint64_t size) {
            const auto trial = sweeper.step(size, 1, false);
            const bool granted = trial && trial->outcome == Outcome::granted;
            answered = answered && trial && (granted || is_refusal(*trial));
            if (answered && !granted)
                result.single_error = trial->error;
            return granted;
        });
        // A trial that was killed or hung is no refusal: then nothing is said.
        if (answered) {
            result.largest_single_bytes = found.largest_granted;
            result.single_refused_bytes = found.smallest_refused;
        } else {
            result.single_error.reset();
        }
    }
    if (mechanism.repeatable && at_bound &&
        (at_bound->outcome == Outcome::granted || is_refusal(*at_bound))) {
        // Pieces of an eighth: eight and more of them show that the sum counts, not the single request.
        const uint64_t piece = mechanism.fit_size(round_up(result.tested_up_to_bytes / 8, page_size()));
        const uint64_t count = std::max<uint64_t>(1, result.tested_up_to_bytes / piece);
        if (const auto trial = sweeper.step(piece, count, true);
            trial && (trial->outcome == Outcome::granted || is_refusal(*trial))) {
            result.largest_cumulative_bytes = trial->held_bytes;
            result.cumulative_pins = trial->granted_count;
            if (trial->outcome != Outcome::granted)
                result.cumulative_error = trial->error;
        }
    }
    result.steps = sweeper.steps();
    return result;
}

} // namespace pinscope::pin
