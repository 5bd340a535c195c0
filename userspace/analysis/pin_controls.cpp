// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin_answer.h"
#include "analysis/words.h"
#include "base/bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace pinscope::analysis {
namespace {

struct ControlRule {
    std::string_view name;
    Role role;
    Outcome expected;
};

constexpr ControlRule over_without_cap = {"over_without_cap", Role::over, Outcome::denied};
constexpr ControlRule over_with_cap = {"over_with_cap", Role::with_cap, Outcome::granted};
constexpr ControlRule under = {"under", Role::under, Outcome::granted};

// Only an answer to the request can hold or fail. A trial that was killed, timed out or could not be done at
// all leaves the control open.
ControlState state_of(const Trial& trial, Outcome expected) {
    if (!trial.conditions_differ.empty())
        return ControlState::unavailable;
    if (trial.outcome == expected)
        return ControlState::holds;
    if (trial.last_stop == StopPoint::initialised)
        return ControlState::unavailable; // the request itself was never made
    const bool answered = trial.outcome == Outcome::granted || trial.outcome == Outcome::denied ||
                          trial.outcome == Outcome::failed;
    return answered ? ControlState::fails : ControlState::unavailable;
}

Control make_control(const ControlRule& rule, std::string_view mechanism, std::span<const Trial> trials,
                     const PinFindings& findings) {
    Control control;
    control.name = std::string(rule.name);
    control.mechanism = std::string(mechanism);
    control.expected = std::string(outcome_name(rule.expected));
    const auto trial = std::find_if(trials.begin(), trials.end(), [&](const Trial& candidate) {
        return candidate.role == rule.role && candidate.mechanism == mechanism;
    });
    if (trial != trials.end()) {
        control.observed = std::string(outcome_name(trial->outcome));
        control.state = state_of(*trial, rule.expected);
        control.reason =
            fmt::format("{} {}{}", size_words(*trial), outcome_words(*trial), under_limit_words(*trial));
        if (trial->conditions_read)
            control.reason += trial->conditions.cap_ipc_lock ? " with CAP_IPC_LOCK" : " without CAP_IPC_LOCK";
        if (!trial->conditions_differ.empty())
            control.reason = "its conditions could not be set: " + trial->conditions_differ;
        return control;
    }
    const auto missing =
        std::find_if(findings.not_run.begin(), findings.not_run.end(), [&](const TrialNotRun& entry) {
            return entry.role == rule.role && entry.mechanism == mechanism;
        });
    control.reason = missing != findings.not_run.end() ? missing->reason : "it was not run";
    return control;
}

} // namespace

std::vector<Control> find_controls(const PinFindings& findings) {
    const std::span<const Trial> all(findings.trials);
    const auto mlock_trials = all.first(findings.control_trials);
    const auto judged_trials = all.subspan(findings.control_trials);
    std::vector<Control> controls;
    for (const auto& rule : {over_without_cap, over_with_cap, under})
        controls.push_back(make_control(rule, "mlock", mlock_trials, findings));

    // A mechanism with a budget of its own needs its own, once it was refused.
    for (const auto& facts : findings.judged) {
        const bool refused = std::any_of(judged_trials.begin(), judged_trials.end(), [&](const Trial& trial) {
            return trial.mechanism == facts.name && trial.role == Role::over &&
                   trial.outcome == Outcome::denied;
        });
        if (!refused || !counts_in_shared_budget(facts))
            continue;
        if (facts.capability_lifts)
            controls.push_back(make_control(over_with_cap, facts.name, judged_trials, findings));
        Control control = make_control(under, facts.name, judged_trials, findings);
        for (const auto& budget : findings.shared_budgets)
            if (budget.mechanism == facts.name)
                control.reason +=
                    fmt::format("; at most {} is granted: about {} of the budget that all processes of "
                                "this uid share is held by others",
                                format_bytes(budget.free_bytes), format_bytes(budget.held_bytes()));
        controls.push_back(std::move(control));
    }
    return controls;
}

} // namespace pinscope::analysis
