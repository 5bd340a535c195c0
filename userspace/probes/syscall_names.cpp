// SPDX-License-Identifier: Apache-2.0
#include "probes/syscall_names.h"

#include <fmt/format.h>

#include <sys/syscall.h>

#include <string_view>
#include <unordered_map>

namespace pinscope::probes {

std::string syscall_name(uint32_t number) {
    static const std::unordered_map<uint32_t, std::string_view> names = {
#include <syscall_names.inc> // made at configure time
    };
    const auto found = names.find(number);
    return found != names.end() ? std::string(found->second) : fmt::format("syscall {}", number);
}

int descriptor_argument(uint32_t number) {
    switch (number) {
    case SYS_mmap:
        return 4;
    case SYS_bind:
    case SYS_fallocate:
    case SYS_fcntl:
    case SYS_ftruncate:
    case SYS_getsockopt:
    case SYS_ioctl:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
    case SYS_lseek:
    case SYS_read:
    case SYS_recvmsg:
    case SYS_sendmsg:
    case SYS_sendto:
    case SYS_setsockopt:
    case SYS_vmsplice:
    case SYS_write:
    case SYS_writev:
        return 0;
    default:
        return -1;
    }
}

} // namespace pinscope::probes
