// SPDX-License-Identifier: Apache-2.0
#include "cli/pin_options.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/condition_options.h"
#include "pin/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace pinscope::cli {
namespace {

constexpr uint64_t largest_count = 1024;

// All that can be named.
std::vector<const pin::RegisteredMechanism*> known_mechanisms() {
    std::vector<const pin::RegisteredMechanism*> known;
    for (const auto& mechanism : pin::all_mechanisms())
        known.push_back(&mechanism);
    for (const auto& mechanism : pin::cuda_mechanisms())
        known.push_back(&mechanism);
    return known;
}

std::vector<std::string> mechanism_names() {
    std::vector<std::string> names;
    for (const auto* mechanism : known_mechanisms())
        names.emplace_back(mechanism->facts.name);
    return names;
}

// Adds what one name of --mechanism stands for: the mechanism of exactly that name, else its family.
Status add_named(const std::string& wanted, PinRequest& request) {
    auto& mechanisms = request.options.mechanisms;
    const auto known = known_mechanisms();
    const bool is_exact = std::any_of(known.begin(), known.end(),
                                      [&](const auto* mechanism) { return mechanism->facts.name == wanted; });
    bool found = false;
    for (const auto* mechanism : known) {
        const auto& name = mechanism->facts.name;
        if (is_exact ? name != wanted : !names_family(wanted, name))
            continue;
        found = true;
        if (std::find(mechanisms.begin(), mechanisms.end(), mechanism) == mechanisms.end())
            mechanisms.push_back(mechanism);
    }
    if (!found)
        return fail({"there is no mechanism", fmt::format("'{}'", printable(wanted)), "",
                     fmt::format("choose from {}", fmt::join(mechanism_names(), ", ")), EINVAL});
    return {};
}

Status read_mechanisms(const Arguments& arguments, PinRequest& request) {
    for (const auto& list : arguments.values("--mechanism")) {
        request.options.named = true;
        if (list.empty())
            return fail(
                {"--mechanism ''", "", "it names nothing", "give a name, or leave the option out", EINVAL});
        for (const auto name : split(list, ','))
            if (auto added = add_named(std::string(trim(name)), request); !added)
                return added;
    }
    if (!request.options.named)
        for (const auto& mechanism : pin::all_mechanisms())
            request.options.mechanisms.push_back(&mechanism);
    return {};
}

Status read_limit_choice(const Arguments& arguments, PinRequest& request) {
    const auto text = arguments.value("--memlock");
    if (!text)
        return {};
    auto& choice = request.options.limit;
    if (*text == "current") {
        choice.kind = pin::LimitChoice::Kind::current;
        return {};
    }
    const auto limit = read_limit(*text);
    if (!limit)
        return fail(limit.error());
    choice.kind = pin::LimitChoice::Kind::exactly;
    choice.exactly = *limit;
    return {};
}

Status read_numbers(const Arguments& arguments, PinRequest& request) {
    if (const auto text = arguments.value("--size")) {
        const auto size = read_size("--size", *text);
        if (!size)
            return fail(size.error());
        request.options.size_bytes = *size;
    }
    if (const auto text = arguments.value("--count")) {
        const auto count = read_count("--count", *text, largest_count);
        if (!count)
            return fail(count.error());
        request.options.count = *count;
    }
    if (const auto text = arguments.value("--like")) {
        const auto pid = read_count("--like", *text, INT32_MAX);
        if (!pid)
            return fail(pid.error());
        request.options.like = static_cast<pid_t>(*pid);
    }
    if (const auto text = arguments.value("--timeout")) {
        const auto time = parse_duration(*text);
        if (!time)
            return fail(time.error());
        request.timeout = *time;
    }
    return {};
}

} // namespace

std::vector<Option> pin_options() {
    return {
        {"--mechanism", "A,B,…", "Only these: an exact name, else the family before the first '-'.",
         mechanism_names(), true},
        {"--size", "SIZE", "What each pin asks for; by default somewhat over the limit.", {}, false},
        {"--memlock",
         "SIZE",
         "The soft limit to try under: a size, 'current' or 'unlimited'. By default the current one, "
         "or 8 MiB where that is too large to be tried.",
         {},
         false},
        with_cap_option(),
        without_cap_option(),
        {"--count", "N", "Hold N pins at a time in one process.", {}, false},
        {"--sweep",
         "",
         "Also find the largest single pin and the largest sum of pins, by bisection.",
         {},
         false},
        {"--like",
         "PID",
         "Under the limits, capabilities, user namespace and memory cgroup of a running process.",
         {},
         false},
        {"--timeout", "TIME", "Give up on a trial after this time (default 10s, with CUDA 60s).", {}, false},
        {"--hold-at",
         "POINT",
         "Hold each trial at this stop point until Enter is pressed, to look around.",
         {"initialised", "allocated", "touched", "verified", "freed"},
         false},
        {"--cuda-lib", "FILE", "Use this libcuda.so.1: a file, or the folder it is in.", {}, false},
        {"--cudart", "FILE", "Use this libcudart.so.N, likewise.", {}, false},
        {"--dry-run", "", "Show what would be tried, and try nothing.", {}, false},
        {"--no-probes", "", "Without eBPF: what error codes and counters tell.", {}, false},
        {"--verbose", "", "Show every trial, condition and counter as well.", {}, false},
        {"--json", "", "One JSON document (docs/schema/pin-1.schema.json).", {}, false},
    };
}

Result<PinRequest> read_pin_request(const Arguments& arguments) {
    PinRequest request;
    request.dry_run = arguments.has("--dry-run");
    request.no_probes = arguments.has("--no-probes");
    request.verbose = arguments.has("--verbose");
    request.json = arguments.has("--json");
    request.options.sweep = arguments.has("--sweep");
    request.cuda_lib = arguments.value("--cuda-lib");
    request.cudart = arguments.value("--cudart");
    const auto cap = read_capability(arguments);
    if (!cap)
        return fail(cap.error());
    request.options.with_cap = *cap;
    for (auto* read : {&read_mechanisms, &read_limit_choice, &read_numbers})
        if (auto status = read(arguments, request); !status)
            return fail(status.error());
    if (const auto point = arguments.value("--hold-at"))
        request.hold_at = stop_point_from(*point);
    if (request.options.sweep && request.options.count > 1)
        return fail(
            {"--sweep and --count", "", "a sweep finds out the count by itself", "give one of them", EINVAL});
    if (request.dry_run && request.hold_at)
        return fail(
            {"--dry-run and --hold-at", "", "a dry run starts no trial to hold", "give one of them", EINVAL});
    return request;
}

std::vector<report::PlanRow> plan_rows(const pin::PinPlan& plan) {
    std::vector<report::PlanRow> rows;
    for (const auto& entry : plan.entries)
        rows.push_back({std::string(entry.mechanism->facts.name), entry.size_bytes, plan.options.count,
                        std::string(entry.mechanism->facts.summary),
                        std::string(entry.mechanism->facts.needs)});
    return rows;
}

} // namespace pinscope::cli
