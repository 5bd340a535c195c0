// SPDX-License-Identifier: Apache-2.0
// The truth table: every verdict has a case on each side of it.
#include "analysis/pin_answer.h"
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace pinscope::analysis {
namespace {

const TrialError enomem = {ErrorDomain::errno_value, ENOMEM};
const TrialError eperm = {ErrorDomain::errno_value, EPERM};
const TrialError einval = {ErrorDomain::errno_value, EINVAL};

MechanismFacts mechanism(std::vector<Budget> budgets = {Budget::locked_vm}) {
    MechanismFacts facts;
    facts.name = "judged";
    facts.over_limit = {enomem};
    facts.budgets = std::move(budgets);
    return facts;
}

Trial trial(std::string_view name, Role role, Outcome outcome, TrialError error = {}) {
    Trial made;
    made.mechanism = std::string(name);
    made.role = role;
    made.size_bytes = role == Role::under ? 4_MiB : 16_MiB;
    made.conditions.memlock_soft = role == Role::limit_lifted ? Limit::of(64_MiB) : Limit::of(8_MiB);
    made.conditions.memlock_hard = Limit::of(8_MiB);
    made.conditions.cap_ipc_lock = role == Role::with_cap;
    made.conditions_read = true;
    made.last_stop = StopPoint::allocated;
    made.outcome = outcome;
    made.error = error;
    made.call = "call";
    if (outcome == Outcome::granted) {
        made.granted_count = 1;
        made.charged_bytes = made.size_bytes;
        made.held_bytes = made.size_bytes;
    }
    return made;
}

// mlock's controls, as they are when the conditions hold; then the trials of the mechanism.
struct Findings : PinFindings {
    explicit Findings(std::vector<Trial> judged_trials, MechanismFacts facts = mechanism()) {
        host.in_initial_user_namespace = true;
        question.memlock_soft = Limit::of(8_MiB);
        trials = {trial("mlock", Role::over, Outcome::denied, enomem),
                  trial("mlock", Role::with_cap, Outcome::granted),
                  trial("mlock", Role::under, Outcome::granted)};
        control_trials = trials.size();
        for (auto& added : judged_trials)
            trials.push_back(std::move(added));
        judged.push_back(std::move(facts));
    }

    Trial& control(Role role) {
        for (size_t i = 0; i < control_trials; ++i)
            if (trials[i].role == role)
                return trials[i];
        return trials[0];
    }
    // As if it had not been run, for a reason.
    void remove_control(Role role, const std::string& reason) {
        for (size_t i = 0; i < control_trials; ++i) {
            if (trials[i].role == role) {
                trials.erase(trials.begin() + static_cast<std::ptrdiff_t>(i));
                --control_trials;
                break;
            }
        }
        not_run.push_back({"mlock", role, reason});
    }
    Verdict verdict() const { return answer_pin(*this).verdicts.at(0); }
};

Trial over(Outcome outcome, TrialError error = {}) {
    return trial("judged", Role::over, outcome, error);
}
Trial lifted(Outcome outcome, TrialError error = {}) {
    return trial("judged", Role::limit_lifted, outcome, error);
}
Trial with_cap(Outcome outcome, TrialError error = {}) {
    return trial("judged", Role::with_cap, outcome, error);
}

Trial soft_low(Outcome outcome, TrialError error = {}) {
    Trial made = trial("judged", Role::soft_low, outcome, error);
    made.size_bytes = 4_MiB;
    made.conditions.memlock_soft = Limit::of(2_MiB);
    return made;
}

Trial soft_high(Outcome outcome, TrialError error = {}) {
    Trial made = trial("judged", Role::soft_high, outcome, error);
    made.size_bytes = 4_MiB;
    return made;
}

#define EXPECT_VERDICT(findings, expected_kind, expected_words)                                              \
    do {                                                                                                     \
        const Verdict verdict = (findings).verdict();                                                        \
        EXPECT_EQ(verdict.kind, VerdictKind::expected_kind)                                                  \
            << verdict_name(verdict.kind) << ": " << verdict.reason;                                         \
        EXPECT_NE(verdict.reason.find(expected_words), std::string::npos) << verdict.reason;                 \
    } while (false)

TEST(Enforced, RefusedAndGrantedWithTheLimitLifted) {
    EXPECT_VERDICT(
        Findings({over(Outcome::denied, enomem), lifted(Outcome::granted)}), enforced,
        "16 MiB refused with ENOMEM (call) under a limit of 8 MiB; granted with the limit at 64 MiB");
}

TEST(Enforced, RefusedAndGrantedWithTheCapability) {
    EXPECT_VERDICT(Findings({over(Outcome::denied, enomem), with_cap(Outcome::granted)}), enforced,
                   "granted with CAP_IPC_LOCK");
}

TEST(Enforced, BySoftLimitsOnEitherSideOfTheSize) {
    EXPECT_VERDICT(Findings({over(Outcome::denied, enomem), soft_low(Outcome::denied, enomem),
                             soft_high(Outcome::granted)}),
                   enforced, "4 MiB refused under 2 MiB and granted under 8 MiB");
}

TEST(Enforced, NotByHalfAPair) {
    EXPECT_VERDICT(
        Findings({over(Outcome::denied, enomem), soft_low(Outcome::granted), soft_high(Outcome::granted)}),
        inconclusive, "nothing to compare with");
}

TEST(Enforced, NotByAContrastWhoseConditionsDidNotHold) {
    Trial contrast = with_cap(Outcome::granted);
    contrast.conditions_differ = "CAP_IPC_LOCK was lost with the exec";
    EXPECT_VERDICT(Findings({over(Outcome::denied, enomem), contrast}), inconclusive,
                   "was lost with the exec");
}

TEST(Enforced, ByTheFirstTouch) {
    MechanismFacts facts = mechanism();
    facts.over_limit = {{ErrorDomain::signal, SIGBUS}};
    EXPECT_VERDICT(
        Findings({over(Outcome::denied, {ErrorDomain::signal, SIGBUS}), lifted(Outcome::granted)}, facts),
        enforced, "refused with SIGBUS");
}

TEST(Enforced, SaysWhatOthersHoldOfASharedBudget) {
    Findings findings({over(Outcome::denied, enomem), with_cap(Outcome::granted)},
                      mechanism({Budget::user_locked_vm}));
    findings.shared_budgets.push_back({"judged", Budget::user_locked_vm, 8_MiB, 2_MiB});
    EXPECT_VERDICT(findings, enforced, "only 2 MiB of the 8 MiB are free");
    EXPECT_VERDICT(findings, enforced, "hold about 6 MiB");
}

TEST(NotEnforced, GrantedOverTheLimitWhileTheControlsHold) {
    EXPECT_VERDICT(Findings({over(Outcome::granted)}), not_enforced, "16 MiB granted under a limit of 8 MiB");
}

TEST(NotEnforced, NeedsTheFirstControlAndTheLast) {
    Findings without_cap({over(Outcome::granted)});
    without_cap.remove_control(Role::with_cap, "no capability");
    EXPECT_VERDICT(without_cap, not_enforced, "granted");

    Findings limit_does_nothing({over(Outcome::granted)});
    limit_does_nothing.control(Role::over) = trial("mlock", Role::over, Outcome::granted);
    EXPECT_VERDICT(limit_does_nothing, inconclusive, "the control over_without_cap fails");

    Findings mlock_always_fails({over(Outcome::granted)});
    mlock_always_fails.control(Role::under) = trial("mlock", Role::under, Outcome::denied, enomem);
    EXPECT_VERDICT(mlock_always_fails, inconclusive, "the control under fails");

    Findings cannot_set_up({over(Outcome::granted)});
    cannot_set_up.remove_control(Role::over, "EPERM");
    EXPECT_VERDICT(cannot_set_up, inconclusive, "the control over_without_cap is unavailable");
}

// Where the limit has no room for a page, that mlock is granted with the capability shows the same.
TEST(NotEnforced, TheCapabilityStandsInForUnder) {
    Findings findings({over(Outcome::granted)});
    findings.remove_control(Role::under, "no room");
    EXPECT_VERDICT(findings, not_enforced, "granted");
    findings.remove_control(Role::with_cap, "no capability");
    EXPECT_VERDICT(findings, inconclusive, "the control under is unavailable");
}

TEST(NotEnforced, NotFromAControlOfOtherConditions) {
    Findings findings({over(Outcome::granted)});
    findings.control(Role::over).conditions_differ = "the soft limit is unlimited, not 8 MiB";
    EXPECT_VERDICT(findings, inconclusive, "is unavailable");
}

TEST(Inconclusive, WhatWouldBeGrantedAnyway) {
    Trial small = over(Outcome::granted);
    small.size_bytes = 4_MiB;
    small.charged_bytes = 4_MiB;
    EXPECT_VERDICT(Findings({small}), inconclusive, "4 MiB is within the limit of 8 MiB");

    Trial capable = over(Outcome::granted);
    capable.conditions.cap_ipc_lock = true;
    EXPECT_VERDICT(Findings({capable}), inconclusive, "CAP_IPC_LOCK, which lifts the limit");

    Trial unlimited = over(Outcome::granted);
    unlimited.conditions.memlock_soft = Limit::none();
    EXPECT_VERDICT(Findings({unlimited}), inconclusive, "the limit is unlimited");

    // 9 MiB of which the allowance covers one.
    Trial free = over(Outcome::granted);
    free.charged_bytes = 9_MiB;
    free.free_bytes = 1_MiB;
    EXPECT_VERDICT(Findings({free}), inconclusive, "8 MiB is within the limit");
}

// In a child user namespace the capability is held and does not count.
TEST(Inconclusive, NotForACapabilityThatDoesNotCount) {
    Trial capable = over(Outcome::granted);
    capable.conditions.cap_ipc_lock = true;
    Findings findings({capable});
    findings.host.in_initial_user_namespace = false;
    EXPECT_VERDICT(findings, not_enforced, "granted");
}

TEST(Inconclusive, PinsTogetherAreWhatCounts) {
    Trial several = over(Outcome::granted);
    several.count = 8;
    several.granted_count = 8;
    several.size_bytes = 2_MiB;
    several.charged_bytes = 2_MiB;
    EXPECT_VERDICT(Findings({several}), not_enforced, "8 times 2 MiB granted");
    several.count = 4;
    several.granted_count = 4;
    EXPECT_VERDICT(Findings({several}), inconclusive, "8 MiB is within the limit");
}

TEST(Inconclusive, LiesHangsCrashesAndUnknownKills) {
    Trial lie = over(Outcome::not_mapped);
    lie.detail = "the memory does not hold what was written to it";
    EXPECT_VERDICT(Findings({lie}), inconclusive, "does not hold");
    Trial hang = over(Outcome::timeout);
    hang.detail = "no answer within 10000 ms";
    EXPECT_VERDICT(Findings({hang}), inconclusive, "no answer");
    Trial crash = over(Outcome::crashed);
    crash.detail = "the trial process died of SIGSEGV";
    EXPECT_VERDICT(Findings({crash}), inconclusive, "SIGSEGV");
    Trial kill = over(Outcome::killed);
    kill.detail = "killed, by whom is not known";
    EXPECT_VERDICT(Findings({kill}), inconclusive, "by whom");
}

TEST(Inconclusive, RefusedWithNothingToCompare) {
    Findings findings({over(Outcome::denied, enomem)});
    findings.not_run.push_back({"judged", Role::limit_lifted, "the hard limit is 8 MiB"});
    EXPECT_VERDICT(findings, inconclusive, "nothing to compare with: the hard limit is 8 MiB");
}

TEST(Inconclusive, AnotherErrorThatGoesAwayWithTheLimit) {
    EXPECT_VERDICT(Findings({over(Outcome::failed, einval), lifted(Outcome::granted)}), inconclusive,
                   "not the error documented");
}

// What fails before the request was made says nothing of the limit.
TEST(Inconclusive, NeverAskedFor) {
    Trial unprepared = over(Outcome::failed, enomem);
    unprepared.last_stop = StopPoint::initialised;
    EXPECT_VERDICT(Findings({unprepared, lifted(Outcome::granted)}), inconclusive,
                   "preparing it failed with ENOMEM");
    Findings findings({over(Outcome::granted)});
    findings.control(Role::over) = trial("mlock", Role::over, Outcome::failed, enomem);
    findings.control(Role::over).last_stop = StopPoint::initialised;
    EXPECT_EQ(find_controls(findings)[0].state, ControlState::unavailable);
}

// A limit that was never read back is not said to be 0.
TEST(Inconclusive, NamesNoLimitThatWasNotRead) {
    Trial hang = over(Outcome::timeout);
    hang.conditions_read = false;
    hang.conditions.memlock_soft = Limit::of(0);
    hang.detail = "no answer within 1 ms";
    const Verdict verdict = Findings({hang}).verdict();
    EXPECT_EQ(verdict.reason.find("0 B"), std::string::npos) << verdict.reason;
    EXPECT_EQ(verdict.evidence.at(0).find("0 B"), std::string::npos) << verdict.evidence.at(0);
}

TEST(Inconclusive, NotRunAtAll) {
    Findings findings({});
    findings.not_run.push_back({"judged", Role::over, "memory.oom.group is set"});
    EXPECT_VERDICT(findings, inconclusive, "memory.oom.group is set");
}

TEST(Inconclusive, ConditionsThatDidNotHold) {
    Trial other = over(Outcome::granted);
    other.conditions_differ = "CAP_IPC_LOCK came back with the exec";
    EXPECT_VERDICT(Findings({other}), inconclusive, "came back");
}

TEST(BlockedElsewhere, RefusedAlsoWithoutTheLimit) {
    EXPECT_VERDICT(Findings({over(Outcome::denied, enomem), lifted(Outcome::denied, enomem)}),
                   blocked_elsewhere, "ENOMEM from call (tried with the limit at 64 MiB)");
    EXPECT_VERDICT(Findings({over(Outcome::failed, eperm), with_cap(Outcome::failed, eperm)}),
                   blocked_elsewhere, "a missing permission");
}

TEST(BlockedElsewhere, NamesOvercommitAndTheCgroup) {
    Findings overcommit({over(Outcome::failed, enomem), lifted(Outcome::failed, enomem)});
    overcommit.host.overcommit_memory = 2;
    EXPECT_VERDICT(overcommit, blocked_elsewhere, "vm.overcommit_memory=2");

    Trial killed = lifted(Outcome::killed);
    killed.cgroup_oom_kills = 1;
    killed.conditions.cgroup_limit = Limit::of(12_MiB);
    EXPECT_VERDICT(Findings({over(Outcome::denied, enomem), killed}), blocked_elsewhere,
                   "the memory cgroup's limit of 12 MiB (OOM kill)");

    Trial over_killed = over(Outcome::killed);
    over_killed.cgroup_oom_kills = 1;
    over_killed.conditions.cgroup_limit = Limit::of(12_MiB);
    EXPECT_VERDICT(Findings({over_killed}), blocked_elsewhere,
                   "16 MiB met the memory cgroup's limit of 12 MiB");
}

// A capability that is not documented to help proves nothing by not helping.
TEST(BlockedElsewhere, NotByACapabilityThatIsNotDocumentedToHelp) {
    MechanismFacts facts = mechanism();
    facts.capability_lifts = false;
    EXPECT_VERDICT(Findings({over(Outcome::denied, enomem), with_cap(Outcome::denied, enomem)}, facts),
                   inconclusive, "nothing to compare with");
}

TEST(Unsupported, SaysWhy) {
    Trial missing = over(Outcome::unsupported);
    missing.detail = "this kernel has no AF_XDP sockets";
    EXPECT_VERDICT(Findings({missing}), unsupported, "no AF_XDP sockets");
}

TEST(Controls, HoldFailAndCannotBeSetUp) {
    Findings findings({});
    findings.control(Role::under) = trial("mlock", Role::under, Outcome::denied, enomem);
    findings.remove_control(Role::with_cap, "CAP_IPC_LOCK is not to be had here");
    const auto controls = find_controls(findings);
    ASSERT_EQ(controls.size(), 3U);
    EXPECT_EQ(controls[0].state, ControlState::holds);
    EXPECT_EQ(controls[0].observed, "denied");
    EXPECT_EQ(controls[1].state, ControlState::unavailable);
    EXPECT_EQ(controls[1].observed, std::nullopt);
    EXPECT_EQ(controls[1].reason, "CAP_IPC_LOCK is not to be had here");
    EXPECT_EQ(controls[2].state, ControlState::fails);
}

TEST(Controls, AKilledTrialLeavesItOpen) {
    Findings findings({});
    findings.control(Role::with_cap) = trial("mlock", Role::with_cap, Outcome::killed);
    EXPECT_EQ(find_controls(findings)[1].state, ControlState::unavailable);
}

TEST(Controls, ABudgetOfItsOwnHasItsOwn) {
    const auto own_budget = mechanism({Budget::user_locked_vm});
    Findings findings({over(Outcome::denied, enomem), with_cap(Outcome::granted),
                       trial("judged", Role::under, Outcome::granted)},
                      own_budget);
    const auto controls = find_controls(findings);
    ASSERT_EQ(controls.size(), 5U);
    EXPECT_EQ(controls[3].mechanism, "judged");
    EXPECT_EQ(controls[3].state, ControlState::holds);
    EXPECT_EQ(controls[4].name, "under");
    EXPECT_EQ(controls[4].state, ControlState::holds);
    // None where it was granted: then mlock's are leant on.
    EXPECT_EQ(find_controls(Findings({over(Outcome::granted)}, own_budget)).size(), 3U);
}

CudaFacts cuda(bool answered, bool usable, std::string detail) {
    CudaFacts facts;
    facts.answered = answered;
    facts.usable = usable;
    facts.detail = std::move(detail);
    return facts;
}

TEST(Cuda, UnsupportedNamesTheMissingDriver) {
    Findings findings({});
    findings.judged.clear();
    findings.cuda_named = {"cudaHostAlloc"};
    findings.host.cuda = cuda(false, false, "pinscope-cuda is not beside this program");
    EXPECT_VERDICT(findings, unsupported,
                   "CUDA was not looked at (pinscope-cuda is not beside this program)");
    findings.host.cuda = cuda(true, false, "libcuda.so.1: not found");
    EXPECT_VERDICT(findings, unsupported, "no NVIDIA driver here");
    EXPECT_NE(answer_pin(findings).cuda_line.find("not judged"), std::string::npos);
    findings.host.cuda = cuda(true, false, "cuInit answers 100");
    EXPECT_VERDICT(findings, unsupported, "cuInit answers 100");
    findings.host.nvidia.driver_version = "560.35.03";
    EXPECT_VERDICT(findings, unsupported, "560.35.03");
}

constexpr TrialError cuda_out_of_memory = {ErrorDomain::cuda, 2};

MechanismFacts cuda_mechanism() {
    auto facts = mechanism({});
    facts.name = "cudaHostAlloc";
    facts.any_error_may_be_the_limit = true;
    return facts;
}

// As trials of cudaHostAlloc.
Findings cuda_findings(std::vector<Trial> trials) {
    for (auto& one : trials)
        one.mechanism = "cudaHostAlloc";
    Findings findings(std::move(trials), cuda_mechanism());
    findings.host.cuda = cuda(true, true, "CUDA 12.6, 2 devices");
    return findings;
}

TEST(Cuda, AnErrorThatGoesWithTheLimitIsTheLimits) {
    const auto findings =
        cuda_findings({over(Outcome::denied, cuda_out_of_memory), lifted(Outcome::granted)});
    EXPECT_VERDICT(findings, enforced, "CUDA runtime error 2");
    EXPECT_EQ(answer_pin(findings).cuda_line, "the limit stops cudaHostAlloc (CUDA 12.6, 2 devices)");
}

TEST(Cuda, AnErrorThatStaysIsNot) {
    const auto refused = trial("judged", Role::under, Outcome::denied, cuda_out_of_memory);
    const auto always = cuda_findings(
        {over(Outcome::denied, cuda_out_of_memory), lifted(Outcome::denied, cuda_out_of_memory), refused});
    EXPECT_VERDICT(always, blocked_elsewhere, "at any size");
    EXPECT_EQ(answer_pin(always).cuda_line, "for another reason fail cudaHostAlloc (CUDA 12.6, 2 devices)");
    const auto large =
        cuda_findings({over(Outcome::denied, cuda_out_of_memory), lifted(Outcome::denied, cuda_out_of_memory),
                       trial("judged", Role::under, Outcome::granted)});
    EXPECT_VERDICT(large, blocked_elsewhere, "it depends on the size");
}

TEST(Cuda, AGrantSaysThatTheLimitDoesNotStopIt) {
    const auto findings = cuda_findings({over(Outcome::granted)});
    EXPECT_VERDICT(findings, not_enforced, "granted");
    EXPECT_EQ(answer_pin(findings).cuda_line, "the limit does not stop cudaHostAlloc (CUDA 12.6, 2 devices)");
}

TEST(Answer, IsTheSameForTheSameFindings) {
    const Findings findings({over(Outcome::denied, enomem), lifted(Outcome::granted)});
    const auto first = answer_pin(findings);
    const auto second = answer_pin(findings);
    EXPECT_EQ(first.verdicts[0].reason, second.verdicts[0].reason);
    EXPECT_EQ(first.advice, second.advice);
}

} // namespace
} // namespace pinscope::analysis
