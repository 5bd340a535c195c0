// SPDX-License-Identifier: Apache-2.0
// The marker function: a call whose window the kernel's probes open and close, with whatever the body does
// inside.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

// Calls body(argument). `tag` is found again in the window. Exported under this name, so that a tracer can
// find it; no exception may leave the body (a return probe does not survive one).
extern "C" void pinscope_call_window(uint64_t tag, void (*body)(void*), void* argument);

namespace pinscope::run {

inline constexpr const char* marker_name = "pinscope_call_window";

template <class Body>
void in_call_window(uint64_t tag, Body body) {
    pinscope_call_window(
        tag, [](void* argument) { (*static_cast<Body*>(argument))(); }, &body);
}

// Where the marker function is, for uprobes: in this program's own file.
struct MarkerPlace {
    std::string file;
    uint64_t offset = 0; // in the file
};
MarkerPlace own_marker();

} // namespace pinscope::run
