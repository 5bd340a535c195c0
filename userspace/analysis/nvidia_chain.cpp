// SPDX-License-Identifier: Apache-2.0
#include "analysis/nvidia_chain.h"

#include "base/bytes.h"

#include <fmt/format.h>

#include <string_view>

namespace pinscope::analysis {
namespace {

constexpr std::string_view arrow = " \u2192 ";
constexpr std::string_view nvidia_devices = "195:"; // the major of all but nvidia-uvm

std::string command_words(const NvidiaCallSeen& call) {
    return fmt::format("ioctl {:#x}{}{}", call.number, call.name.empty() ? "" : " ", call.name);
}

std::string call_words(const NvidiaCallSeen& call) {
    std::string words = fmt::format("{} of {}", command_words(call), call.device);
    if (call.object_class)
        words += fmt::format(", class {:#x}{}{}", *call.object_class, call.class_name.empty() ? "" : " ",
                             call.class_name);
    if (call.bytes)
        words += ", " + format_bytes(*call.bytes);
    if (call.status)
        words +=
            call.status_name.empty() ? fmt::format(": status {:#x}", *call.status) : ": " + call.status_name;
    return words;
}

void add_functions(const std::vector<FunctionCalls>& functions, std::string& words) {
    for (const auto& function : functions)
        words += fmt::format("{}{} ({} {}{})", arrow, function.function, function.pages,
                             function.pages == 1 ? "page" : "pages",
                             function.failed == 0 ? "" : fmt::format(", {} failed", function.failed));
}

} // namespace

std::string nvidia_chain(const Trial& trial) {
    std::string words;
    if (!trial.windows)
        return words;
    for (const auto& window : trial.windows->windows) {
        for (const auto& call : window.nvidia)
            words += std::string(arrow) + call_words(call);
        if (window.nvidia.empty())
            continue;
        add_functions(window.driver, words);
        add_functions(window.pins, words);
    }
    return words.empty() ? words : trial.mechanism + words;
}

std::string nvidia_refusal(const Trial& trial) {
    if (!trial.windows)
        return {};
    for (const auto& window : trial.windows->windows)
        for (const auto& call : window.nvidia)
            if (call.status.value_or(0) != 0)
                return fmt::format("{} ended with driver status {:#x}{}{}", command_words(call), *call.status,
                                   call.status_name.empty() ? "" : " ", call.status_name);
    return {};
}

std::string nvidia_unfinished(const Trial& trial) {
    if (!trial.windows)
        return {};
    for (const auto& window : trial.windows->windows)
        for (const auto& call : window.syscalls)
            if (call.unfinished && call.device.rfind(nvidia_devices, 0) == 0)
                return fmt::format("the process ended inside ioctl {:#x} of {}", call.arguments[1] & 0xff,
                                   call.file);
    return {};
}

} // namespace pinscope::analysis
