// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries.h"

#include <fmt/format.h>

namespace pinscope::cuda {
namespace {

using trial::Step;

struct Paths {
    std::string driver;
    std::string runtime;
};

Paths& paths() {
    static Paths all;
    return all;
}

Step refused(std::string_view call, ErrorDomain domain, int status, const std::string& name) {
    Step step = Step::refused(call, status);
    step.domain = domain;
    step.detail = name;
    return step;
}

} // namespace

void use_libraries(const std::string& driver, const std::string& runtime) {
    paths() = {driver, runtime};
}

const DriverApi& driver() {
    static const DriverApi api(paths().driver.empty() ? "libcuda.so.1" : paths().driver);
    return api;
}

const RuntimeApi& runtime() {
    (void)driver();
    static const RuntimeApi api(paths().runtime);
    return api;
}

Step need(const Library& library, const char* library_name, Needed functions) {
    if (!library.is_loaded())
        return Step::unsupported("dlopen", library.error(), ENOENT);
    for (const auto& [name, found] : functions)
        if (!found)
            return Step::unsupported("dlsym", fmt::format("{} has no {}", library_name, name), ENOSYS);
    return Step::ok();
}

Step driver_refused(std::string_view call, DriverStatus status) {
    return refused(call, ErrorDomain::cuda_driver, status, driver().name_of(status));
}

Step runtime_refused(std::string_view call, RuntimeStatus status) {
    auto step = refused(call, ErrorDomain::cuda, status, runtime().name_of(status));
    runtime().clear_error();
    return step;
}

Step make_context() {
    const auto& api = driver();
    if (auto all = need(api.library, "libcuda.so.1",
                        {{"cuInit", api.init != nullptr},
                         {"cuDeviceGet", api.device_get != nullptr},
                         {"cuDevicePrimaryCtxRetain", api.primary_context_retain != nullptr},
                         {"cuCtxSetCurrent", api.context_set_current != nullptr}});
        !all)
        return all;
    const auto unsupported = [&](std::string_view call, DriverStatus status) {
        auto step = driver_refused(call, status);
        step.result = run::StepResult::unsupported;
        step.detail =
            fmt::format("{} answers {}{}{}", call, status, step.detail.empty() ? "" : ", ", step.detail);
        if (status == driver_stub_library)
            step.detail += ": the library is the stub that programs are linked with";
        return step;
    };
    int device = 0;
    void* context = nullptr;
    if (const auto status = api.init(0); status != 0)
        return unsupported("cuInit", status);
    if (const auto status = api.device_get(&device, 0); status != 0)
        return unsupported("cuDeviceGet", status);
    if (const auto status = api.primary_context_retain(&context, device); status != 0)
        return unsupported("cuDevicePrimaryCtxRetain", status);
    if (const auto status = api.context_set_current(context); status != 0)
        return unsupported("cuCtxSetCurrent", status);
    return Step::ok();
}

} // namespace pinscope::cuda
