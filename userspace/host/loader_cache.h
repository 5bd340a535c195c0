// SPDX-License-Identifier: Apache-2.0
// The dynamic loader's cache, /etc/ld.so.cache, as ldconfig writes it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinscope::host {

// Name and path of every library in the cache's content, in its order; nothing of what lies outside the
// content. Format: glibc sysdeps/generic/dl-cache.h, struct cache_file_new ("glibc-ld.so.cache1.1"), also
// where it follows the older format in the same file.
std::vector<std::pair<std::string, std::string>> parse_loader_cache(std::string_view content);

} // namespace pinscope::host
