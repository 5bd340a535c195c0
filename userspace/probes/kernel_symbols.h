// SPDX-License-Identifier: Apache-2.0
// Names of kernel addresses. Asked of the kernel itself by a BPF program where there is one, which works
// where /proc/kallsyms hides its addresses (kernel.kptr_restrict) and needs no parsing; else read from
// /proc/kallsyms.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace pinscope::probes {

class KernelSymbols {
  public:
    // Nothing for an address that it cannot name.
    using Ask = std::function<std::optional<std::string>(uint64_t address)>;
    explicit KernelSymbols(Ask ask) : ask_(std::move(ask)) {}

    // The function that the address is in; "" where that cannot be found out.
    std::string name(uint64_t address);

  private:
    std::string from_kallsyms(uint64_t address);

    Ask ask_;
    std::unordered_map<uint64_t, std::string> known_;
    std::optional<std::map<uint64_t, std::string>> kallsyms_;
};

// Functions by address, from the text of /proc/kallsyms; empty where its addresses are hidden (all 0).
std::map<uint64_t, std::string> parse_kallsyms(std::string_view text);

} // namespace pinscope::probes
