// SPDX-License-Identifier: Apache-2.0
#include "pin/cuda_check.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#include <fmt/format.h>

namespace pinscope::pin {
namespace {

// Starting the driver of many GPUs takes seconds.
constexpr std::chrono::seconds patience{20};

} // namespace

std::string find_pinscope_cuda() {
    const auto program = read_link("/proc/self/exe");
    if (!program)
        return {};
    const std::string folder = program->substr(0, program->rfind('/'));
    for (const char* place : {"/pinscope-cuda", "/../libexec/pinscope/pinscope-cuda"})
        if (exists(folder + place))
            return folder + place;
    return {};
}

std::vector<std::string> cuda_command(const std::string& program, std::string_view verb,
                                      const CudaLibraries& libraries) {
    return {program, std::string(verb), libraries.driver_path(), libraries.runtime_path()};
}

CudaFacts check_cuda(const run::Stage& stage, const run::Interruption& interruption,
                     const std::string& program, const CudaLibraries& libraries) {
    CudaFacts facts;
    facts.libraries = libraries;
    if (program.empty()) {
        facts.detail = "pinscope-cuda is not beside this program";
        return facts;
    }
    run::Command command;
    command.is_trial = true;
    command.arguments = cuda_command(program, run::cuda_check_verb, libraries);
    auto child = stage.start(command, Conditions());
    if (!child) {
        facts.detail = child.error().text();
        // The file is there: what is missing is the loader that it names.
        if (child.error().number == ENOENT)
            facts.detail = program + " cannot run here: it needs glibc 2.34 or newer";
        return facts;
    }
    run::StopMessage message;
    const auto wait =
        run::wait_for_message(child->channel(), interruption.fd(), MonotonicClock::now() + patience, message);
    switch (wait) {
    case run::Wait::message:
        facts.answered = true;
        facts.usable = message.result == run::StepResult::ok;
        facts.detail = printable(run::get_text(message.detail));
        break;
    case run::Wait::closed:
        facts.detail =
            fmt::format("pinscope-cuda ended with status {} before it answered", child->wait()->status());
        break;
    case run::Wait::timeout:
        facts.detail = fmt::format("pinscope-cuda gave no answer within {} s", patience.count());
        break;
    case run::Wait::interrupted:
        facts.detail = "interrupted";
        break;
    }
    return facts; // the end of the child's object ends the child
}

} // namespace pinscope::pin
