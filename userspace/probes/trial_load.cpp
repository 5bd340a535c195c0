// SPDX-License-Identifier: Apache-2.0
#include "probes/trial_load.h"

#include "base/fd.h"
#include "base/file.h"
#include "host/process.h"
#include "probes/libbpf_options.h"

#include <fmt/format.h>

#include <linux/bpf.h>
#include <linux/capability.h>

#include <array>
#include <bpf/bpf.h>
#include <cerrno>
#include <vector>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

namespace pinscope::probes {
namespace {

constexpr uint8_t unknown_opcode = 0xff;

bpf_insn move_register(uint8_t to, uint8_t from) {
    bpf_insn out{};
    out.code = BPF_ALU64 | BPF_MOV | BPF_X;
    out.dst_reg = to & 0xf;
    out.src_reg = from & 0xf;
    return out;
}

bpf_insn immediate(uint8_t operation, uint8_t to, int32_t value) {
    bpf_insn out{};
    out.code = operation;
    out.dst_reg = to & 0xf;
    out.imm = value;
    return out;
}

// bpf_probe_read_kernel(stack, 8, 0), which every program of ours needs and lockdown forbids; return 0
std::vector<bpf_insn> smallest_program() {
    constexpr uint8_t add = BPF_ALU64 | BPF_ADD | BPF_K;
    constexpr uint8_t set = BPF_ALU64 | BPF_MOV | BPF_K;
    return {move_register(BPF_REG_1, BPF_REG_10),
            immediate(add, BPF_REG_1, -8),
            immediate(set, BPF_REG_2, 8),
            immediate(set, BPF_REG_3, 0),
            immediate(BPF_JMP | BPF_CALL, 0, BPF_FUNC_probe_read_kernel),
            immediate(set, BPF_REG_0, 0),
            immediate(BPF_JMP | BPF_EXIT, 0, 0)};
}

std::string lockdown() {
    const auto text = read_file("/sys/kernel/security/lockdown");
    if (!text)
        return {};
    const auto from = text->find('[');
    const auto to = text->find(']');
    return from != std::string::npos && to != std::string::npos ? text->substr(from + 1, to - from - 1) : "";
}

std::string missing_capabilities() {
    const auto identity = host::read_identity(host::Root(), 0);
    if (!identity)
        return {};
    const auto has = [&](unsigned capability) { return (identity->cap_effective >> capability & 1) != 0; };
    if (has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON)))
        return {};
    return "CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN) are missing";
}

Status refuse(ProgramType type, std::string reason) {
    return fail({"cannot load a program", std::string(program_type_name(type)), std::move(reason), "", 0});
}

} // namespace

std::string refusal_words(int error) {
    if (error == EPERM || error == EACCES) {
        if (auto missing = missing_capabilities(); !missing.empty())
            return missing;
    }
    // What is locked down is missing to the verifier, which answers EINVAL (kernel/bpf/helpers.c).
    if (error == EPERM || error == EACCES || error == EINVAL) {
        if (lockdown() == "confidentiality")
            return "the kernel is locked down (confidentiality)";
    }
    if (error == EPERM || error == EACCES)
        return fmt::format("denied by this kernel or by a policy ({})", errno_name(error));
    return fmt::format("refused by this kernel ({})", errno_name(error));
}

Status try_program_type(ProgramType type, const KernelTypes& types, bool broken) {
    auto program = smallest_program();
    if (broken)
        program.front().code = unknown_opcode;
    auto options = libbpf_options<bpf_prog_load_opts>();
    bpf_prog_type kernel_type = BPF_PROG_TYPE_KPROBE;
    std::optional<uint32_t> target;
    switch (type) {
    case ProgramType::tracepoint:
        kernel_type = BPF_PROG_TYPE_TRACING;
        options.expected_attach_type = BPF_TRACE_RAW_TP;
        target = types.tracepoint_type("sys_enter");
        if (!target)
            return refuse(type, "this kernel has no tracepoints of system calls");
        break;
    case ProgramType::fexit:
        kernel_type = BPF_PROG_TYPE_TRACING;
        options.expected_attach_type = BPF_TRACE_FEXIT;
        target = types.function_type("security_capable");
        if (!target)
            return refuse(type, "this kernel's BTF does not know security_capable");
        break;
    case ProgramType::user_run:
        kernel_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
        break;
    case ProgramType::kprobe:
        if (!exists("/sys/bus/event_source/devices/kprobe/type"))
            return refuse(type, "this kernel has no kprobes (CONFIG_KPROBES)");
        break;
    case ProgramType::uprobe:
        if (!exists("/sys/bus/event_source/devices/uprobe/type"))
            return refuse(type, "this kernel has no uprobes (CONFIG_UPROBES), or /sys is not mounted here");
        break;
    }
    options.attach_btf_id = target.value_or(0);
    const Fd loaded(
        ::bpf_prog_load(kernel_type, "pinscope_trial", "GPL", program.data(), program.size(), &options));
    if (!loaded)
        return refuse(type, refusal_words(errno));
    return {};
}

} // namespace pinscope::probes
