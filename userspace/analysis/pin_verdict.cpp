// SPDX-License-Identifier: Apache-2.0
#include "analysis/limit_checks.h"
#include "analysis/nvidia_chain.h"
#include "analysis/pin_answer.h"
#include "analysis/words.h"
#include "base/bytes.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace pinscope::analysis {
namespace {

// One mechanism's part of the findings.
class Case {
  public:
    Case(const MechanismFacts& facts, const PinFindings& findings, const std::vector<Control>& controls)
        : facts_(facts), findings_(findings), controls_(controls) {
        for (const auto& trial : std::span(findings.trials).subspan(findings.control_trials))
            if (trial.mechanism == facts.name)
                trials_.push_back(&trial);
    }

    Verdict judge() const {
        Verdict verdict;
        verdict.mechanism = std::string(facts_.name);
        for (const Trial* trial : trials_)
            verdict.evidence.push_back(evidence_line(*trial));
        for (const auto& missing : findings_.not_run)
            if (missing.mechanism == facts_.name)
                verdict.evidence.push_back(
                    fmt::format("{}: not run: {}", role_name(missing.role), missing.reason));
        const Trial* over = find(Role::over);
        if (over == nullptr)
            set(verdict, VerdictKind::inconclusive, "it was not tried: " + why_not_run(Role::over));
        else if (!over->conditions_differ.empty())
            set(verdict, VerdictKind::inconclusive,
                "the conditions did not hold: " + over->conditions_differ);
        else
            judge_over(*over, verdict);
        if (over != nullptr) {
            name_decision(*over, verdict);
            name_driver(*over, verdict);
        }
        return verdict;
    }

  private:
    static void set(Verdict& verdict, VerdictKind kind, std::string reason) {
        verdict.kind = kind;
        verdict.reason = std::move(reason);
    }

    const Trial* find(Role role) const {
        const auto found = std::find_if(trials_.begin(), trials_.end(),
                                        [&](const Trial* trial) { return trial->role == role; });
        return found != trials_.end() ? *found : nullptr;
    }

    std::string why_not_run(Role role) const {
        for (const auto& missing : findings_.not_run)
            if (missing.mechanism == facts_.name && missing.role == role)
                return missing.reason;
        return "it was not reached";
    }

    bool is_granted(Role role) const {
        const Trial* trial = find(role);
        return trial != nullptr && trial->outcome == Outcome::granted && trial->conditions_differ.empty();
    }

    // "16 MiB", and under which limit
    std::string asked(const Trial& trial) const {
        return fmt::format("{} {}{}", size_words(trial), outcome_words(trial), under_limit_words(trial));
    }

    void judge_over(const Trial& over, Verdict& verdict) const {
        switch (over.outcome) {
        case Outcome::unsupported:
            return set(verdict, VerdictKind::unsupported, over.detail);
        case Outcome::granted:
            return judge_granted(over, verdict);
        case Outcome::denied:
        case Outcome::failed:
            return judge_refused(over, verdict);
        case Outcome::killed:
            if (over.cgroup_oom_kills.value_or(0) > 0)
                return set(verdict, VerdictKind::blocked_elsewhere,
                           fmt::format("{} met {}", size_words(over), cause_words(over, findings_.host)));
            break;
        case Outcome::not_mapped:
        case Outcome::crashed:
        case Outcome::timeout:
            break;
        }
        set(verdict, VerdictKind::inconclusive, fmt::format("{}: {}", size_words(over), outcome_words(over)));
    }

    void judge_granted(const Trial& over, Verdict& verdict) const {
        const Limit limit = over.conditions.memlock_soft;
        if (limit.unlimited)
            return set(verdict, VerdictKind::inconclusive,
                       fmt::format("{} granted, but the limit is unlimited: there is nothing to be over",
                                   size_words(over)));
        if (limit.allows(counted_bytes(over)))
            return set(verdict, VerdictKind::inconclusive,
                       fmt::format("{} granted, but {} is within the limit of {}", size_words(over),
                                   format_bytes(counted_bytes(over)), limit_text(limit)));
        if (over.conditions.cap_ipc_lock && findings_.host.in_initial_user_namespace != false)
            return set(
                verdict, VerdictKind::inconclusive,
                fmt::format("{} granted, but with CAP_IPC_LOCK, which lifts the limit", size_words(over)));
        if (const std::string open = open_control(); !open.empty())
            return set(verdict, VerdictKind::inconclusive,
                       fmt::format("{} granted, but {}", size_words(over), open));
        std::string reason = asked(over);
        if (!facts_.not_limited_because.empty())
            reason += fmt::format(": {}", facts_.not_limited_because);
        set(verdict, VerdictKind::not_enforced, std::move(reason));
    }

