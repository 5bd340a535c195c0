// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_process.h"

#include "base/bytes.h"
#include "base/text.h"
#include "run/call_window.h"
#include "trial/mechanism.h"

#include <cap-ng.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace pinscope::trial {
namespace {

using run::get_text;
using run::set_text;
using run::StepResult;
using run::StopMessage;

constexpr std::string_view cumulative_word = "cumulative";
constexpr std::string_view raise_word = "raise";
constexpr std::chrono::milliseconds give_back_time{30};

void raise_cap_ipc_lock() {
    ::capng_get_caps_process();
    if (::capng_have_capability(CAPNG_PERMITTED, CAP_IPC_LOCK) == 0)
        return;
    ::capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, CAP_IPC_LOCK);
    (void)::capng_apply(CAPNG_SELECT_CAPS); // the conditions read back will tell
}

class TrialProcess {
  public:
    TrialProcess(const RegisteredMechanism& mechanism, const TrialTask& task)
        : mechanism_(mechanism), task_(task) {}

    void run() {
        if (!task_.cumulative && !prepare_all())
            return;
        send(StopPoint::initialised);
        if (task_.cumulative ? !pin_cumulatively() : !pin_all())
            return;
        send(StopPoint::allocated);
        run::in_call_window(touch_window, [&] {
            for (const auto& pin : pins_)
                pin->touch();
        });
        send(StopPoint::touched);
        for (const auto& pin : pins_) {
            const bool holds = pin->verify();
            set_text(message_.detail, pin->findings());
            if (!holds) {
                message_.result = StepResult::not_mapped;
                if (get_text(message_.detail).empty())
                    set_text(message_.detail,
                             "the call succeeded, but the memory does not hold what was written to it");
                break;
            }
        }
        send(StopPoint::verified);
        pins_.clear();
        send(StopPoint::freed);
    }

  private:
    bool prepare_all() {
        for (uint64_t i = 0; i < task_.count; ++i) {
            pins_.push_back(mechanism_.create());
            if (auto step = pins_.back()->prepare(task_.size_bytes); !step)
                return report(StopPoint::initialised, step);
        }
        return true;
    }

    bool pin_all() {
        Step step;
        run::in_call_window(request_window, [&] {
            for (size_t i = 0; i < pins_.size() && step; ++i) {
                step = pins_[i]->pin();
                if (step)
                    note_granted(*pins_[i], task_.size_bytes);
            }
        });
        return step || report(StopPoint::allocated, step);
    }

    // Largest pieces first: what is left over in the end is less than a page.
    bool pin_cumulatively() {
        const uint64_t bound = task_.count * task_.size_bytes;
        uint64_t piece = task_.size_bytes;
        Step last;
        while (message_.held_bytes < bound) {
            auto pin = mechanism_.create();
            Step step = pin->prepare(piece);
            if (step)
                step = pin->pin();
            if (step) {
                note_granted(*pin, piece);
                pins_.push_back(std::move(pin));
                continue;
            }
            if (step.result == StepResult::unsupported)
                return report(StopPoint::allocated, step);
            last = std::move(step);
            // What the refused attempt had taken of a shared budget comes back by deferred work.
            pin.reset();
            if (counts_in_shared_budget(mechanism_.facts))
                std::this_thread::sleep_for(give_back_time);
            const uint64_t half = round_down(piece / 2, page_size());
            if (half == 0 || mechanism_.fit_size(half) >= piece)
                return report(StopPoint::allocated, last);
            piece = mechanism_.fit_size(half);
        }
        return true;
    }

    void note_granted(const Mechanism& pin, uint64_t bytes) {
        message_.charged_bytes = pin.charged_bytes();
        message_.granted_count += 1;
        message_.held_bytes += bytes;
    }

    void send(StopPoint at) {
        message_.at = at;
        channel_.stop(message_);
    }

    // Sends a failed step; always false, for the callers to pass on.
    bool report(StopPoint at, const Step& step) {
        message_.result = step.result;
        message_.domain = step.domain;
        message_.code = step.error;
        set_text(message_.call, step.call);
        set_text(message_.detail, step.detail);
        send(at);
        return false;
    }

    const RegisteredMechanism& mechanism_;
    const TrialTask& task_;
    run::StopChannel channel_{run::StopChannel::trial_fd};
    StopMessage message_;
    std::vector<std::unique_ptr<Mechanism>> pins_;
};

} // namespace

std::vector<std::string> to_arguments(const TrialTask& task) {
    return {task.mechanism, fmt::format("{}", task.size_bytes), fmt::format("{}", task.count),
            std::string(task.cumulative ? cumulative_word : ""),
            std::string(task.raise_cap_ipc_lock ? raise_word : "")};
}

int run_trial_process(const std::vector<std::string>& arguments,
                      const RegisteredMechanism* (*find)(std::string_view name)) {
    const bool complete = arguments.size() == to_arguments({}).size();
    const auto size = complete ? parse_unsigned(arguments[1]) : std::nullopt;
    const auto count = complete ? parse_unsigned(arguments[2]) : std::nullopt;
    const RegisteredMechanism* mechanism = complete ? find(arguments[0]) : nullptr;
    if (!size || !count || mechanism == nullptr) {
        std::fputs("pinscope: this verb is for pinscope's own use\n", stderr);
        return 2;
    }
    const TrialTask task{arguments[0], *size, *count, arguments[3] == cumulative_word,
                         arguments[4] == raise_word};
    if (task.raise_cap_ipc_lock)
        raise_cap_ipc_lock();
    TrialProcess(*mechanism, task).run();
    return 0;
}

} // namespace pinscope::trial
