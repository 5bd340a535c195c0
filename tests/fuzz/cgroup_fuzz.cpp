// SPDX-License-Identifier: Apache-2.0
// /proc/PID/cgroup and mountinfo, parted by the first zero byte.
#include "host/cgroup.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pinscope;
    const std::string_view text = fuzz::as_text(data, size);
    const size_t zero = text.find('\0');
    const std::string_view mountinfo = zero == std::string_view::npos ? "" : text.substr(zero + 1);
    const auto place = host::locate_memory_cgroup(text.substr(0, zero), mountinfo);
    if (!place) {
        fuzz::require(!place.error().text().empty());
        return 0;
    }
    fuzz::require(place->version == 1 || place->version == 2);
    // Never outside of the mount, and every way up ends.
    fuzz::require(place->folder.compare(0, place->mount.size(), place->mount) == 0);
    int levels = 0;
    for (std::optional<host::CgroupPlace> at = *place; at; at = host::parent_of(*at))
        fuzz::require(++levels <= static_cast<int>(size) + 2);
    return 0;
}
