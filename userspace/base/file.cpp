// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include "base/fd.h"
#include "base/text.h"

#include <climits>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace pinscope {
namespace {

constexpr size_t largest_file = size_t{16} << 20U;

} // namespace

Result<std::string> read_file(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return fail(os_error("cannot open", path, errno));
    std::string text;
    std::array<char, 8192> block{};
    for (;;) {
        const ssize_t got = ::read(fd.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(os_error("cannot read", path, errno));
        if (got == 0)
            return text;
        text.append(block.data(), static_cast<size_t>(got));
        if (text.size() > largest_file)
            return fail({"cannot read", path, "it is larger than 16 MiB", "", EFBIG});
    }
}

Status write_file(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd)
        return fail(os_error("cannot open for writing", path, errno));
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0)
        return fail(os_error("cannot write to", path, errno));
    if (static_cast<size_t>(written) != text.size())
        return fail({"cannot write to", path, "only a part was taken", "", EIO});
    return {};
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    if (!folder)
        return fail(os_error("cannot list", path, errno));
    std::vector<std::string> names;
    // readdir is safe here: the stream is this function's own.
    while (const dirent* entry = ::readdir(folder.get())) { // NOLINT(concurrency-mt-unsafe)
        const std::string name = entry->d_name;
        if (name != "." && name != "..")
            names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::string> read_link(const std::string& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0)
        return fail(os_error("cannot read the link", path, errno));
    return std::string(target.data(), static_cast<size_t>(length));
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

Result<uint64_t> read_number(const std::string& path) {
    const auto text = read_file(path);
    if (!text)
        return fail(text.error());
    const auto number = parse_unsigned(trim(*text));
    if (!number)
        return fail({"cannot read", path, "it does not hold a number", "", EINVAL});
    return *number;
}

} // namespace pinscope
