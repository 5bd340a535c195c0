// SPDX-License-Identifier: Apache-2.0
#include "report/pin_text.h"

#include "base/bytes.h"
#include "base/text.h"
#include "report/json_text.h"
#include "report/pin_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pinscope::report {
namespace {

constexpr size_t label_width = 10;

std::string_view verdict_words(VerdictKind kind) {
    switch (kind) {
    case VerdictKind::enforced:
        return "enforced";
    case VerdictKind::not_enforced:
        return "not enforced";
    case VerdictKind::blocked_elsewhere:
        return "fails for another reason";
    case VerdictKind::unsupported:
        return "unsupported";
    case VerdictKind::inconclusive:
        return "inconclusive";
    }
    return {};
}

Tone verdict_tone(VerdictKind kind) {
    switch (kind) {
    case VerdictKind::enforced:
    case VerdictKind::blocked_elsewhere:
        return Tone::bad;
    case VerdictKind::not_enforced:
        return Tone::good;
    default:
        return Tone::quiet;
    }
}

std::string_view tier_words(Tier tier) {
    switch (tier) {
    case Tier::user:
        return "user: error codes, and counters that user space can read; no kernel probes";
    case Tier::tracepoint:
        return "tracepoint: what the kernel's tracepoints saw";
    case Tier::function:
        return "function: what the kernel's own functions did";
    }
    return {};
}

class PinText {
  public:
    PinText(const PinFindings& findings, const PinAnswer& answer, const Style& style)
        : findings_(findings), answer_(answer), style_(style) {}

    std::string render() {
        line("CUDA", answer_.cuda_line, Tone::strong);
        libraries();
        line("Host", host_words());
        line("Asked", question_words());
        out_ += "\n";
        table();
        sweeps();
        out_ += "\n";
        controls();
        line("Tier", std::string(tier_words(answer_.tier)));
        if (answer_.tier != Tier::user)
            line("Lost", lost_words());
        if (!findings_.leaf_shared_because.empty())
            line("Cgroup", "trials shared this one: " + findings_.leaf_shared_because);
        for (const auto& missing : findings_.host.missing)
            line("Not seen",
                 fmt::format("{} ({}); it would add {}", missing.what, missing.reason, missing.would_add));
        for (const auto& advice : answer_.advice)
            line("To do", advice);
        out_ += "\n" + summary_words() + "\n";
        return std::move(out_);
    }

  private:
    void line(std::string_view label, const std::string& text, Tone tone = Tone::plain) {
        out_ += fmt::format("{:<{}}", label, label_width);
        out_ += paint(style_, tone, wrap(style_, label_width, printable(text))) + "\n";
    }

    // What was looked at, where CUDA cannot be used; --verbose has it always.
    void libraries() {
        const auto& cuda = findings_.host.cuda;
        if (cuda.usable)
            return;
        for (const auto& one : cuda.libraries.driver)
            line("Library", library_words(one));
    }

    static std::string library_words(const CudaCandidate& one) {
        return fmt::format("{}{} ({}): {}{}", one.path, one.version.empty() ? "" : ", version " + one.version,
                           one.found_by, one.taken ? "taken" : "not taken: ", one.reason);
    }

    std::string host_words() const {
        const auto& host = findings_.host;
        std::string words = fmt::format("Linux {}", host.kernel);
        if (findings_.question.like)
            words = fmt::format("process {}; {}", *findings_.question.like, words);
        if (host.virtualisation)
            words += ", " + *host.virtualisation;
        if (host.container)
            words += ", container: " + *host.container;
        words += fmt::format("; memlock limit {} soft, {} hard", limit_text(host.memlock_soft),
                             limit_text(host.memlock_hard));
        words +=
            fmt::format("; CAP_IPC_LOCK {}", host.cap_ipc_lock.effective   ? "effective"
                                             : host.cap_ipc_lock.permitted ? "permitted but not effective"
                                                                           : "not held");
        if (host.in_initial_user_namespace == false)
            words += ", in a child user namespace, where it does not count";
        if (host.cgroup.version)
            words += fmt::format("; memory cgroup v{} {}, limit {}", *host.cgroup.version, host.cgroup.path,
                                 host.cgroup.limit ? limit_text(*host.cgroup.limit) : "unknown");
        return words;
    }

    std::string question_words() const {
        const auto& question = findings_.question;
        std::string words =
            fmt::format("what a memlock limit of {} stops", limit_text(question.memlock_soft));
        if (question.cap_ipc_lock)
            words += *question.cap_ipc_lock ? ", with CAP_IPC_LOCK" : ", without CAP_IPC_LOCK";
        else
            words += ", with the capabilities of that process";
        if (!question.memlock_because.empty())
            words += fmt::format(" ({})", question.memlock_because);
        return words;
    }

