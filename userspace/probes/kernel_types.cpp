// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel_types.h"

#include <bpf/btf.h>
#include <cerrno>

namespace pinscope::probes {
namespace {

std::optional<unsigned> count_arguments(const btf* types, const std::string& function) {
    const int id = ::btf__find_by_name_kind(types, function.c_str(), BTF_KIND_FUNC);
    if (id < 0)
        return std::nullopt;
    const btf_type* prototype =
        ::btf__type_by_id(types, ::btf__type_by_id(types, static_cast<uint32_t>(id))->type);
    return ::btf_vlen(prototype);
}

std::optional<uint32_t> find(const btf* types, const std::string& name, uint32_t kind) {
    const int id = ::btf__find_by_name_kind(types, name.c_str(), kind);
    return id > 0 ? std::optional(static_cast<uint32_t>(id)) : std::nullopt;
}

} // namespace

void KernelTypes::Free::operator()(btf* types) const {
    ::btf__free(types);
}

Result<KernelTypes> KernelTypes::read() {
    btf* types = ::btf__load_vmlinux_btf();
    if (types == nullptr) {
        Error error = os_error("cannot read the kernel's types", "/sys/kernel/btf/vmlinux", errno);
        if (errno == ENOENT || errno == ESRCH)
            error.reason = "this kernel has no BTF, or /sys is not mounted here";
        return fail(std::move(error));
    }
    return KernelTypes(Owned(types));
}

std::optional<unsigned> KernelTypes::argument_count(const std::string& function,
                                                    const std::string& module) const {
    if (auto count = count_arguments(types_.get(), function); count || module.empty())
        return count;
    const Owned module_types(::btf__load_module_btf(module.c_str(), types_.get()));
    return module_types ? count_arguments(module_types.get(), function) : std::nullopt;
}

// The kernel declares a type btf_trace_NAME for each of its tracepoints (include/trace/bpf_probe.h, 5.5 on).
bool KernelTypes::has_tracepoint(const std::string& name) const {
    return tracepoint_type(name).has_value();
}

std::optional<uint32_t> KernelTypes::function_type(const std::string& name) const {
    return find(types_.get(), name, BTF_KIND_FUNC);
}

std::optional<uint32_t> KernelTypes::tracepoint_type(const std::string& name) const {
    return find(types_.get(), "btf_trace_" + name, BTF_KIND_TYPEDEF);
}

} // namespace pinscope::probes
