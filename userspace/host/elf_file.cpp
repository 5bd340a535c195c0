// SPDX-License-Identifier: Apache-2.0
#include "host/elf_file.h"

#include "base/error.h"
#include "base/fd.h"

#include <fmt/format.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pinscope::host {
namespace {

#if defined(__aarch64__)
constexpr uint16_t own_machine = EM_AARCH64;
#else
constexpr uint16_t own_machine = EM_X86_64;
#endif

std::string machine_name(uint16_t machine) {
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "aarch64";
    case EM_386:
        return "32-bit x86";
    case EM_ARM:
        return "32-bit arm";
    case EM_PPC64:
        return "ppc64";
    default:
        return fmt::format("ELF machine {}", machine);
    }
}

} // namespace

std::string why_not_loadable(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file)
        return fmt::format("it cannot be opened ({})", errno_name(errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return "it is no regular file";
    Elf64_Ehdr header{};
    const ssize_t got = ::read(file.get(), &header, sizeof(header));
    if (got < EI_NIDENT || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return "it is no ELF file";
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return "it is a 32-bit library";
    if (got < static_cast<ssize_t>(sizeof(header)))
        return "it ends within its ELF header";
    if (header.e_machine != own_machine)
        return fmt::format("it is for {}, not {}", machine_name(header.e_machine), machine_name(own_machine));
    if (header.e_type != ET_DYN)
        return "it is no shared library";
    return {};
}

} // namespace pinscope::host
