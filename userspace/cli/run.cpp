// SPDX-License-Identifier: Apache-2.0
// pinscope run: a command under the conditions of a trial.
#include "base/bytes.h"
#include "base/clock.h"
#include "cli/condition_options.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "host/cgroup.h"
#include "host/facts.h"
#include "run/interruption.h"
#include "run/stage.h"

#include <fmt/format.h>

#include <signal.h>

#include <cerrno>

namespace pinscope::cli {
namespace {

struct RunOptions {
    Conditions conditions;
    std::optional<std::chrono::milliseconds> timeout;
};

Result<RunOptions> read_options(const Arguments& arguments) {
    RunOptions options;
    if (const auto text = arguments.value("--memlock")) {
        const auto limit = read_limit(*text);
        if (!limit)
            return fail(limit.error());
        // As `ulimit -l` does: both.
        options.conditions.memlock_soft = *limit;
        options.conditions.memlock_hard = *limit;
    }
    const auto cap = read_capability(arguments);
    if (!cap)
        return fail(cap.error());
    options.conditions.cap_ipc_lock = *cap;
    if (const auto text = arguments.value("--memory-max")) {
        const auto size = read_size("--memory-max", *text);
        if (!size)
            return fail(size.error());
        options.conditions.cgroup_limit = Limit::of(*size);
    }
    if (const auto text = arguments.value("--timeout")) {
        const auto time = parse_duration(*text);
        if (!time)
            return fail(time.error());
        options.timeout = *time;
    }
    return options;
}

// Waits for the command, passing signals on, and kills it when its time is over.
int wait_for(run::Child& child, const run::Interruption& interruption, const RunOptions& options) {
    std::optional<MonotonicClock::time_point> deadline;
    if (options.timeout)
        deadline = MonotonicClock::now() + *options.timeout;
    for (;;) {
        if (const auto exit = child.wait(deadline, interruption.fd()))
            return exit->status();
        if (const auto arrival = run::Interruption::take(); arrival.signal != 0) {
            if (!arrival.from_terminal)
                child.kill(arrival.signal);
            continue;
        }
        child.kill(SIGKILL);
        (void)child.wait();
        complain(fmt::format("the command was killed after {} ms", options.timeout->count()));
        return timed_out;
    }
}

// A kill by the kernel looks like any SIGKILL from outside.
void tell_of_oom_kills(const run::LeafCgroup& leaf) {
    if (leaf.is_shared() || !leaf.place())
        return;
    const uint64_t kills = host::read_cgroup_memory(*leaf.place()).oom_kills.value_or(0);
    if (kills == 0)
        return;
    const auto limit = host::read_effective_limit(*leaf.place());
    complain(fmt::format("out of memory: the kernel killed {} of the command's processes{}", kills,
                         limit && !limit->unlimited
                             ? fmt::format("; its memory cgroup's limit is {}", limit_text(*limit))
                             : ""));
}

int run_command(const Arguments& arguments) {
    if (arguments.command().empty()) {
        complain("no command was given; write it after '--': pinscope run -- COMMAND");
        return bad_input;
    }
    const auto options = read_options(arguments);
    if (!options) {
        complain(options.error());
        return bad_input;
    }
    const auto host = host::look_at_self(host::Root{});
    const run::Interruption interruption;
    auto stage = run::Stage::set_up(host.cgroup);
    if (!stage) {
        complain(stage.error());
        return own_failure;
    }
    if (options->conditions.cgroup_limit && stage->leaf().is_shared()) {
        complain("cannot set --memory-max: " + stage->leaf().shared_because());
        (void)stage->take_down();
        return cannot_answer;
    }

    int status = own_failure;
    run::Command command;
    command.arguments = arguments.command();
    if (auto child = stage->start(command, options->conditions)) {
        status = wait_for(*child, interruption, *options);
        tell_of_oom_kills(stage->leaf());
    } else {
        complain(child.error());
        if (child.error().action == run::exec_failed)
            status = child.error().number == ENOENT ? command_not_found : command_not_executable;
    }
    if (auto down = stage->take_down(); !down) {
        complain(down.error());
        return own_failure;
    }
    return status;
}

} // namespace

Verb run_verb() {
    Verb verb;
    verb.name = "run";
    verb.summary = "run a command under given conditions: memlock limit, CAP_IPC_LOCK, memory cgroup limit";
    verb.usage = "[OPTION…] -- COMMAND [ARGUMENT…]";
    verb.description =
        "The command runs in a memory cgroup of its own below this one, where one can be made. Everything "
        "it started ends with it.";
    verb.options = {
        {"--memlock", "SIZE|unlimited", "Soft and hard RLIMIT_MEMLOCK.", {}, false},
        with_cap_option(),
        without_cap_option(),
        {"--memory-max", "SIZE", "Limit of the command's memory cgroup.", {}, false},
        {"--timeout", "TIME", "Kill the command after this time: 500ms, 10s, 2m.", {}, false},
    };
    verb.takes_command = true;
    verb.examples = {
        {"what a container with a limit of 8 MiB and no capability would see",
         "--memlock 8MiB --without-cap -- ./train.sh"},
        {"in half a GiB", "--memory-max 512MiB -- python3 load.py"},
    };
    verb.statuses =
        "the command's, 128+N where signal N ended it; 124 after --timeout; 125 where pinscope failed; 126 "
        "and 127 where the command could not be run or found; 77 where --memory-max cannot be set here.";
    verb.run = &run_command;
    return verb;
}

} // namespace pinscope::cli