    void table() {
        size_t name_width = std::string_view("MECHANISM").size();
        size_t verdict_width = std::string_view("VERDICT").size();
        for (const auto& verdict : answer_.verdicts) {
            name_width = std::max(name_width, verdict.mechanism.size());
            verdict_width = std::max(verdict_width, verdict_words(verdict.kind).size());
        }
        const size_t indent = name_width + verdict_width + 4;
        out_ +=
            paint(style_, Tone::strong,
                  fmt::format("{:<{}}  {:<{}}  BECAUSE", "MECHANISM", name_width, "VERDICT", verdict_width)) +
            "\n";
        for (const auto& verdict : answer_.verdicts) {
            const auto words = fmt::format("{:<{}}", verdict_words(verdict.kind), verdict_width);
            out_ += fmt::format("{:<{}}  {}  {}\n", verdict.mechanism, name_width,
                                paint(style_, verdict_tone(verdict.kind), words),
                                wrap(style_, indent, printable(verdict.reason)));
        }
    }

    void sweeps() {
        if (findings_.sweeps.empty())
            return;
        out_ += "\n" +
                paint(style_, Tone::strong,
                      fmt::format("{:<18}{:>16}  {:>16}  {:>16}  {}", "SWEEP", "LARGEST SINGLE", "REFUSED AT",
                                  "LARGEST SUM", "ENDED BY")) +
                "\n";
        for (const auto& sweep : findings_.sweeps) {
            const bool single_bound = !sweep.single_refused_bytes && sweep.largest_single_bytes;
            const bool sum_bound = !sweep.cumulative_error && sweep.largest_cumulative_bytes;
            out_ += fmt::format("{:<18}{:>16}  {:>16}  {:>16}  {}\n", sweep.mechanism,
                                size_or_dash(sweep.largest_single_bytes, single_bound),
                                size_or_dash(sweep.single_refused_bytes, false),
                                size_or_dash(sweep.largest_cumulative_bytes, sum_bound), ended_by(sweep));
        }
    }

    static std::string size_or_dash(const std::optional<uint64_t>& bytes, bool at_least) {
        if (!bytes)
            return "-";
        return (at_least ? ">= " : "") + format_exact_bytes(*bytes);
    }

    static std::string ended_by(const Sweep& sweep) {
        if (sweep.single_error)
            return error_name(*sweep.single_error);
        if (sweep.cumulative_error)
            return error_name(*sweep.cumulative_error);
        return sweep.largest_single_bytes ? "nothing up to there" : "not tried";
    }

    void controls() {
        const auto count = [&](ControlState state) {
            return std::count_if(answer_.controls.begin(), answer_.controls.end(),
                                 [&](const Control& control) { return control.state == state; });
        };
        line("Controls", fmt::format("{} hold, {} fail, {} unavailable", count(ControlState::holds),
                                     count(ControlState::fails), count(ControlState::unavailable)));
        for (const auto& control : answer_.controls)
            if (control.state != ControlState::holds)
                line("", fmt::format("{} ({}) {}: {}", control.name, control.mechanism,
                                     control.state == ControlState::fails ? "fails" : "is unavailable",
                                     control.reason));
    }

    std::string lost_words() const {
        return fmt::format("{} call windows; {} runs of kernel programs left out", answer_.lost_windows,
                           answer_.missed_runs);
    }

    std::string summary_words() const {
        std::string words;
        for (const auto kind :
             {VerdictKind::enforced, VerdictKind::not_enforced, VerdictKind::blocked_elsewhere,
              VerdictKind::unsupported, VerdictKind::inconclusive}) {
            const auto count = std::count_if(answer_.verdicts.begin(), answer_.verdicts.end(),
                                             [&](const Verdict& verdict) { return verdict.kind == kind; });
            if (count > 0)
                words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, verdict_words(kind));
        }
        return fmt::format("{} mechanism{} in {:.1f} s: {}", answer_.verdicts.size(),
                           answer_.verdicts.size() == 1 ? "" : "s",
                           static_cast<double>(findings_.duration_ns) / 1e9, words);
    }

    const PinFindings& findings_;
    const PinAnswer& answer_;
    const Style& style_;
    std::string out_;
};

} // namespace

std::string pin_text(const PinFindings& findings, const PinAnswer& answer, const Style& style, bool verbose) {
    std::string out = PinText(findings, answer, style).render();
    if (verbose)
        out += "\n" + outline(pin_json(findings, answer));
    return out;
}

} // namespace pinscope::report
