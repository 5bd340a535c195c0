// SPDX-License-Identifier: Apache-2.0
// pinscope pin: which allocations RLIMIT_MEMLOCK stops here.
#include "analysis/pin_answer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/condition_options.h"
#include "cli/pin_options.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "host/cuda_libraries.h"
#include "host/facts.h"
#include "pin/cuda_check.h"
#include "pin/experiment.h"
#include "pin/registry.h"
#include "probes/session.h"
#include "report/json_text.h"
#include "report/pin_json.h"
#include "report/pin_plan.h"
#include "report/pin_text.h"
#include "run/call_window.h"
#include "run/interruption.h"
#include "run/stage.h"
#include "trial/trial_process.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>

namespace pinscope::cli {
namespace {

// Stays at a stop point until Enter is pressed, or a signal comes, so that a person can look around.
void hold(const Trial& trial, StopPoint point, pid_t pid, const std::string& folder,
          const run::Interruption& interruption) {
    const bool refused = point == StopPoint::allocated && trial.granted_count == 0;
    complain(fmt::format("{} ({}){} is held at '{}': process {}, cgroup {}; press Enter to go on",
                         trial.mechanism, role_name(trial.role), refused ? ", which was refused," : "",
                         stop_point_name(point), pid, folder.empty() ? "-" : folder));
    std::array<pollfd, 2> wanted = {{{STDIN_FILENO, POLLIN, 0}, {interruption.fd(), POLLIN, 0}}};
    while (::poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) {
    }
    if (wanted[0].revents == 0)
        return;
    char c = 0;
    while (::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') {
    }
}

int status_of(const PinFindings& findings, const PinAnswer& answer) {
    bool judged = false;
    for (const auto& verdict : answer.verdicts) {
        const bool counts = findings.question.named || is_cuda_mechanism(verdict.mechanism);
        if (counts && verdict.kind == VerdictKind::enforced)
            return problem_found;
        judged = judged || verdict.kind == VerdictKind::not_enforced ||
                 verdict.kind == VerdictKind::blocked_elsewhere;
    }
    return findings.question.named && !judged ? cannot_answer : answered;
}

int show(const PinFindings& findings, const PinAnswer& answer, const PinRequest& request) {
    const std::string text = request.json
                                 ? report::dump(report::pin_json(findings, answer))
                                 : report::pin_text(findings, answer, output_style(), request.verbose);
    return print_answer(text) ? status_of(findings, answer) : own_failure;
}

int show_plan(const pin::PinPlan& plan, const PinRequest& request) {
    const auto rows = plan_rows(plan);
    const std::string text = request.json ? report::dump(report::plan_json(plan.question, rows))
                                          : report::plan_text(plan.question, rows);
    return print_answer(text) ? answered : own_failure;
}

// After the janitor was started, which would keep them open, and before any trial.
std::optional<probes::Session> open_probes(const PinRequest& request, const std::string& cuda_program) {
    if (request.no_probes)
        return std::nullopt;
    const auto marker = run::own_marker();
    probes::SessionOptions options;
    options.marked.push_back({marker.file, "", marker.offset});
    if (!cuda_program.empty())
        options.marked.push_back({cuda_program, run::marker_name, 0});
    if (const char* refuse = std::getenv("PINSCOPE_REFUSE_PROGRAMS"); refuse != nullptr)
        for (const auto program : split(std::string_view(refuse), ','))
            options.refuse.emplace_back(program);
    return std::optional<probes::Session>(std::in_place, options);
}

void note_probes(std::optional<probes::Session>& probes, PinFindings& findings) {
    static constexpr std::string_view adds =
        "which function decided, and what was counted and pinned meanwhile";
    if (!probes) {
        findings.host.missing.push_back({"the kernel's side", "--no-probes", std::string(adds)});
        return;
    }
    probes->read_missed();
    findings.probes = probes->probes();
    if (!probes->sight().windows)
        findings.host.missing.push_back({"the kernel's side", probes->why_no_windows(), std::string(adds)});
    for (const auto& [file, reason] : probes->unmarked())
        findings.host.missing.push_back(
            {fmt::format("the kernel's side of what {} does", file), reason, std::string(adds)});
}

bool is_cuda(const pin::RegisteredMechanism& mechanism) {
    return mechanism.create == nullptr;
}

bool tries_cuda(const pin::PinPlan& plan) {
    return std::any_of(plan.entries.begin(), plan.entries.end(),
                       [](const auto& entry) { return is_cuda(*entry.mechanism); });
}

// Takes what needs CUDA out of a plan, and returns its names.
std::vector<std::string> drop_cuda(pin::PinPlan& plan) {
    std::vector<std::string> dropped;
    for (const auto& entry : plan.entries)
        if (is_cuda(*entry.mechanism))
            dropped.emplace_back(entry.mechanism->facts.name);
    plan.entries.erase(std::remove_if(plan.entries.begin(), plan.entries.end(),
                                      [](const auto& entry) { return is_cuda(*entry.mechanism); }),
                       plan.entries.end());
    return dropped;
}

Result<PinFindings> carry_out(pin::PinPlan plan, const host::Host& host, const PinRequest& request,
                              const CudaLibraries& libraries) {
    const run::Interruption interruption;
    auto stage = run::Stage::set_up(host.cgroup, request.options.like.has_value());
    if (!stage)
        return fail(stage.error());
    ProgressLine progress;
    pin::TrialRunner::Settings settings;
    const std::string cuda_program = pin::find_pinscope_cuda();
    settings.timeout = request.timeout.value_or(settings.timeout);
    settings.cuda_timeout = request.timeout.value_or(settings.cuda_timeout);
    settings.cuda_command = pin::cuda_command(cuda_program, trial::trial_verb, libraries);
    settings.hold_at = request.hold_at;
    const std::string folder = stage->leaf().place() ? stage->leaf().place()->folder : "";
    settings.hold = [&](const Trial& trial, StopPoint point, pid_t pid) {
        progress.clear();
        hold(trial, point, pid, folder, interruption);
    };
    auto probes = open_probes(request, tries_cuda(plan) ? cuda_program : "");
    settings.probes = probes ? &*probes : nullptr;
    const pin::TrialRunner runner(*stage, interruption, settings);
    progress.show("CUDA driver", 0, plan.entries.size() + 1);
    const auto cuda = pin::check_cuda(*stage, interruption, cuda_program, libraries);
    std::vector<std::string> without_cuda;
    if (!cuda.usable)
        without_cuda = drop_cuda(plan);
    auto findings =
        pin::Experiment(plan, *stage, runner).run([&](std::string_view name, size_t done, size_t of) {
            progress.show(name, done, of);
        });
    const auto down = stage->take_down();
    if (findings && !down)
        return fail(down.error());
    if (!findings) {
        findings.error().number = run::Interruption::signal() != 0 ? run::Interruption::signal() : EIO;
        return findings;
    }
    note_probes(probes, *findings);
    findings->host.cuda = cuda;
    if (request.options.named)
        findings->cuda_named = without_cuda;
    return findings;
}

int run_pin(const Arguments& arguments) {
    auto request = read_pin_request(arguments);
    if (!request) {
        complain(request.error());
        return bad_input;
    }
    const host::Root root;
    Result<host::Host> host = host::look_at_self(root);
    request->options.may_raise_hard_limit =
        host->facts.cap_sys_resource.effective && host->facts.in_initial_user_namespace.value_or(true);
    if (request->options.like)
        host = host::look_at_process(root, *request->options.like);
    if (!host) {
        complain(host.error());
        return host.error().number == ESRCH ? bad_input : cannot_answer;
    }
    auto search = host::search_of_environment();
    search.cuda_lib = request->cuda_lib;
    search.cudart = request->cudart;
    const auto libraries = host::find_cuda_libraries(root, search, host->facts.nvidia.driver_version);
    // What nobody asked for by name is not worth a row where there is no CUDA at all.
    if (!request->options.named && !libraries.driver_path().empty()) {
        auto& mechanisms = request->options.mechanisms;
        std::vector<const pin::RegisteredMechanism*> with_cuda;
        for (const auto& mechanism : pin::cuda_mechanisms())
            with_cuda.push_back(&mechanism);
        mechanisms.insert(mechanisms.begin(), with_cuda.begin(), with_cuda.end());
    }
    const auto headroom = host->cgroup ? host::read_headroom(*host->cgroup) : std::nullopt;
    const auto plan = pin::make_plan(request->options, host->facts, pin::find_room(host->facts, headroom));
    if (!plan) {
        complain(plan.error());
        return plan.error().number == EPERM ? cannot_answer : bad_input;
    }
    if (request->dry_run)
        return show_plan(*plan, *request);

    const auto findings = carry_out(*plan, *host, *request, libraries);
    if (!findings) {
        complain(findings.error());
        return findings.error().action == "interrupted" ? 128 + findings.error().number : own_failure;
    }
    return show(*findings, analysis::answer_pin(*findings), *request);
}

} // namespace

Verb pin_verb() {
    Verb verb;
    verb.name = "pin";
    verb.summary = "which allocations does RLIMIT_MEMLOCK stop here?";
    verb.usage = "[OPTION…]";
    verb.description = "Tries every way of pinning memory over the memlock limit, each in a fresh process, "
                       "and compares with the same "
                       "under other conditions. The verdict on each: enforced, not enforced, fails for "
                       "another reason, unsupported, or "
                       "inconclusive. Sizes are powers of two: KiB, MiB, GiB.";
    verb.options = pin_options();
    verb.examples = {
        {"everything, as this process is limited", ""},
        {"one mechanism, as the story goes", "--mechanism mlock --size 64MiB --memlock 8MiB"},
        {"the answer for a running container", "--like \"$(pidof -s trainer)\""},
        {"how much can be pinned, to the page", "--sweep --mechanism mlock,io_uring"},
        {"for a script", "--json --mechanism vmsplice"},
    };
    verb.statuses =
        "without --mechanism 1 if the limit stops a CUDA mechanism, else 0; with it 1 if the limit stops one "
        "of those named, 0 if none, 77 if none could be judged; 2 for bad input.";
    verb.run = &run_pin;
    return verb;
}

} // namespace pinscope::cli
