// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin_answer.h"
#include "base/bytes.h"
#include "report/json_text.h"
#include "report/pin_json.h"
#include "report/pin_plan.h"
#include "report/pin_text.h"
#include "support/numbers.h"
#include "support/schema.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <limits>

namespace pinscope::report {
namespace {

// Numbers that occur nowhere else, so that each is found again where it belongs.
TrialWindows full_windows() {
    TrialWindows out;
    out.sight = {true, true, true, true, true, true, true};
    CallWindow window;
    window.tag = 1;
    window.entered_ns = 1000;
    window.left_ns = 1000 + 100003;
    window.end = WindowEnd::unfinished;
    window.before = {100019, 100043, 100049, 100057, 100069, 100103, 100109};
    window.after = {100129, 100151,      100153, 100169, std::numeric_limits<uint64_t>::max(),
                    100183, std::nullopt};
    window.syscalls = {
        {54, "setsockopt", 100189, {0x1, 0x2, 0x3, 0x4, 0x5, 0x6}, -ENOBUFS, "socket:", "10:196", false},
        {9, "mmap", 100193, {}, 0x7f0000, "", "", true}};
    LimitCheckSeen asked;
    asked.function = "xdp_umem_create";
    asked.count = 100207;
    asked.capability_refused = true;
    asked.denied = true;
    asked.syscall = "setsockopt";
    LimitCheckSeen answered = asked;
    answered.tier = Tier::function;
    answered.capability_refused.reset();
    answered.result = -ENOBUFS;
    window.checks = {asked, answered};
    window.pins = {{"pin_user_pages_fast", 100213, 100237, 100267},
                   {"__gup_longterm_locked", 100271, 100279, 100291}};
    window.charges = {{"try_charge_memcg", 100297, 100313, 100333}};
    window.pages_user = 100343;
    window.pages_kernel_charged = 100357;
    window.pages_kernel_uncharged = 100361;
    window.pages_refused = 100363;
    window.syscalls_dropped = 100379;
    window.checks_dropped = 100391;
    out.windows = {window};
    out.losses = {{"ring_full", 100393, true}, {"missed_run", 100403, false}};
    return out;
}

// Findings that have a value in every field.
PinFindings full_findings() {
    PinFindings findings;
    auto& host = findings.host;
    host.kernel = "6.1.0-25-amd64";
    host.cgroup = {2, "/a", "/sys/fs/cgroup/a", Limit::of(12345678), 2345678, "/sys/fs/cgroup/a"};
    host.memlock_soft = Limit::of(8_MiB);
    host.memlock_hard = Limit::of(9_MiB);
    host.cap_ipc_lock = {true, true, true};
    host.in_initial_user_namespace = true;
    host.container = "docker";
    host.virtualisation = "kvm";
    host.uid = 1007;
    host.memory_total_bytes = 33_GiB;
    host.memory_available_bytes = 31_GiB;
    host.overcommit_memory = 1;
    host.perf_event_paranoid = -1;
    host.perf_free_bytes = 1032_KiB;
    host.cuda.libraries.driver = {
        {"/usr/lib/libcuda.so.1", "LD_LIBRARY_PATH", "535.104.05", false, "it is no ELF file"}};
    host.cuda.answered = true;
    host.cuda.detail = "libcuda.so.1: not found";
    host.missing = {{"the 3rd thing", "because of 17", "what 19 would"}};
    findings.question = {Limit::of(8_MiB), "", false, 17_MiB, 4711, true};
    findings.leaf_folder = "/sys/fs/cgroup/a/pinscope-77";
    findings.leaf_shared_because = "busy with 23 others";
    findings.probes = {{"p", "tp_btf/x", Tier::function, false, "no BTF", 83, 89}};

    Trial trial;
    trial.mechanism = "af_xdp-umem";
    trial.size_bytes = 17_MiB;
    trial.count = 3;
    trial.charged_bytes = 17_MiB + 4096;
    trial.free_bytes = 5;
    trial.granted_count = 2;
    trial.held_bytes = 34_MiB;
    trial.conditions = {Limit::of(8_MiB), Limit::of(9_MiB), false, Limit::of(99_MiB), 65534};
    trial.conditions_read = true;
    trial.outcome = Outcome::denied;
    trial.error = {ErrorDomain::errno_value, ENOBUFS};
    trial.call = "setsockopt(XDP_UMEM_REG)";
    trial.last_stop = StopPoint::allocated;
    trial.deltas = {41, -43, std::nullopt, 47, 53, 59, 61, 67};
    trial.cgroup_limit_hits = 71;
    trial.cgroup_oom_kills = 73;
    trial.duration_ns = 79;
    Snapshot snapshot;
    snapshot.process = {83, 89, 97, 101, 103, 107, 109, 113};
    snapshot.cgroup = {127, 131, 137, 139, 149, 151, 157};
    snapshot.foll_pin_pages = 163;
    trial.snapshots = {{StopPoint::initialised, snapshot}};
    trial.windows = full_windows();
    findings.trials = {trial};
    MechanismFacts facts;
    facts.name = "af_xdp-umem";
    facts.over_limit = {trial.error};
    facts.budgets = {Budget::user_locked_vm};
    findings.judged = {facts};
    findings.not_run = {{"af_xdp-umem", Role::under, "no room for 167"}};
    findings.shared_budgets = {{"af_xdp-umem", Budget::user_locked_vm, 8_MiB, 3_MiB}};
    findings.sweeps = {
        {"af_xdp-umem", Limit::of(8_MiB), 173, 179, trial.error, 181, 191, trial.error, 193, 197}};
    findings.duration_ns = 1234567890;
    return findings;
}

TEST(PinJson, IsWhatTheSchemaSays) {
    const auto findings = full_findings();
    const nlohmann::json document =
        nlohmann::json::parse(dump(pin_json(findings, analysis::answer_pin(findings))));
    EXPECT_EQ(test::check_schema(document, "pin-1.schema.json"), "");
}

TEST(PinJson, WhatTheKernelSideSawIsInTheTrialsWindow) {
    const auto findings = full_findings();
    const auto document = pin_json(findings, analysis::answer_pin(findings));
    const auto window = document["trials"][0]["window"];
    EXPECT_EQ(window["limit_checks"].size(), 1U);
    EXPECT_EQ(window["limit_checks"][0]["decides"], true);
    EXPECT_EQ(window["limit_checks"][0]["asks"], "always");
    EXPECT_EQ(window["syscalls"][0]["result"], "ENOBUFS");
    EXPECT_TRUE(window["syscalls"][1]["result"].is_null()) << "it did not return";
    EXPECT_EQ(window["budgets"]["after"]["memlock_soft_unlimited"], true);
    EXPECT_TRUE(window["budgets"]["after"]["cgroup_usage_bytes"].is_null());
    EXPECT_EQ(window["pinned_pages"], 100279) << "the larger of the outer and the inner functions' sum";
    EXPECT_EQ(window["charge_refusals"], 100333);
    EXPECT_EQ(window["lost"], 100393);
    EXPECT_EQ(window["unfinished"], true);
    EXPECT_EQ(document["lost"]["missed_runs"], 100403);
    EXPECT_EQ(document["tier"], "function");
}

TEST(PinJson, WhatCannotBeSeenIsNull) {
    auto findings = full_findings();
    findings.trials[0].windows->sight = {true, false, false, false, false, false, false};
    const nlohmann::json document =
        nlohmann::json::parse(dump(pin_json(findings, analysis::answer_pin(findings))));
    EXPECT_EQ(test::check_schema(document, "pin-1.schema.json"), "");
    for (const char* part :
         {"syscalls", "limit_checks", "pinned_pages", "pin_calls", "pages", "charge_refusals"})
        EXPECT_TRUE(document["trials"][0]["window"][part].is_null()) << part;
}

TEST(PinJson, OfNothingKnownToo) {
    PinFindings findings;
    Trial trial;
    trial.mechanism = "mlock";
    trial.conditions.memlock_soft = Limit::none();
    trial.conditions.memlock_hard = Limit::none();
    trial.conditions_read = true;
    findings.trials = {trial, Trial()};
    findings.sweeps.emplace_back();
    const nlohmann::json document =
        nlohmann::json::parse(dump(pin_json(findings, analysis::answer_pin(findings))));
    EXPECT_EQ(test::check_schema(document, "pin-1.schema.json"), "");
    EXPECT_TRUE(document["trials"][0]["conditions"]["memlock_soft_bytes"].is_null());
    EXPECT_EQ(document["trials"][0]["conditions"]["memlock_soft_unlimited"], true);
    EXPECT_TRUE(document["trials"][1]["conditions"]["memlock_soft_unlimited"].is_null()) << "never read back";
    EXPECT_TRUE(document["host"]["cgroup"]["limit_unlimited"].is_null());
}

TEST(PinJson, StaysValidWithHostileNames) {
    auto findings = full_findings();
    findings.host.cgroup.path = "/\xff\xfe\"\\\n\x1b[2J";
    const std::string text = dump(pin_json(findings, analysis::answer_pin(findings)));
    EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(PinText, HidesControlCharactersOfHostileNames) {
    auto findings = full_findings();
    findings.host.cgroup.path = "/\x1b[2J";
    const std::string text = pin_text(findings, analysis::answer_pin(findings), Style{}, true);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(PinText, EveryNumberIsInTheJson) {
    const auto findings = full_findings();
    const auto answer = analysis::answer_pin(findings);
    EXPECT_EQ(test::numbers_missing_from_json(pin_text(findings, answer, Style{}, false),
                                              pin_json(findings, answer)),
              std::vector<std::string>());
}

TEST(PinText, TheCheckSeesAForeignNumber) {
    const auto findings = full_findings();
    const auto answer = analysis::answer_pin(findings);
    EXPECT_EQ(test::numbers_missing_from_json("mlock granted 987654 times", pin_json(findings, answer)),
              std::vector<std::string>{"987654"});
}

TEST(PinText, VerboseHasEveryNumberOfTheJson) {
    const auto findings = full_findings();
    const auto answer = analysis::answer_pin(findings);
    const auto document = pin_json(findings, answer);
    EXPECT_EQ(test::numbers_missing_from_text(document, pin_text(findings, answer, Style{}, true)),
              std::vector<std::string>());
    // Without --verbose many are not shown: the check does see it.
    EXPECT_FALSE(
        test::numbers_missing_from_text(document, pin_text(findings, answer, Style{}, false)).empty());
}

TEST(PinText, AnswersInTheFirstLine) {
    const auto findings = full_findings();
    const std::string text = pin_text(findings, analysis::answer_pin(findings), Style{}, false);
    EXPECT_EQ(text.rfind("CUDA      not judged: there is no NVIDIA driver here", 0), 0U) << text;
}

TEST(Style, WrapsAtTheWidthAndNotInAPipe) {
    const std::string text = "one two three four five six seven eight nine ten";
    EXPECT_EQ(wrap(Style{}, 4, text), text);
    const std::string wrapped = wrap(Style{false, 30}, 4, text);
    EXPECT_EQ(wrapped, "one two three four five\n    six seven eight nine ten");
    EXPECT_EQ(paint(Style{}, Tone::bad, "x"), "x");
    EXPECT_EQ(paint(Style{true, 0}, Tone::bad, "x"), "\x1b[31mx\x1b[0m");
}

TEST(Plan, IsWhatTheSchemaSays) {
    PinQuestion question;
    question.memlock_soft = Limit::of(8_MiB);
    const std::vector<PlanRow> rows = {{"mlock", 16_MiB, 2, "locks", "luck"}};
    const nlohmann::json document = nlohmann::json::parse(dump(plan_json(question, rows)));
    EXPECT_EQ(test::check_schema(document, "pin-plan-1.schema.json"), "");
    EXPECT_NE(plan_text(question, rows).find("needs luck"), std::string::npos);
}

} // namespace
} // namespace pinscope::report
