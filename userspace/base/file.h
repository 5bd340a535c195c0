// SPDX-License-Identifier: Apache-2.0
// Whole small files, as procfs, sysfs and cgroupfs have them.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope {

// Reads to the end of the file; at most 16 MiB, since nothing pinscope reads whole is larger.
Result<std::string> read_file(const std::string& path);

// One write(2) of the whole text, as kernel files want it. The file must exist.
Status write_file(const std::string& path, std::string_view text);

// The names in a folder, without "." and "..", sorted.
Result<std::vector<std::string>> list_folder(const std::string& path);

// What a symbolic link points to.
Result<std::string> read_link(const std::string& path);

bool exists(const std::string& path);

// The first line's number: for files such as memory.usage_in_bytes.
Result<uint64_t> read_number(const std::string& path);

} // namespace pinscope
