// SPDX-License-Identifier: Apache-2.0
#include "pin/experiment.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "pin/sweep.h"

#include <fmt/format.h>

#include <linux/capability.h>

#include <algorithm>
#include <thread>

namespace pinscope::pin {
namespace {

using std::chrono::milliseconds;

// What an ended trial held at a shared budget is given back by deferred work (an RCU grace period for AF_XDP,
// a workqueue for io_uring), so a refusal right after one is looked at again.
constexpr int most_tries = 6;
constexpr int most_tries_in_bisection = 3; // where a refusal is the likelier answer
constexpr milliseconds first_pause{10};

// Of one pin: together the pins are over the limit.
uint64_t choose_size(const PinOptions& options, Limit soft, const RegisteredMechanism& mechanism) {
    if (options.size_bytes)
        return mechanism.fit_size(round_up(*options.size_bytes, page_size()));
    const uint64_t over = size_over(soft.unlimited ? 8_MiB : soft.bytes, mechanism);
    return mechanism.fit_size(round_up(over / options.count, page_size()));
}

bool interrupted() {
    return run::Interruption::signal() != 0;
}

} // namespace

Result<PinPlan> make_plan(const PinOptions& options, const HostFacts& host, const Room& room) {
    PinPlan plan;
    plan.host = host;
    plan.room = room;
    plan.options = options;
    LimitChoice choice = options.limit;
    // Of another process it is that process's own limit that is asked about.
    if (options.like && choice.kind == LimitChoice::Kind::fitting)
        choice.kind = LimitChoice::Kind::current;
    const auto [soft, because] = choose_soft_limit(choice, host, room);
    // As the process of --like has it, unless it is said; else without.
    std::optional<bool> cap = options.with_cap;
    if (!cap && !options.like)
        cap = false;
    plan.question = {soft, because, cap, options.size_bytes, options.like, options.named};

    if (!host.memlock_hard.allows(soft.bytes) || (soft.unlimited && !host.memlock_hard.unlimited)) {
        if (!options.may_raise_hard_limit)
            return fail({"cannot try under a memlock limit of", limit_text(soft),
                         fmt::format("the hard limit here is {}, and raising it takes CAP_SYS_RESOURCE",
                                     limit_text(host.memlock_hard)),
                         fmt::format("choose --memlock {} or less, or raise the hard limit first",
                                     limit_text(host.memlock_hard)),
                         EPERM});
    }
    for (const auto* mechanism : options.mechanisms) {
        const uint64_t size = choose_size(options, soft, *mechanism);
        const uint64_t total = size * options.count;
        const auto bound = host.memory_available_bytes;
        if (bound && (total > *bound || total / options.count != size))
            return fail({"cannot pin",
                         options.count > 1 ? fmt::format("{} times {}", options.count, format_bytes(size))
                                           : format_bytes(size),
                         fmt::format("this host has {} available", format_bytes(*bound)),
                         options.size_bytes || options.count > 1
                             ? "choose a smaller --size or --count"
                             : "choose a smaller --memlock: the size is chosen to go over it",
                         EINVAL});
        plan.entries.push_back({mechanism, size});
    }
    return plan;
}

Conditions Experiment::conditions(Limit soft, std::optional<Limit> hard, std::optional<bool> cap) const {
    Conditions wanted;
    wanted.memlock_soft = soft;
    wanted.memlock_hard = hard.value_or(plan_.host.memlock_hard);
    if (!wanted.memlock_hard->allows(soft.bytes) || soft.unlimited)
        wanted.memlock_hard = soft;
    wanted.cap_ipc_lock = cap;
    wanted.like = plan_.options.like;
    wanted.capabilities =
        plan_.options.like ? std::optional<uint64_t>(plan_.host.like_capabilities) : std::nullopt;
    if (wanted.capabilities && cap) {
        constexpr uint64_t bit = uint64_t{1} << CAP_IPC_LOCK;
        wanted.capabilities = *cap ? *wanted.capabilities | bit : *wanted.capabilities & ~bit;
    }
    return wanted;
}

void Experiment::not_run(const RegisteredMechanism& mechanism, Role role, std::string reason) {
    findings_.not_run.push_back({std::string(mechanism.facts.name), role, std::move(reason)});
}

std::optional<Trial> Experiment::try_trial(const TrialRequest& request) {
    if (interrupted())
        return std::nullopt;
    const auto& oom_group = plan_.host.cgroup.oom_group_folder;
    const uint64_t total = request.size_bytes * request.count;
    if (!oom_group.empty() && plan_.room.bytes && total > *plan_.room.bytes) {
        not_run(*request.mechanism, request.role,
                fmt::format(
                    "{} may meet the cgroup's limit, and memory.oom.group is set on {}: a kill would take "
                    "every process in it",
                    format_bytes(total), oom_group));
        return std::nullopt;
    }
    auto trial = runner_.run(request);
    if (!trial) {
        if (!interrupted())
            not_run(*request.mechanism, request.role, trial.error().text());
        return std::nullopt;
    }
    findings_.trials.push_back(*trial);
    return std::move(*trial);
}

std::optional<Trial> Experiment::try_again_while_refused(const TrialRequest& request) {
    const int tries_allowed = request.role == Role::sweep ? most_tries_in_bisection : most_tries;
    auto pause = first_pause;
    for (int tries = 1;; ++tries) {
        auto trial = try_trial(request);
        if (!trial || trial->outcome != Outcome::denied || tries == tries_allowed ||
            !counts_in_shared_budget(request.mechanism->facts))
            return trial;
        findings_.trials.pop_back(); // superseded by the next
        std::this_thread::sleep_for(pause);
        pause *= 2;
    }
}

std::string Experiment::why_capability_cannot_be_added() const {
    const auto& host = plan_.host;
    if (host.in_initial_user_namespace == false)
        return "in a child user namespace CAP_IPC_LOCK does not count: the kernel asks for it in the initial "
               "one";
    const auto& cap = host.cap_ipc_lock;
    if (plan_.options.like)
        return ""; // from our own permitted set, which the start of the trial will show
    if (!cap.permitted && !(host.uid == 0 && cap.bounding))
        return "CAP_IPC_LOCK is not to be had here";
    return "";
}

bool Experiment::try_with_cap(const RegisteredMechanism& mechanism, uint64_t size, uint64_t count,
                              Limit soft) {
    if (auto reason = why_capability_cannot_be_added(); !reason.empty()) {
        not_run(mechanism, Role::with_cap, std::move(reason));
        return false;
    }
    const auto trial =
        try_again_while_refused({&mechanism, Role::with_cap, size, count, false, conditions(soft, {}, true)});
    return trial && trial->outcome == Outcome::granted;
}

bool Experiment::try_limit_lifted(const PinPlan::Entry& entry) {
    const auto& host = plan_.host;
    const auto& mechanism = *entry.mechanism;
    const uint64_t total = entry.size_bytes * plan_.options.count;
    std::optional<Limit> hard;
    Limit soft = Limit::of(4 * total);
    if (!host.memlock_hard.allows(soft.bytes)) {
        if (plan_.options.may_raise_hard_limit) {
            hard = soft;
        } else if (host.memlock_hard.allows(total + mechanism.allowance() + 2 * page_size())) {
            soft = host.memlock_hard;
        } else {
            not_run(mechanism, Role::limit_lifted,
                    fmt::format("the hard limit is {}, and raising it takes CAP_SYS_RESOURCE",
                                limit_text(host.memlock_hard)));
            return false;
        }
    }
    const auto trial =
        try_again_while_refused({&mechanism, Role::limit_lifted, entry.size_bytes, plan_.options.count, false,
                                 conditions(soft, hard, plan_.question.cap_ipc_lock)});
    return trial && trial->outcome == Outcome::granted;
}

void Experiment::try_soft_pair(const RegisteredMechanism& mechanism) {
    // Near the limit in question: a hard limit of terabytes is not to be filled.
    const Limit near = Limit::of(std::max(plan_.question.memlock_soft.bytes, uint64_t{8_MiB}));
    const Limit high = lower(plan_.host.memlock_hard, near);
    const auto pair = pair_below(high.bytes, mechanism);
    if (!pair) {
        not_run(
            mechanism, Role::soft_low,
            fmt::format("a hard limit of {} leaves no room to move the soft one below it", limit_text(high)));
        return;
    }
    const auto cap = plan_.question.cap_ipc_lock;
    try_trial(
        {&mechanism, Role::soft_low, pair->size, 1, false, conditions(Limit::of(pair->soft_below), {}, cap)});
    try_again_while_refused({&mechanism, Role::soft_high, pair->size, 1, false, conditions(high, {}, cap)});
}

void Experiment::run_under(const RegisteredMechanism& mechanism, Limit soft) {
    // Where the limit itself has no room for a page, a higher soft limit shows as well that requests are
    // granted.
    if (!soft.unlimited && !size_under(soft.bytes, mechanism))
        soft = lower(Limit::of(1_MiB), plan_.host.memlock_hard);
    const auto size = size_under(soft.unlimited ? 8_MiB : soft.bytes, mechanism);
    if (!size) {
        not_run(
            mechanism, Role::under,
            fmt::format("the hard limit of {} has no room for a page", limit_text(plan_.host.memlock_hard)));
        return;
    }
    const auto trial =
        try_again_while_refused({&mechanism, Role::under, *size, 1, false, conditions(soft, {}, false)});
    if (trial && trial->outcome == Outcome::denied && !soft.unlimited &&
        counts_in_shared_budget(mechanism.facts))
        measure_shared_budget(mechanism, soft, *size);
}

void Experiment::measure_shared_budget(const RegisteredMechanism& mechanism, Limit soft, uint64_t refused) {
    const auto found = bisect(refused, mechanism, [&](uint64_t size) {
        const auto trial =
            try_again_while_refused({&mechanism, Role::sweep, size, 1, false, conditions(soft, {}, false)});
        if (trial)
            findings_.trials.pop_back();
        return trial && trial->outcome == Outcome::granted;
    });
    const auto budget =
        std::find_if(mechanism.facts.budgets.begin(), mechanism.facts.budgets.end(), is_shared);
    findings_.shared_budgets.push_back(
        {std::string(mechanism.facts.name), *budget, soft.bytes, found.largest_granted.value_or(0)});
}

void Experiment::run_contrasts(const PinPlan::Entry& entry) {
    const auto& mechanism = *entry.mechanism;
    bool granted = try_limit_lifted(entry);
    // The capability is a control of its own for budgets that mlock's controls say nothing of.
    if (!granted || (counts_in_shared_budget(mechanism.facts) && mechanism.facts.capability_lifts))
        granted =
            try_with_cap(mechanism, entry.size_bytes, plan_.options.count, plan_.question.memlock_soft) ||
            granted;
    if (!granted)
        try_soft_pair(mechanism);
}

void Experiment::run_mechanism(const PinPlan::Entry& entry) {
    const auto& question = plan_.question;
    const auto& mechanism = *entry.mechanism;
    if (plan_.options.count > 1 && !mechanism.repeatable) {
        not_run(mechanism, Role::over, "one process cannot hold several of it at a time");
        return;
    }
    const auto over = try_trial({&mechanism, Role::over, entry.size_bytes, plan_.options.count, false,
                                 conditions(question.memlock_soft, {}, question.cap_ipc_lock)});
    if (!over || over->outcome == Outcome::unsupported || over->outcome == Outcome::granted)
        return;
    run_contrasts(entry);
    // Whether smaller requests fare better: a budget that others share, an error of which nothing is
    // documented.
    if (counts_in_shared_budget(mechanism.facts) || mechanism.facts.any_error_may_be_the_limit)
        run_under(mechanism, question.memlock_soft);
}

// mlock over the limit without and with the capability, and under it: what the other verdicts lean on.
void Experiment::run_mlock_controls() {
    const auto& mlock = *find_mechanism("mlock");
    // A control needs a limit to be over of.
    const Limit soft = plan_.question.memlock_soft.unlimited
                           ? lower(Limit::of(8_MiB), plan_.host.memlock_hard)
                           : plan_.question.memlock_soft;
    const uint64_t size = size_over(soft.bytes, mlock);
    try_trial({&mlock, Role::over, size, 1, false, conditions(soft, {}, false)});
    try_with_cap(mlock, size, 1, soft);
    run_under(mlock, soft);
}

Result<PinFindings> Experiment::run(const Progress& progress) {
    const auto began = MonotonicClock::now();
    findings_.host = plan_.host;
    findings_.question = plan_.question;
    if (const auto& place = stage_.leaf().place())
        findings_.leaf_folder = place->folder;
    findings_.leaf_shared_because = stage_.leaf().shared_because();
    for (const auto& entry : plan_.entries)
        findings_.judged.push_back(entry.mechanism->facts);

    const size_t of = plan_.entries.size() + 1;
    size_t done = 0;
    progress("controls", done, of);
    run_mlock_controls();
    findings_.control_trials = findings_.trials.size();
    for (const auto& entry : plan_.entries) {
        progress(entry.mechanism->facts.name, ++done, of);
        run_mechanism(entry);
        if (plan_.options.sweep && !interrupted())
            findings_.sweeps.push_back(
                sweep(*entry.mechanism, plan_, runner_,
                      conditions(plan_.question.memlock_soft, {}, plan_.question.cap_ipc_lock)));
    }
    if (interrupted())
        return fail({"interrupted", "", "", "", EINTR});
    findings_.duration_ns = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(MonotonicClock::now() - began).count());
    return std::move(findings_);
}

} // namespace pinscope::pin
