// SPDX-License-Identifier: Apache-2.0
// Huge pages of the reserved pool.
#include "pin/mechanisms/mechanisms.h"

#include <sys/mman.h>

namespace pinscope::pin {
namespace {

constexpr uint64_t huge_page = 2_MiB;

uint64_t whole_huge_pages(uint64_t bytes) {
    return round_up(bytes, huge_page);
}

class Hugetlb : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        bytes_ = whole_huge_pages(bytes);
        return Step::ok();
    }
    Step pin() override {
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (21 << MAP_HUGE_SHIFT);
        memory_ = Mapping(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, -1, 0), bytes_);
        if (memory_)
            return Step::ok();
        // The pool is the only thing that this mapping can run out of.
        return Step::unsupported("mmap(MAP_HUGETLB)",
                                 errno == ENOMEM ? "the pool has too few free huge pages (vm.nr_hugepages)"
                                                 : "this kernel has no huge pages of 2 MiB");
    }
    void touch() override { memory_.touch(); }
    bool verify() override { return memory_.holds_marks(); }
    uint64_t charged_bytes() const override { return bytes_; }

  private:
    Mapping memory_;
    uint64_t bytes_ = 0;
};

const MechanismFacts facts = {
    .name = "hugetlb",
    .summary = "huge pages of the reserved pool (MAP_HUGETLB)",
    .over_limit = {},
    .at_zero_limit = {},
    .budgets = {},
    .source =
        "mm/hugetlb.c hugetlb_reserve_pages: a pool of its own; mlock of it counts nothing (mm/mlock.c)",
    .needs = "reserved huge pages",
    .not_limited_because = "huge pages come from a pool of their own (vm.nr_hugepages)",
};

} // namespace

const RegisteredMechanism hugetlb_mechanism = {facts, &create<Hugetlb>, &whole_huge_pages, &no_allowance,
                                               true};

} // namespace pinscope::pin