    // What NVIDIA's driver had to do with it.
    static void name_driver(const Trial& over, Verdict& verdict) {
        if (const auto chain = nvidia_chain(over); !chain.empty())
            verdict.evidence.push_back("chain: " + chain);
        for (const auto& words : {nvidia_refusal(over), nvidia_unfinished(over)})
            if (!words.empty())
                verdict.reason += "; " + words;
    }

    // Who decided, where the kernel side saw the request; the verdict's tier is that of this evidence.
    static void name_decision(const Trial& over, Verdict& verdict) {
        const bool enforced = verdict.kind == VerdictKind::enforced;
        if (!enforced && verdict.kind != VerdictKind::not_enforced)
            return;
        if (!over.windows) {
            if (enforced)
                verdict.evidence.emplace_back("who decided: not seen; inferred from counters and errno");
            return;
        }
        const auto checks = judge_limit_checks(over);
        const auto& sight = over.windows->sight;
        const std::string who = deciding_functions(checks);
        if (!enforced) {
            const bool would_see = sight.capability || sight.functions;
            verdict.tier = would_see ? sight_tier(sight) : Tier::user;
            if (would_see)
                verdict.evidence.push_back(not_asked_words(checks));
        } else if (who.empty()) {
            verdict.evidence.emplace_back(
                "who decided: no function was seen to; inferred from counters and errno");
            verdict.reason += "; inferred from counters and errno";
        } else {
            verdict.tier = deciding_tier(checks);
            verdict.evidence.push_back(
                fmt::format("who decided: {} ({} tier)", who, tier_name(verdict.tier)));
            verdict.reason += fmt::format("; decided by {}", who);
        }
    }

    static std::string not_asked_words(const std::vector<LimitCheck>& checks) {
        if (checks.empty())
            return "who decided: nobody asked about the limit inside the call";
        std::vector<std::string> names;
        names.reserve(checks.size());
        for (const auto& check : checks)
            names.push_back(check.function.empty() ? "a function without a name" : check.function);
        return fmt::format("who decided: nobody; asked inside the call: {}", join_and(names));
    }

    // What all granted pins count as at the limit; perf's allowance covers them together.
    static uint64_t counted_bytes(const Trial& trial) {
        const uint64_t charged =
            trial.charged_bytes.value_or(trial.size_bytes) * std::max<uint64_t>(1, trial.granted_count);
        return charged > trial.free_bytes ? charged - trial.free_bytes : 0;
    }

    // Which control keeps a grant from meaning anything; empty: none. The limit must be shown to stop mlock
    // over it, and mlock must be shown to be granted otherwise: under the limit, or, where that cannot be
    // tried, with the capability.
    std::string open_control() const {
        const auto state = [&](std::string_view name) {
            const auto found = std::find_if(controls_.begin(), controls_.end(), [&](const Control& control) {
                return control.mechanism == "mlock" && control.name == name;
            });
            return found != controls_.end() ? &*found : nullptr;
        };
        const Control* over = state("over_without_cap");
        const Control* under = state("under");
        const Control* with_cap = state("over_with_cap");
        if (over == nullptr || over->state != ControlState::holds)
            return explain(over, "over_without_cap");
        if (under != nullptr && under->state == ControlState::holds)
            return {};
        if (under != nullptr && under->state == ControlState::unavailable && with_cap != nullptr &&
            with_cap->state == ControlState::holds)
            return {};
        return explain(under, "under");
    }

    static std::string explain(const Control* control, std::string_view name) {
        if (control == nullptr)
            return fmt::format("the control {} is missing", name);
        return fmt::format("the control {} {}: mlock: {}", name,
                           control->state == ControlState::fails ? "fails" : "is unavailable",
                           control->reason);
    }

