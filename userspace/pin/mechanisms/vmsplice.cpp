// SPDX-License-Identifier: Apache-2.0
// vmsplice(2): user pages that sit in a pipe are pinned until they are read.
#include "base/fd.h"
#include "pin/mechanisms/mechanisms.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace pinscope::pin {
namespace {

class Vmsplice : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::populated(bytes);
        if (!memory_)
            return Step::refused("mmap");
        return Step::ok();
    }
    // A pipe holds a page in each slot; as many pipes as it takes.
    Step pin() override {
        uint64_t at = 0;
        while (at < memory_.bytes()) {
            std::array<int, 2> ends{};
            if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
                return Step::refused("pipe2");
            pipes_.emplace_back(ends[0]);
            pipes_.emplace_back(ends[1]);
            // Refused beyond fs.pipe-user-pages-soft; a pipe of the default size serves as well.
            (void)::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes);
            const uint64_t before = at;
            if (auto spliced = fill(ends[1], at); !spliced)
                return spliced;
            if (at == before)
                return Step::refused("vmsplice", EAGAIN);
        }
        return Step::ok();
    }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return memory_.bytes(); }

  private:
    static constexpr int pipe_bytes = 1 << 20; // fs.pipe-max-size by default

    // Splices from `at` on until the pipe is full, and moves `at`.
    Step fill(int pipe, uint64_t& at) {
        while (at < memory_.bytes()) {
            const iovec part{static_cast<char*>(memory_.address()) + at, memory_.bytes() - at};
            const ssize_t spliced = ::vmsplice(pipe, &part, 1, SPLICE_F_NONBLOCK);
            if (spliced < 0)
                return errno == EAGAIN ? Step::ok() : Step::refused("vmsplice");
            at += static_cast<uint64_t>(spliced);
        }
        return Step::ok();
    }

    Mapping memory_;
    std::vector<Fd> pipes_;
};

const MechanismFacts facts = {
    .name = "vmsplice",
    .summary = "user pages held in pipes by vmsplice(2)",
    .over_limit = {},
    .at_zero_limit = {},
    .budgets = {},
    .source = "fs/splice.c vmsplice_to_pipe takes page references and looks at no limit but the pipe's size",
    .needs = "",
    .not_limited_because = "pipes have limits of their own (fs.pipe-user-pages-soft, -hard)",
};

} // namespace

const RegisteredMechanism vmsplice_mechanism = {facts, &create<Vmsplice>, &any_size, &no_allowance, true};

} // namespace pinscope::pin
