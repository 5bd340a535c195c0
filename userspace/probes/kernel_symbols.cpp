// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel_symbols.h"

#include "base/file.h"
#include "base/text.h"

#include <charconv>

namespace pinscope::probes {

std::map<uint64_t, std::string> parse_kallsyms(std::string_view text) {
    std::map<uint64_t, std::string> out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const auto parts = words(text.substr(at, end - at));
        at = end + 1;
        if (parts.size() < 3 || (parts[1] != "t" && parts[1] != "T"))
            continue;
        uint64_t address = 0;
        std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), address, 16);
        if (address != 0)
            out.emplace(address, parts[2]);
    }
    return out;
}

std::string KernelSymbols::name(uint64_t address) {
    if (const auto found = known_.find(address); found != known_.end())
        return found->second;
    std::string name;
    if (auto answer = ask_ ? ask_(address) : std::nullopt)
        name = *answer;
    else
        name = from_kallsyms(address);
    known_.emplace(address, name);
    return name;
}

std::string KernelSymbols::from_kallsyms(uint64_t address) {
    if (!kallsyms_)
        kallsyms_ = parse_kallsyms(read_file("/proc/kallsyms").value_or(""));
    auto above = kallsyms_->upper_bound(address);
    return above == kallsyms_->begin() ? "" : std::prev(above)->second;
}

} // namespace pinscope::probes
