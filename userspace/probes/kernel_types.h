// SPDX-License-Identifier: Apache-2.0
// What the running kernel's own type information (BTF) says: which functions and tracepoints it has.
#pragma once

#include "base/result.h"

#include <memory>
#include <optional>
#include <string>

struct btf;

namespace pinscope::probes {

class KernelTypes {
  public:
    // Fails where the kernel has no BTF (CONFIG_DEBUG_INFO_BTF), or it may not be read.
    static Result<KernelTypes> read();

    // Of a function that can be traced by fentry and fexit, as far as BTF tells: one that was inlined, or
    // exists under other names only (.isra, .constprop), is not there. `module`: also looked for there; may
    // be empty.
    std::optional<unsigned> argument_count(const std::string& function, const std::string& module) const;
    bool has_tracepoint(const std::string& name) const;

    // Numbers of types, for loading programs by hand. Nothing: not there.
    std::optional<uint32_t> function_type(const std::string& name) const;
    std::optional<uint32_t> tracepoint_type(const std::string& name) const;

  private:
    struct Free {
        void operator()(btf* types) const;
    };
    using Owned = std::unique_ptr<btf, Free>;
    explicit KernelTypes(Owned types) : types_(std::move(types)) {}

    Owned types_;
};

} // namespace pinscope::probes
