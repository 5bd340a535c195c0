// SPDX-License-Identifier: Apache-2.0
// The tests, and the small commands that they have pinscope run: a guest has no other programs.
#include "kernel/test_cgroups.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

// NAME ARGUMENT…; -1 for a name that is none of ours.
int run_small_command(const std::string& name, int argc, char** argv) {
    if (name == "echo-bytes") { // each argument, ended by a zero
        for (int i = 0; i < argc; ++i)
            std::fwrite(argv[i], 1, std::string(argv[i]).size() + 1, stdout);
        return 0;
    }
    if (name == "exit")
        return std::atoi(argv[0]); // NOLINT(cert-err34-c)
    if (name == "die")
        std::raise(std::atoi(argv[0])); // NOLINT(cert-err34-c)
    if (name == "sleep") {
        std::fputs("sleeping\n", stderr);
        for (;;)
            ::pause();
    }
    if (name == "leave-child") { // a grandchild that would outlive its parent
        const pid_t child = ::fork();
        if (child == 0)
            for (;;)
                ::pause();
        std::printf("%d\n", child);
        return 0;
    }
    if (name == "status") { // a file of /proc/self
        std::FILE* file = std::fopen((std::string("/proc/self/") + argv[0]).c_str(), "re");
        for (int c = file != nullptr ? std::fgetc(file) : EOF; c != EOF; c = std::fgetc(file))
            std::putchar(c);
        return 0;
    }
    if (name == "fill") {                                                    // touches so many MiB
        const size_t bytes = static_cast<size_t>(std::atol(argv[0])) << 20U; // NOLINT(cert-err34-c)
        const std::unique_ptr<volatile char[]> memory(new volatile char[bytes]);
        for (size_t at = 0; at < bytes; at += 4096)
            memory[at] = 1;
        return 0;
    }
    return -1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        const int status = run_small_command(argv[1], argc - 2, argv + 2);
        if (status >= 0)
            return status;
    }
    testing::InitGoogleTest(&argc, argv);
    pinscope::test::arrange_cgroups_for_all_tests();
    return RUN_ALL_TESTS();
}
