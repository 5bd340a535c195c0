// SPDX-License-Identifier: Apache-2.0
// Runs the trials that a verdict on each mechanism takes: over the limit first; where that is not granted,
// the trials to compare with; and the controls. Which trials follow depends on how the earlier ones ended;
// what they mean is analysis/'s to say.
#pragma once

#include "base/result.h"
#include "model/pin.h"
#include "pin/registry.h"
#include "pin/sizes.h"
#include "pin/trial_runner.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope::pin {

struct PinOptions {
    std::vector<const RegisteredMechanism*> mechanisms;
    bool named = false; // by --mechanism
    std::optional<uint64_t> size_bytes;
    LimitChoice limit;
    std::optional<bool> with_cap; // nothing: the default
    uint64_t count = 1;
    bool sweep = false;
    std::optional<pid_t> like;
    bool may_raise_hard_limit = false; // pinscope itself, whoever it tries to be like
};

// What is settled before the first trial. A plan can be shown without being carried out.
struct PinPlan {
    HostFacts host;
    PinQuestion question;
    Room room;
    PinOptions options;

    struct Entry {
        const RegisteredMechanism* mechanism;
        uint64_t size_bytes; // of one pin; `count` of them are held together
    };
    std::vector<Entry> entries;
};

// Fails, with Error::number EINVAL for what only the command line can mend and EPERM for what this host
// denies.
Result<PinPlan> make_plan(const PinOptions& options, const HostFacts& host, const Room& room);

class Experiment {
  public:
    // Called before each mechanism, with its place in the order and how many there are.
    using Progress = std::function<void(std::string_view mechanism, size_t done, size_t of)>;

    Experiment(const PinPlan& plan, const run::Stage& stage, const TrialRunner& runner)
        : plan_(plan), stage_(stage), runner_(runner) {}

    // Fails only where it was interrupted.
    Result<PinFindings> run(const Progress& progress);

  private:
    Conditions conditions(Limit soft, std::optional<Limit> hard, std::optional<bool> cap) const;
    // A copy of the trial that was added to the findings; nothing where it was not run, which is noted there.
    std::optional<Trial> try_trial(const TrialRequest& request);
    std::optional<Trial> try_again_while_refused(const TrialRequest& request);
    void not_run(const RegisteredMechanism& mechanism, Role role, std::string reason);
    std::string why_capability_cannot_be_added() const;

    void run_mechanism(const PinPlan::Entry& entry);
    void run_contrasts(const PinPlan::Entry& entry);
    bool try_limit_lifted(const PinPlan::Entry& entry);
    bool try_with_cap(const RegisteredMechanism& mechanism, uint64_t size, uint64_t count, Limit soft);
    void try_soft_pair(const RegisteredMechanism& mechanism);
    void run_under(const RegisteredMechanism& mechanism, Limit soft);
    void run_mlock_controls();
    void measure_shared_budget(const RegisteredMechanism& mechanism, Limit soft, uint64_t refused);

    const PinPlan& plan_;
    const run::Stage& stage_;
    const TrialRunner& runner_;
    PinFindings findings_;
};

} // namespace pinscope::pin
