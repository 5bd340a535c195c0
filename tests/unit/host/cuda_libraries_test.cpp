// SPDX-License-Identifier: Apache-2.0
// The hunt for CUDA's libraries, on hosts as they are met. What is taken, and why the others are not.
#include "host/cuda_libraries.h"
#include "support/fake_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <elf.h>

#include <cstring>
#include <filesystem>

namespace pinscope::host {
namespace {

#if defined(__aarch64__)
constexpr uint16_t own = EM_AARCH64;
constexpr uint16_t other = EM_X86_64;
constexpr const char* distribution = "/usr/lib/aarch64-linux-gnu";
#else
constexpr uint16_t own = EM_X86_64;
constexpr uint16_t other = EM_AARCH64;
constexpr const char* distribution = "/usr/lib/x86_64-linux-gnu";
#endif

std::string library(uint16_t machine = own, unsigned char elf_class = ELFCLASS64, uint16_t type = ET_DYN) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_machine = machine;
    header.e_type = type;
    std::string text(sizeof(header), '\0');
    std::memcpy(text.data(), &header, sizeof(header));
    return text;
}

// As ldconfig writes it.
std::string loader_cache(const std::vector<std::pair<std::string, std::string>>& libraries) {
    const auto number = [](uint32_t value) {
        return std::string(reinterpret_cast<const char*>(&value), sizeof(value)); // NOLINT: its bytes
    };
    std::string entries;
    std::string strings;
    const size_t strings_at = 48 + 24 * libraries.size();
    for (const auto& [name, path] : libraries) {
        entries += number(0x303);
        entries += number(static_cast<uint32_t>(strings_at + strings.size()));
        strings += name + '\0';
        entries += number(static_cast<uint32_t>(strings_at + strings.size()));
        strings += path + '\0';
        entries += number(0) + number(0) + number(0);
    }
    std::string out = "glibc-ld.so.cache1.1";
    out += number(static_cast<uint32_t>(libraries.size())) + number(static_cast<uint32_t>(strings.size()));
    out += std::string(20, '\0');
    return out + entries + strings;
}

class CudaHunt : public testing::Test {
  protected:
    test::FakeTree tree_{{{"/etc/hostname", "host\n"}}};
    CudaSearch search_;
    std::optional<std::string> kernel_driver_;

    void link(const std::string& path, const std::string& target) {
        const std::string full = tree_.root() + path;
        std::filesystem::create_directories(full.substr(0, full.rfind('/')));
        std::filesystem::create_symlink(target, full);
    }

    // As a driver's package has it: libcuda.so.1 is a link to the file of its version.
    void add_driver(const std::string& folder, const std::string& version) {
        tree_.add(folder + "/libcuda.so." + version, library());
        link(folder + "/libcuda.so.1", "libcuda.so." + version);
    }

    CudaLibraries hunt() { return find_cuda_libraries({tree_.root()}, search_, kernel_driver_); }

