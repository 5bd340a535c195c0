// SPDX-License-Identifier: Apache-2.0
#include "run/call_window.h"

#include <link.h>

extern "C" [[gnu::noinline, gnu::used]] void pinscope_call_window(uint64_t tag, void (*body)(void*),
                                                                  void* argument) {
    asm volatile("" : : "r"(tag)); // keeps the argument, and the function's own frame
    body(argument);
    asm volatile("" : : : "memory");
}

namespace pinscope::run {
namespace {

// The first object that is visited is the program itself.
int find_in_program(dl_phdr_info* info, size_t /*size*/, void* result) {
    auto& offset = *static_cast<uint64_t*>(result);
    const auto address =
        reinterpret_cast<uint64_t>(&pinscope_call_window) - info->dlpi_addr; // NOLINT: an address as a number
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i]; // NOLINT: the loader's array
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address < segment.p_vaddr + segment.p_memsz)
            offset = address - segment.p_vaddr + segment.p_offset;
    }
    return 1;
}

} // namespace

MarkerPlace own_marker() {
    MarkerPlace place{"/proc/self/exe", 0};
    ::dl_iterate_phdr(&find_in_program, &place.offset);
    return place;
}

} // namespace pinscope::run
