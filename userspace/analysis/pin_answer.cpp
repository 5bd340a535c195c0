// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin_answer.h"

#include "analysis/limit_checks.h"
#include "base/text.h"
#include "model/cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinscope::analysis {
namespace {

// Why no CUDA mechanism is judged.
std::string why_no_cuda(const HostFacts& host) {
    const auto& library = host.cuda;
    const std::string found = library.detail.empty() ? "" : fmt::format(" ({})", library.detail);
    const bool driver_seen = host.nvidia.driver_version || host.nvidia.device_present || host.nvidia.wsl;
    if (!library.answered && !driver_seen)
        return fmt::format("CUDA was not looked at{}", found);
    if (host.nvidia.driver_version)
        return fmt::format("NVIDIA driver {} is loaded, but CUDA cannot be used{}",
                           *host.nvidia.driver_version, found);
    if (host.nvidia.wsl)
        return fmt::format("this is WSL2 (/dev/dxg), and CUDA cannot be used{}", found);
    if (host.nvidia.device_present)
        return fmt::format("/dev/nvidiactl is here, but CUDA cannot be used{}", found);
    return fmt::format("there is no NVIDIA driver here{}", found);
}

std::vector<std::string> names_of(const std::vector<Verdict>& verdicts, VerdictKind kind) {
    std::vector<std::string> names;
    for (const auto& verdict : verdicts)
        if (verdict.kind == kind)
            names.push_back(verdict.mechanism);
    return names;
}

// The answer for CUDA, in one sentence.
std::string cuda_line(const std::vector<Verdict>& verdicts, const HostFacts& host) {
    std::vector<Verdict> cuda;
    std::copy_if(verdicts.begin(), verdicts.end(), std::back_inserter(cuda),
                 [](const auto& verdict) { return is_cuda_mechanism(verdict.mechanism); });
    if (!host.cuda.usable)
        return "not judged: " + why_no_cuda(host);
    if (cuda.empty())
        return fmt::format("not asked about ({})", host.cuda.detail);
    static constexpr std::pair<VerdictKind, std::string_view> phrases[] = {
        {VerdictKind::enforced, "the limit stops"},
        {VerdictKind::not_enforced, "the limit does not stop"},
        {VerdictKind::blocked_elsewhere, "for another reason fail"},
        {VerdictKind::inconclusive, "inconclusive:"},
        {VerdictKind::unsupported, "not to be had here:"},
    };
    std::vector<std::string> parts;
    for (const auto& [kind, phrase] : phrases)
        if (const auto names = names_of(cuda, kind); !names.empty())
            parts.push_back(fmt::format("{} {}", phrase, join_and(names)));
    return fmt::format("{} ({})", fmt::join(parts, "; "), host.cuda.detail);
}

std::vector<std::string> advise(const std::vector<Verdict>& verdicts) {
    std::vector<std::string> advice;
    const auto enforced = names_of(verdicts, VerdictKind::enforced);
    const auto free = names_of(verdicts, VerdictKind::not_enforced);
    if (!enforced.empty())
        advice.push_back(
            fmt::format("The limit stops {}. A program that uses {} over it needs a higher limit (ulimit -l; "
                        "docker run --ulimit "
                        "memlock=-1; LimitMEMLOCK= in a systemd unit) or CAP_IPC_LOCK in its effective set.",
                        join_and(enforced), enforced.size() == 1 ? "it" : "one of them"));
    if (!free.empty())
        advice.push_back(fmt::format("The limit does not stop {}: raising it changes nothing for {}.",
                                     join_and(free), free.size() == 1 ? "it" : "them"));
    if (!names_of(verdicts, VerdictKind::inconclusive).empty())
        advice.emplace_back(
            "For what is inconclusive, the reason names what to change; --verbose shows every trial.");
    return advice;
}

} // namespace

PinAnswer answer_pin(const PinFindings& findings) {
    PinAnswer answer;
    answer.controls = find_controls(findings);
    for (const auto& trial : findings.trials) {
        answer.limit_checks.push_back(judge_limit_checks(trial));
        if (!trial.windows)
            continue;
        answer.tier = std::max(answer.tier, sight_tier(trial.windows->sight));
        for (const auto& loss : trial.windows->losses) {
            answer.lost_windows += loss.windows ? loss.count : 0;
            answer.missed_runs += loss.reason == missed_run ? loss.count : 0;
        }
    }
    const std::string no_cuda = why_no_cuda(findings.host);
    for (const auto& name : findings.cuda_named) {
        Verdict verdict;
        verdict.mechanism = name;
        verdict.kind = VerdictKind::unsupported;
        verdict.reason = no_cuda;
        answer.verdicts.push_back(std::move(verdict));
    }
    for (const auto& facts : findings.judged)
        answer.verdicts.push_back(judge(facts, findings, answer.controls));
    answer.cuda_line = cuda_line(answer.verdicts, findings.host);
    answer.advice = advise(answer.verdicts);
    if (const auto& path = findings.host.cuda.libraries.ld_library_path;
        findings.host.cuda.usable && !path.empty())
        answer.advice.push_back(
            fmt::format("The loader does not find these CUDA libraries by itself: LD_LIBRARY_PATH={}", path));
    return answer;
}

} // namespace pinscope::analysis