    // What was decided of one file: "taken", or the reason why not; "" where it was not looked at.
    static std::string decided(const std::vector<CudaCandidate>& list, const std::string& path) {
        for (const auto& one : list)
            if (one.path == path)
                return one.taken ? "taken" : one.reason;
        return {};
    }
    static bool has(const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    }
};

TEST_F(CudaHunt, NothingIsNothing) {
    const auto found = hunt();
    EXPECT_TRUE(found.driver.empty());
    EXPECT_TRUE(found.runtime.empty());
    EXPECT_EQ(found.driver_path(), "");
    EXPECT_EQ(found.ld_library_path, "");
}

TEST_F(CudaHunt, ADistributionsDriverWithoutTheLinkForLinking) {
    kernel_driver_ = "550.54.14";
    add_driver(distribution, "550.54.14");
    const auto found = hunt();
    ASSERT_EQ(found.driver.size(), 1U);
    EXPECT_EQ(found.driver_path(), std::string(distribution) + "/libcuda.so.1");
    EXPECT_EQ(found.driver[0].version, "550.54.14");
    EXPECT_EQ(found.ld_library_path, "") << "the loader finds it";
}

TEST_F(CudaHunt, OnlyTheLinkForLinking) {
    link(std::string(distribution) + "/libcuda.so", "libcuda.so.550.54.14");
    const auto found = hunt();
    EXPECT_TRUE(
        has(decided(found.driver, std::string(distribution) + "/libcuda.so"), "for linking programs"));
    EXPECT_EQ(found.driver_path(), "");
}

TEST_F(CudaHunt, OnlyAStub) {
    tree_.add("/usr/local/cuda/lib64/stubs/libcuda.so", library());
    auto found = hunt();
    EXPECT_TRUE(has(decided(found.driver, "/usr/local/cuda/lib64/stubs/libcuda.so"), "stub"));
    EXPECT_EQ(found.driver_path(), "");
    // By the name that programs load, and first on the loader's path.
    tree_.add("/opt/stubs/libcuda.so.1", library());
    search_.ld_library_path = "/opt/stubs/";
    found = hunt();
    EXPECT_TRUE(has(found.driver.at(0).reason, "stub"));
}

TEST_F(CudaHunt, CompatServesOnlyWhereItIsNewer) {
    const std::string compat = "/usr/local/cuda-12.4/compat/libcuda.so.1";
    add_driver("/usr/local/cuda-12.4/compat", "550.54.14");
    EXPECT_TRUE(has(decided(hunt().driver, compat), "the kernel driver is not known"));
    kernel_driver_ = "595.45.04";
    EXPECT_TRUE(has(decided(hunt().driver, compat), "803")) << "older than the kernel driver";
    kernel_driver_ = "550.54.14";
    EXPECT_TRUE(has(decided(hunt().driver, compat), "803")) << "as old";
    kernel_driver_ = "535.104.05";
    EXPECT_EQ(decided(hunt().driver, compat), "taken");
    EXPECT_EQ(hunt().ld_library_path, "/usr/local/cuda-12.4/compat");
    // The driver's own comes before it.
    add_driver(distribution, "535.104.05");
    EXPECT_TRUE(has(decided(hunt().driver, compat), "comes before it"));
    // But for whoever puts it first.
    search_.ld_library_path = "/usr/local/cuda-12.4/compat";
    EXPECT_EQ(decided(hunt().driver, compat), "taken");
}

TEST_F(CudaHunt, ALibraryOfAnotherDriver) {
    kernel_driver_ = "535.104.05";
    add_driver("/usr/local/nvidia/lib64", "550.54.14");
    EXPECT_TRUE(has(decided(hunt().driver, "/usr/local/nvidia/lib64/libcuda.so.1"), "803"));
    kernel_driver_ = "550.54.14";
    EXPECT_EQ(decided(hunt().driver, "/usr/local/nvidia/lib64/libcuda.so.1"), "taken");
    EXPECT_EQ(hunt().ld_library_path, "/usr/local/nvidia/lib64");
}

TEST_F(CudaHunt, WhatIsNoLibrary) {
    const struct {
        const char* content;
        std::string text;
        const char* reason;
    } cases[] = {
        {"another machine's", library(other), "it is for"},
        {"32 bits", library(own, ELFCLASS32), "32-bit"},
        {"a program", library(own, ELFCLASS64, ET_EXEC), "no shared library"},
        {"a text file", "INPUT(libcuda.so.550)\n", "no ELF file"},
        {"an empty file", "", "no ELF file"},
        {"cut short", library().substr(0, 20), "ends within"},
    };
    for (const auto& [content, text, reason] : cases) {
        tree_.add(std::string(distribution) + "/libcuda.so.1", text);
        const auto found = hunt();
        EXPECT_TRUE(has(decided(found.driver, std::string(distribution) + "/libcuda.so.1"), reason))
            << content << ": " << found.driver.at(0).reason;
        EXPECT_EQ(found.driver_path(), "") << content;
    }
}

TEST_F(CudaHunt, ALinkToNothing) {
    link(std::string(distribution) + "/libcuda.so.1", "libcuda.so.550.54.14");
    EXPECT_EQ(hunt().driver.at(0).reason, "it is a link to nothing (libcuda.so.550.54.14)");
}

TEST_F(CudaHunt, AFolderInPlaceOfAFile) {
    std::filesystem::create_directories(tree_.root() + distribution + "/libcuda.so.1");
    EXPECT_EQ(hunt().driver.at(0).reason, "it is no regular file");
}

TEST_F(CudaHunt, WhatTheUserNamesComesFirst) {
    add_driver(distribution, "550.54.14");
    tree_.add("/home/user/libcuda.so.1", library());
    search_.cuda_lib = "/home/user/libcuda.so.1";
    EXPECT_EQ(hunt().driver_path(), "/home/user/libcuda.so.1");
    search_.cuda_lib = "/home/user";
    EXPECT_EQ(hunt().driver_path(), "/home/user/libcuda.so.1") << "the folder it is in";
    search_.cuda_lib = "/nowhere/libcuda.so.1";
    const auto found = hunt();
    EXPECT_EQ(found.driver.at(0).reason, "there is no such file");
    EXPECT_EQ(found.driver_path(), std::string(distribution) + "/libcuda.so.1");
}

TEST_F(CudaHunt, TheLoadersCache) {
    tree_.add("/opt/driver/libcuda.so.1", library());
    tree_.add("/opt/runtime/libcudart.so.12", library());
    tree_.add("/etc/ld.so.cache", loader_cache({{"libc.so.6", "/lib/libc.so.6"},
                                                {"libcuda.so.1", "/opt/driver/libcuda.so.1"},
                                                {"libcudart.so.12", "/opt/runtime/libcudart.so.12"}}));
    const auto found = hunt();
    EXPECT_EQ(found.driver_path(), "/opt/driver/libcuda.so.1");
    EXPECT_EQ(found.driver.at(0).found_by, "ldconfig's cache");
    EXPECT_EQ(found.runtime_path(), "/opt/runtime/libcudart.so.12");
    EXPECT_EQ(found.ld_library_path, "");
}

TEST_F(CudaHunt, ABrokenCacheIsNone) {
    const auto cache = loader_cache({{"libcuda.so.1", "/opt/driver/libcuda.so.1"}});
    tree_.add("/opt/driver/libcuda.so.1", library());
    for (size_t length = 0; length < cache.size(); ++length) {
        tree_.add("/etc/ld.so.cache", cache.substr(0, length));
        EXPECT_TRUE(hunt().driver.empty()) << length;
    }
    auto hostile = cache;
    std::memset(hostile.data() + 20, 0xff, 8); // as many libraries as a number can say
    std::memset(hostile.data() + 52, 0xff, 8); // and their names far outside
    tree_.add("/etc/ld.so.cache", hostile);
    EXPECT_TRUE(hunt().driver.empty());
}

TEST_F(CudaHunt, OfSeveralToolkitsTheNewestThatTheDriverKnows) {
    kernel_driver_ = "550.54.14";
    for (const char* version : {"11.8", "12.4", "13.0"}) {
        const std::string folder = fmt::format("/usr/local/cuda-{}/lib64", version);
        const std::string major = std::string(version).substr(0, 2);
        tree_.add(fmt::format("{}/libcudart.so.{}.99", folder, version), library());
        link(fmt::format("{}/libcudart.so.{}", folder, major), fmt::format("libcudart.so.{}.99", version));
    }
    const auto found = hunt();
    EXPECT_EQ(found.runtime_path(), "/usr/local/cuda-12.4/lib64/libcudart.so.12");
    EXPECT_TRUE(has(decided(found.runtime, "/usr/local/cuda-13.0/lib64/libcudart.so.13"), "error 35"));
    EXPECT_TRUE(has(decided(found.runtime, "/usr/local/cuda-11.8/lib64/libcudart.so.11"), "comes before it"));
}

TEST_F(CudaHunt, PipAndConda) {
    search_.virtual_env = "/home/user/venv";
    tree_.add("/home/user/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12",
              library());
    EXPECT_EQ(hunt().runtime_path(),
              "/home/user/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12");
    search_ = {};
    search_.conda_prefix = "/opt/conda";
    tree_.add("/opt/conda/lib/libcudart.so.11.0", library());
    EXPECT_EQ(hunt().runtime_path(), "/opt/conda/lib/libcudart.so.11.0");
    EXPECT_EQ(hunt().ld_library_path, "/opt/conda/lib");
    search_ = {};
    search_.home = "/home/user";
    tree_.add("/home/user/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libcudart.so.13", library());
    EXPECT_EQ(hunt().runtime.at(0).found_by, "a Python package");
}

} // namespace
} // namespace pinscope::host
