// SPDX-License-Identifier: Apache-2.0
// What the kernel probes cost, as ratios within one run: each loop without them, with them for a process that
// they do not watch, with them for one that they watch, and inside a call window.
//
// Usage: bench_probes [ROUNDS]      (as root; default 21: the median is printed, with quartiles)
#include "probes/session.h"
#include "run/call_window.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using pinscope::probes::Session;
using pinscope::probes::SessionOptions;

struct Loop {
    const char* name;
    int repeats;
    std::function<void()> once;
};

double nanoseconds_each(const Loop& loop) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < loop.repeats; ++i)
        loop.once();
    const auto took = std::chrono::steady_clock::now() - began;
    return std::chrono::duration<double, std::nano>(took).count() / loop.repeats;
}

struct Spread {
    double low, median, high;
};

Spread spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {values[values.size() / 4], values[values.size() / 2], values[values.size() * 3 / 4]};
}

SessionOptions options(bool watch) {
    const auto marker = pinscope::run::own_marker();
    SessionOptions out;
    out.marked = {{marker.file, "", marker.offset}};
    out.watch_self = watch;
    return out;
}

void print(const char* name, const char* what, const Spread& none, const Spread& with) {
    std::printf("%-16s %-22s %9.0f ns  (%.0f to %.0f)  ratio %.2f\n", name, what, with.median, with.low,
                with.high, with.median / none.median);
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 21; // NOLINT(cert-err34-c)
    constexpr size_t page = 4096;
    auto* memory = ::mmap(nullptr, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const std::vector<Loop> loops = {
        {"getppid", 20000, [] { ::syscall(SYS_getppid); }},
        {"mlock+munlock", 2000,
         [=] {
             ::mlock(memory, page);
             ::munlock(memory, page);
         }},
        {"page fault", 200,
         [=] {
             ::madvise(memory, 64 * page, MADV_DONTNEED);
             for (size_t at = 0; at < 64 * page; at += page)
                 static_cast<volatile char*>(memory)[at] = 1;
         }},
        {"marked call", 2000, [] { pinscope::run::in_call_window(1, [] {}); }},
    };
    for (const auto& loop : loops) {
        std::vector<double> none, others, watched, inside;
        for (int round = 0; round < rounds; ++round) {
            none.push_back(nanoseconds_each(loop));
            {
                Session session(options(false));
                others.push_back(nanoseconds_each(loop));
            }
            {
                auto wanted = options(true);
                wanted.ring_bytes = 32U << 20;
                Session session(wanted);
                if (!session.sight().windows) {
                    std::fprintf(stderr, "bench_probes: %s\n", session.why_no_windows().c_str());
                    return 77;
                }
                watched.push_back(nanoseconds_each(loop));
                pinscope::run::in_call_window(1, [&] { inside.push_back(nanoseconds_each(loop)); });
            }
        }
        const Spread base = spread(none);
        print(loop.name, "no probes", base, base);
        print(loop.name, "others are watched", base, spread(others));
        print(loop.name, "watched", base, spread(watched));
        print(loop.name, "inside a window", base, spread(inside));
    }
    return 0;
}
