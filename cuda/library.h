// SPDX-License-Identifier: Apache-2.0
// A library that is loaded at run time, and the functions that are taken from it.
#pragma once

#include <string>

namespace pinscope::cuda {

class Library {
  public:
    // `path`: a file, or a name that the loader looks for. Never unloaded: CUDA does not bear it.
    explicit Library(const std::string& path);
    // The functions that are built into this program, in a table of their own.
    using Lookup = void* (*)(const char* name);
    explicit Library(Lookup built_in) : built_in_(built_in) {}

    bool is_loaded() const { return handle_ != nullptr || built_in_ != nullptr; }
    // Why it is not loaded, in the loader's words.
    const std::string& error() const { return error_; }

    // Null where the library has no such function.
    template <class Function>
    void find(Function*& function, const char* name) const {
        function = reinterpret_cast<Function*>(symbol(name)); // NOLINT: that is how dlsym is used
    }

  private:
    void* symbol(const char* name) const;

    void* handle_ = nullptr;
    Lookup built_in_ = nullptr;
    std::string error_;
};

} // namespace pinscope::cuda
