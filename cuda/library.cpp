// SPDX-License-Identifier: Apache-2.0
#include "cuda/library.h"

#include <dlfcn.h>

namespace pinscope::cuda {

Library::Library(const std::string& path) : handle_(::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    if (handle_ != nullptr)
        return;
    const char* reason = ::dlerror();
    error_ = reason != nullptr ? reason : path + " cannot be loaded";
}

void* Library::symbol(const char* name) const {
    if (built_in_ != nullptr)
        return built_in_(name);
    return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

} // namespace pinscope::cuda
