// SPDX-License-Identifier: Apache-2.0
#include "host/loader_cache.h"

#include <cstdint>
#include <cstring>

namespace pinscope::host {
namespace {

constexpr std::string_view magic = "glibc-ld.so.cache1.1";

struct Header {
    char magic_and_version[20];
    uint32_t libraries;
    uint32_t string_bytes;
    uint32_t unused[5];
};
static_assert(sizeof(Header) == 48);

struct Entry {
    int32_t flags;
    uint32_t name; // offsets from the header's beginning
    uint32_t path;
    uint32_t os_version;
    uint64_t hardware;
};
static_assert(sizeof(Entry) == 24);

// The zero-terminated text at an offset; empty where it is not wholly inside.
std::string text_at(std::string_view content, uint32_t offset) {
    if (offset >= content.size())
        return {};
    const auto rest = content.substr(offset);
    const size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string() : std::string(rest.substr(0, end));
}

} // namespace

std::vector<std::pair<std::string, std::string>> parse_loader_cache(std::string_view content) {
    std::vector<std::pair<std::string, std::string>> out;
    const size_t begin = content.find(magic);
    if (begin == std::string_view::npos)
        return out;
    content.remove_prefix(begin);
    Header header{};
    if (content.size() < sizeof(header))
        return out;
    std::memcpy(&header, content.data(), sizeof(header));
    for (size_t i = 0, at = sizeof(header); i < header.libraries && at + sizeof(Entry) <= content.size();
         ++i, at += sizeof(Entry)) {
        Entry entry{};
        std::memcpy(&entry, content.data() + at, sizeof(entry));
        auto name = text_at(content, entry.name);
        auto path = text_at(content, entry.path);
        if (!name.empty() && !path.empty())
            out.emplace_back(std::move(name), std::move(path));
    }
    return out;
}

} // namespace pinscope::host