    void judge_refused(const Trial& over, Verdict& verdict) const {
        if (over.last_stop == StopPoint::initialised)
            return set(verdict, VerdictKind::inconclusive, asked(over));
        const std::string contrast = granted_contrast();
        if (!contrast.empty()) {
            if (over.outcome == Outcome::denied)
                return set(verdict, VerdictKind::enforced,
                           asked(over) + "; " + contrast + shared_budget_words());
            return set(verdict, VerdictKind::inconclusive,
                       fmt::format("{}, which is not the error documented for the limit; {}", asked(over),
                                   contrast));
        }
        if (const Trial* refused = refused_contrast())
            return set(verdict, VerdictKind::blocked_elsewhere,
                       fmt::format("{} (tried {}): {}{}", cause_words(*refused, findings_.host),
                                   without_limit(*refused), asked(over), smaller_words()));
        set(verdict, VerdictKind::inconclusive,
            fmt::format("{}, and nothing to compare with: {}", asked(over), why_no_contrast()));
    }

    static std::string without_limit(const Trial& trial) {
        return trial.role == Role::with_cap
                   ? "with CAP_IPC_LOCK"
                   : fmt::format("with the limit at {}", limit_text(trial.conditions.memlock_soft));
    }

    // How the same was granted when only one condition was changed; empty: it was not.
    std::string granted_contrast() const {
        if (is_granted(Role::limit_lifted))
            return fmt::format("granted {}", without_limit(*find(Role::limit_lifted)));
        if (is_granted(Role::with_cap))
            return fmt::format("granted {}", without_limit(*find(Role::with_cap)));
        const Trial* low = find(Role::soft_low);
        if (low != nullptr && low->outcome == Outcome::denied && low->conditions_differ.empty() &&
            is_granted(Role::soft_high))
            return fmt::format("{} refused under {} and granted under {}", size_words(*low),
                               limit_text(low->conditions.memlock_soft),
                               limit_text(find(Role::soft_high)->conditions.memlock_soft));
        return {};
    }

    // A trial without the limit in its way that was refused all the same.
    const Trial* refused_contrast() const {
        for (const Role role : {Role::limit_lifted, Role::with_cap, Role::soft_high}) {
            const Trial* trial = find(role);
            if (trial == nullptr || !trial->conditions_differ.empty())
                continue;
            const bool oom_kill =
                trial->outcome == Outcome::killed && trial->cgroup_oom_kills.value_or(0) > 0;
            // That the capability does not help says nothing where it is not documented to.
            const bool says_something = role != Role::with_cap || facts_.capability_lifts;
            if (says_something &&
                (trial->outcome == Outcome::denied || trial->outcome == Outcome::failed || oom_kill))
                return trial;
        }
        return nullptr;
    }

    std::string why_no_contrast() const {
        std::vector<std::string> reasons;
        for (const auto& missing : findings_.not_run)
            if (missing.mechanism == facts_.name && missing.role != Role::over && missing.role != Role::under)
                reasons.push_back(missing.reason);
        for (const Role role : {Role::limit_lifted, Role::with_cap, Role::soft_low, Role::soft_high})
            if (const Trial* trial = find(role))
                reasons.push_back(fmt::format("{} {}", role_name(role),
                                              trial->conditions_differ.empty() ? outcome_words(*trial)
                                                                               : trial->conditions_differ));
        std::string out;
        for (const auto& reason : reasons)
            out += (out.empty() ? "" : "; ") + reason;
        return out.empty() ? "no other trial was run" : out;
    }

    // How a size under the limit fared, where no error is documented to be the limit's.
    std::string smaller_words() const {
        const Trial* under = facts_.any_error_may_be_the_limit ? find(Role::under) : nullptr;
        if (under == nullptr)
            return {};
        if (under->outcome == Outcome::granted)
            return fmt::format("; {} granted: it depends on the size", size_words(*under));
        if (under->outcome == Outcome::denied || under->outcome == Outcome::failed)
            return fmt::format("; {} refused too: it does so at any size", size_words(*under));
        return {};
    }

    std::string shared_budget_words() const {
        for (const auto& budget : findings_.shared_budgets)
            if (budget.mechanism == facts_.name)
                return fmt::format(
                    "; only {} of the {} are free: other processes of this uid hold about {} of the "
                    "shared budget",
                    format_bytes(budget.free_bytes), format_bytes(budget.limit_bytes),
                    format_bytes(budget.held_bytes()));
        return {};
    }

    const MechanismFacts& facts_;
    const PinFindings& findings_;
    const std::vector<Control>& controls_;
    std::vector<const Trial*> trials_;
};

} // namespace

Verdict judge(const MechanismFacts& facts, const PinFindings& findings,
              const std::vector<Control>& controls) {
    return Case(facts, findings, controls).judge();
}

} // namespace pinscope::analysis
