// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver_check.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace pinscope::cuda {
namespace {

// Their own declarations (the toolkit's cuda.h is not needed): every call returns a CUresult, 0 for success.
using InitCall = int (*)(unsigned flags);
using NumberCall = int (*)(int* number);

run::StopMessage unsupported(std::string_view call, ErrorDomain domain, int code, const std::string& detail) {
    run::StopMessage message;
    message.result = run::StepResult::unsupported;
    message.domain = domain;
    message.code = code;
    run::set_text(message.call, call);
    run::set_text(message.detail, detail);
    return message;
}

template <class Call>
Call find(void* library, const char* name) {
    return reinterpret_cast<Call>(::dlsym(library, name));
}

} // namespace

run::StopMessage check_driver() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* reason = ::dlerror();
        return unsupported("dlopen", ErrorDomain::none, 0,
                           reason != nullptr ? reason : "libcuda.so.1 cannot be loaded");
    }
    const auto init = find<InitCall>(library, "cuInit");
    const auto driver_version = find<NumberCall>(library, "cuDriverGetVersion");
    const auto device_count = find<NumberCall>(library, "cuDeviceGetCount");
    if (init == nullptr || driver_version == nullptr || device_count == nullptr)
        return unsupported("dlsym", ErrorDomain::none, 0,
                           "libcuda.so.1 lacks cuInit, cuDriverGetVersion or cuDeviceGetCount");
    if (const int error = init(0); error != 0)
        return unsupported("cuInit", ErrorDomain::cuda_driver, error,
                           fmt::format("cuInit answers {}", error));
    int version = 0;
    int devices = 0;
    if (driver_version(&version) != 0 || device_count(&devices) != 0)
        return unsupported("cuDeviceGetCount", ErrorDomain::none, 0,
                           "the CUDA driver does not say what devices it has");
    run::StopMessage message;
    run::set_text(message.detail,
                  fmt::format("CUDA {}.{}, {} device(s)", version / 1000, version % 1000 / 10, devices));
    return message;
}

} // namespace pinscope::cuda
