// SPDX-License-Identifier: Apache-2.0
#include "cuda/check.h"

#include "cuda/libraries.h"

#include <fmt/format.h>

#include <array>

namespace pinscope::cuda {
namespace {

std::string version_words(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// What the driver says of itself, as far as it does.
std::string driver_words() {
    const auto& api = driver();
    std::string words = "CUDA";
    int version = 0;
    if (api.driver_version != nullptr && api.driver_version(&version) == 0)
        words += " " + version_words(version);
    int devices = 0;
    if (api.device_count != nullptr && api.device_count(&devices) == 0)
        words += fmt::format(", {} {}", devices, devices == 1 ? "device" : "devices");
    std::array<char, 96> name{};
    if (api.device_name != nullptr && api.device_name(name.data(), name.size() - 1, 0) == 0)
        words += fmt::format(", the first {}", name.data());
    return words;
}

std::string runtime_words() {
    const auto& api = runtime();
    int version = 0;
    if (!api.library.is_loaded())
        return fmt::format("; no runtime library ({})", api.library.error());
    if (api.runtime_version == nullptr || api.runtime_version(&version) != 0)
        return {};
    return fmt::format("; runtime {}", version_words(version));
}

} // namespace

run::StopMessage check_cuda() {
    run::StopMessage message;
    if (const auto step = make_context(); !step) {
        message.result = step.result;
        message.domain = step.domain;
        message.code = step.error;
        run::set_text(message.call, step.call);
        run::set_text(message.detail, step.detail);
        return message;
    }
    run::set_text(message.detail, driver_words() + runtime_words());
    return message;
}

} // namespace pinscope::cuda
