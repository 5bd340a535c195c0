// SPDX-License-Identifier: Apache-2.0
// One way to get memory that cannot be swapped. An object is one pin, made and used in a trial process.
//
// To add a mechanism: write a class with its facts in pin/mechanisms/, name both in pin/registry.cpp.
// CONTRIBUTING.md walks through it.
#pragma once

#include "model/mechanism.h"
#include "trial/step.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pinscope::trial {

class Mechanism {
  public:
    Mechanism() = default;
    Mechanism(const Mechanism&) = delete;
    Mechanism& operator=(const Mechanism&) = delete;
    virtual ~Mechanism() = default;

    // Everything that is needed and is not the request under test. `bytes` is a multiple of the page size.
    virtual Step prepare(uint64_t bytes) = 0;
    // The request under test.
    virtual Step pin() = 0;
    // Writes to the memory; a kernel that decides at the first touch answers here, by a signal.
    virtual void touch() {}
    // Whether the memory is there and holds what was written.
    virtual bool verify() { return true; }
    // What verify() found besides, for whoever reads the trial; may be empty.
    virtual std::string findings() const { return {}; }
    // What a granted pin counts as, at the budgets of the facts.
    virtual uint64_t charged_bytes() const = 0;
};

struct RegisteredMechanism {
    const MechanismFacts& facts;
    // Null in pinscope itself for what pinscope-cuda carries out.
    std::unique_ptr<Mechanism> (*create)();
    // The size to try in place of `bytes`, for mechanisms that come in certain sizes only. Never smaller.
    uint64_t (*fit_size)(uint64_t bytes);
    // Bytes that are not counted at the limit, because something else covers them (perf's free allowance).
    uint64_t (*allowance)();
    // Whether one process may hold several pins at a time.
    bool repeatable;
};

} // namespace pinscope::trial
