// SPDX-License-Identifier: Apache-2.0
// The release build is one static file: it answers in an empty folder, as another user, without network.
#include "base/bytes.h"
#include "kernel/host_under_test.h"
#include "support/fake_tree.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <elf.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace pinscope {
namespace {

// A static file names no interpreter.
bool names_interpreter(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Elf64_Ehdr header{};
    std::memcpy(&header, bytes.data(), sizeof(header));
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type == PT_INTERP)
            return true;
    }
    return false;
}

TEST(StaticFile, AnswersInAnEmptyChrootAsAnotherUserWithoutNetwork) {
    if (names_interpreter(test::pinscope_program()))
        SKIP_HERE("this build of pinscope is not static");
    if (!test::is_root())
        SKIP_HERE("it takes root to change the root folder");
    const test::TemporaryFolder folder;
    ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
    std::filesystem::copy_file(test::pinscope_program(), folder.path() + "/pinscope");
    test::ProgramOptions options;
    options.program = "/pinscope";
    options.before_exec = [&] {
        return ::unshare(CLONE_NEWNET) == 0 && ::chroot(folder.path().c_str()) == 0 && ::chdir("/") == 0 &&
               test::set_memlock(8_MiB, 8_MiB) && test::become_nobody();
    };
    const auto run = test::pin_json({}, options);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.verdict("mlock"), "enforced") << run.reason("mlock");
    EXPECT_EQ(run.verdict("mmap-locked"), "enforced") << run.reason("mmap-locked");
    EXPECT_EQ(run.verdict("shm-lock"), "enforced") << run.reason("shm-lock");
    EXPECT_EQ(run.verdict("vmsplice"), "not_enforced") << run.reason("vmsplice");
    EXPECT_EQ(run.verdict("msg-zerocopy"), "unsupported") << run.reason("msg-zerocopy");
    EXPECT_GE(run.document.at("missing").size(), 4U);
}

} // namespace
} // namespace pinscope
