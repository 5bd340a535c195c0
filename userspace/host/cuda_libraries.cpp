// SPDX-License-Identifier: Apache-2.0
#include "host/cuda_libraries.h"

#include "base/file.h"
#include "base/text.h"
#include "host/elf_file.h"
#include "host/loader_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace pinscope::host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view driver_name = "libcuda.so.1";
constexpr std::string_view runtime_prefix = "libcudart.so.";
constexpr std::string_view by_loader_path = "LD_LIBRARY_PATH";
constexpr std::string_view by_cache = "ldconfig's cache";
constexpr std::string_view by_default = "the loader's own folders";
constexpr std::string_view by_user = "named by the user";

#if defined(__aarch64__)
constexpr std::array<std::string_view, 6> loader_folders = {
    "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
constexpr std::string_view toolkit_target = "targets/sbsa-linux/lib";
#else
constexpr std::array<std::string_view, 6> loader_folders = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
constexpr std::string_view toolkit_target = "targets/x86_64-linux/lib";
#endif

using Version = std::vector<uint64_t>;

// "550.54.14"; nothing for anything but numbers with dots between them.
std::optional<Version> parse_version(std::string_view text) {
    Version version;
    for (const auto part : split(text, '.')) {
        const auto number = parse_unsigned(part);
        if (!number)
            return std::nullopt;
        version.push_back(*number);
    }
    return version.empty() ? std::nullopt : std::optional(version);
}

// Since when drivers know a CUDA (CUDA release notes, "CUDA Driver").
uint64_t newest_cuda_of(uint64_t driver_major) {
    static constexpr std::array<std::pair<uint64_t, uint64_t>, 3> since = {{{580, 13}, {525, 12}, {450, 11}}};
    for (const auto& [driver, cuda] : since)
        if (driver_major >= driver)
            return cuda;
    return 10;
}

uint64_t oldest_driver_of(uint64_t cuda) {
    return cuda >= 13 ? 580 : cuda == 12 ? 525 : 450;
}

bool lies_in(const std::string& path, std::string_view folder) {
    return path.find(fmt::format("/{}/", folder)) != std::string::npos;
}

// The names in a folder of the root that begin so; newest version last is not promised.
std::vector<std::string> names_like(const std::string& folder, std::string_view prefix) {
    std::vector<std::string> out;
    for (auto& name : list_folder(folder).value_or(std::vector<std::string>()))
        if (name.compare(0, prefix.size(), prefix) == 0)
            out.push_back(std::move(name));
    return out;
}

class Hunt {
  public:
    Hunt(const Root& root, const CudaSearch& search, const std::optional<std::string>& kernel_driver)
        : root_(root), search_(search), kernel_driver_(kernel_driver) {
        cache_ = parse_loader_cache(read_file(root.at("/etc/ld.so.cache")).value_or(""));
    }

    CudaLibraries run() {
        find_driver();
        find_runtime();
        std::vector<std::string> folders;
        for (const auto& list : {out_.driver, out_.runtime})
            for (const auto& one : list)
                if (one.taken && !loader_finds(one))
                    folders.push_back(one.path.substr(0, one.path.rfind('/')));
        folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
        if (!folders.empty() && !search_.ld_library_path.empty())
            folders.push_back(search_.ld_library_path);
        out_.ld_library_path = fmt::format("{}", fmt::join(folders, ":"));
        return std::move(out_);
    }

  private:
    static bool loader_finds(const CudaCandidate& one) {
        return one.found_by == by_loader_path || one.found_by == by_cache || one.found_by == by_default;
    }

    // --- libcuda ------------------------------------------------------------------------------------------

    void find_driver() {
        if (search_.cuda_lib)
            add_driver(named(*search_.cuda_lib, driver_name), by_user);
        for (const auto folder : split(std::string_view(search_.ld_library_path), ':'))
            look_for_driver(std::string(folder), by_loader_path);
        for (const auto& [name, path] : cache_)
            if (name == driver_name)
                add_driver(path, by_cache);
        for (const auto folder : loader_folders)
            look_for_driver(std::string(folder), by_default);
        for (const auto* folder : {"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib"})
            look_for_driver(folder, "a folder that container runtimes use");
        for (const auto& toolkit : toolkits())
            for (const auto* folder : {"/compat", "/lib64/stubs"})
                look_for_driver(toolkit + folder, "the CUDA toolkit");
    }

    void look_for_driver(const std::string& folder, std::string_view found_by) {
        if (folder.empty())
            return;
        const std::string path = folder + "/" + std::string(driver_name);
        if (is_there(path))
            return add_driver(path, found_by);
        const std::string link = folder + "/libcuda.so";
        if (is_there(link) && first_time(link))
            out_.driver.push_back({link, std::string(found_by), version_of(link, "libcuda.so."), false,
                                   lies_in(link, "stubs")
                                       ? stub_words()
                                       : "it is for linking programs; they load libcuda.so.1"});
    }

    void add_driver(const std::string& path, std::string_view found_by) {
        if (!first_time(path))
            return;
        CudaCandidate one{path, std::string(found_by), version_of(path, "libcuda.so."), false, ""};
        one.reason = why_no_file(path);
        if (one.reason.empty())
            one.reason = why_not_driver(one);
        decide(one, out_.driver);
    }

    static std::string stub_words() {
        return "it is the stub that programs are linked with: there is no driver in it";
    }

    std::string why_not_driver(const CudaCandidate& one) const {
        if (lies_in(one.path, "stubs"))
            return stub_words();
        const auto own = parse_version(one.version);
        const auto kernel = kernel_driver_ ? parse_version(*kernel_driver_) : std::nullopt;
        if (lies_in(one.path, "compat")) {
            if (!kernel || !own)
                return fmt::format(
                    "a compat library serves only where it is newer than the kernel driver, and "
                    "the version of {} is not known",
                    kernel ? "this one" : "the kernel driver");
            if (*own <= *kernel)
                return fmt::format(
                    "a compat library must be newer than the kernel driver, which is {}: cuInit "
                    "would end with error 803",
                    *kernel_driver_);
            return {};
        }
        if (own && kernel && *own != *kernel)
            return fmt::format("the kernel driver is {}: cuInit would end with error 803", *kernel_driver_);
        return {};
    }

    // --- libcudart ----------------------------------------------------------------------------------------

    void find_runtime() {
        if (search_.cudart)
            add_runtime(named(*search_.cudart, runtime_prefix), by_user);
        for (const auto folder : split(std::string_view(search_.ld_library_path), ':'))
            look_for_runtime(std::string(folder), by_loader_path);
        for (const auto& [name, path] : cache_)
            if (name.compare(0, runtime_prefix.size(), runtime_prefix) == 0)
                add_runtime(path, by_cache);
        for (const auto folder : loader_folders)
            look_for_runtime(std::string(folder), by_default);
        for (const auto& toolkit : toolkits())
            for (const auto& folder : {std::string("lib64"), std::string(toolkit_target), std::string("lib")})
                look_for_runtime(fmt::format("{}/{}", toolkit, folder), "the CUDA toolkit");
        for (const auto& folder : python_folders())
            for (const auto* package : {"/nvidia/cu13/lib", "/nvidia/cuda_runtime/lib"})
                look_for_runtime(folder + package, "a Python package");
        if (!search_.conda_prefix.empty())
            look_for_runtime(search_.conda_prefix + "/lib", "the conda environment");
    }

    void look_for_runtime(const std::string& folder, std::string_view found_by) {
        if (folder.empty())
            return;
        auto names = names_like(root_.at(folder), runtime_prefix);
        // By SONAME, libcudart.so.12 or .so.11.0; the file behind it has a longer name.
        std::sort(names.begin(), names.end(),
                  [](const auto& a, const auto& b) { return a.size() < b.size(); });
        std::set<std::string> seen;
        for (const auto& name : names) {
            const auto major = name.substr(0, name.find('.', runtime_prefix.size()));
            if (seen.insert(major).second)
                add_runtime(fmt::format("{}/{}", folder, name), found_by);
        }
    }

    void add_runtime(const std::string& path, std::string_view found_by) {
        if (!first_time(path))
            return;
        CudaCandidate one{path, std::string(found_by), version_of(path, runtime_prefix), false, ""};
        one.reason = why_no_file(path);
        if (one.reason.empty())
            one.reason = why_not_runtime(one);
        decide(one, out_.runtime);
    }

    std::string why_not_runtime(const CudaCandidate& one) const {
        const auto own = parse_version(one.version);
        const auto kernel = kernel_driver_ ? parse_version(*kernel_driver_) : std::nullopt;
        // A compat libcuda brings what the kernel driver lacks.
        const bool compat = lies_in(out_.driver_path(), "compat");
        if (own && kernel && !compat && own->front() > newest_cuda_of(kernel->front()))
            return fmt::format(
                "CUDA {}'s runtime takes driver {} or newer, and the kernel driver is {}: calls "
                "would end with error 35",
                own->front(), oldest_driver_of(own->front()), *kernel_driver_);
        return {};
    }

    // --- Both ---------------------------------------------------------------------------------------------

    static void decide(CudaCandidate& one, std::vector<CudaCandidate>& list) {
        const auto before =
            std::find_if(list.begin(), list.end(), [](const auto& other) { return other.taken; });
        if (one.reason.empty()) {
            if (before == list.end())
                one.taken = true;
            else
                one.reason = fmt::format("{} comes before it", before->path);
        }
        list.push_back(std::move(one));
    }

    // The file that the user named, or the library in the folder that was named.
    std::string named(const std::string& path, std::string_view name) const {
        std::error_code error;
        if (!fs::is_directory(root_.at(path), error))
            return path;
        const auto names = names_like(root_.at(path), name);
        return path + "/" + (names.empty() ? std::string(name) : names.front());
    }

    bool is_there(const std::string& path) const {
        std::error_code error;
        return fs::symlink_status(root_.at(path), error).type() != fs::file_type::not_found && !error;
    }

    // Each file is looked at once, whatever path leads to it.
    bool first_time(const std::string& path) {
        std::error_code error;
        const auto real = fs::canonical(root_.at(path), error);
        return seen_.insert(error ? root_.at(path) : real.string()).second;
    }

    std::string why_no_file(const std::string& path) const {
        std::error_code error;
        if (!is_there(path))
            return "there is no such file";
        if (!fs::exists(root_.at(path), error))
            return fmt::format("it is a link to nothing ({})", read_link(root_.at(path)).value_or("?"));
        return why_not_loadable(root_.at(path));
    }

    // What follows the prefix in the name of the file behind all links.
    std::string version_of(const std::string& path, std::string_view prefix) const {
        std::error_code error;
        const auto real = fs::canonical(root_.at(path), error);
        const std::string name = error ? "" : real.filename().string();
        if (name.compare(0, prefix.size(), prefix) != 0)
            return {};
        const std::string version = name.substr(prefix.size());
        // "1" is the SONAME's.
        return version == "1" || !parse_version(version) ? "" : version;
    }

    // The one that /usr/local/cuda is, then the others, newest first.
    std::vector<std::string> toolkits() const {
        std::vector<std::pair<Version, std::string>> versions;
        for (const auto& name : names_like(root_.at("/usr/local"), "cuda-"))
            if (const auto version = parse_version(std::string_view(name).substr(5)))
                versions.emplace_back(*version, "/usr/local/" + name);
        std::sort(versions.rbegin(), versions.rend());
        std::vector<std::string> out = {"/usr/local/cuda"};
        for (auto& [version, path] : versions)
            out.push_back(std::move(path));
        out.emplace_back("/opt/cuda");
        return out;
    }

    std::vector<std::string> python_folders() const {
        std::vector<std::string> out;
        std::vector<std::string> prefixes;
        for (const auto& prefix :
             {search_.virtual_env, search_.conda_prefix, search_.home.empty() ? "" : search_.home + "/.local",
              std::string("/usr/local"), std::string("/usr")})
            if (!prefix.empty())
                prefixes.push_back(prefix + "/lib");
        for (const auto& prefix : prefixes)
            for (const auto& python : names_like(root_.at(prefix), "python3"))
                for (const auto* packages : {"/site-packages", "/dist-packages"})
                    out.push_back(fmt::format("{}/{}{}", prefix, python, packages));
        return out;
    }

    const Root& root_;
    const CudaSearch& search_;
    const std::optional<std::string>& kernel_driver_;
    std::vector<std::pair<std::string, std::string>> cache_;
    std::set<std::string> seen_;
    CudaLibraries out_;
};

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace

CudaSearch search_of_environment() {
    CudaSearch search;
    search.ld_library_path = variable("LD_LIBRARY_PATH");
    search.virtual_env = variable("VIRTUAL_ENV");
    search.conda_prefix = variable("CONDA_PREFIX");
    search.home = variable("HOME");
    return search;
}

CudaLibraries find_cuda_libraries(const Root& root, const CudaSearch& search,
                                  const std::optional<std::string>& kernel_driver) {
    return Hunt(root, search, kernel_driver).run();
}

} // namespace pinscope::host
