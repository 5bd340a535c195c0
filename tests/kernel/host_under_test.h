// SPDX-License-Identifier: Apache-2.0
// What the tests need to know of the host, and what they make on it.
#pragma once

#include "host/cgroup.h"
#include "support/program.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinscope::test {

bool is_root();

// This very executable, whose small commands main.cpp lists.
std::string this_program();

// `pinscope pin --json ARGUMENTS…`, parsed and checked against its schema. A test fails where that is not what came.
struct PinRun {
    int status = -1;
    nlohmann::json document;
    std::string err;

    // The verdict, or the reason, on one mechanism; "" where there is none.
    std::string verdict(std::string_view mechanism) const;
    std::string reason(std::string_view mechanism) const;
    // The state and the reason of one control.
    std::string control(std::string_view name, std::string_view mechanism = "mlock") const;
    std::string control_reason(std::string_view name, std::string_view mechanism = "mlock") const;
    // The last trial of that role, so not the control's; null where there is none.
    nlohmann::json trial(std::string_view mechanism, std::string_view role) const;
};

PinRun pin_json(std::vector<std::string> arguments, const ProgramOptions& options = {});

// The memory cgroup of the tests themselves; nothing where there is none to be seen.
std::optional<host::CgroupPlace> own_cgroup();

// What runs of pinscope have left: cgroups below ours, and processes by their name.
std::vector<std::string> leftovers();

// A memory cgroup below the tests' own, with a limit; gone with the object. `place` has no value where none can be
// made.
class LimitedCgroup {
  public:
    explicit LimitedCgroup(uint64_t limit_bytes);
    ~LimitedCgroup();
    LimitedCgroup(const LimitedCgroup&) = delete;
    LimitedCgroup& operator=(const LimitedCgroup&) = delete;

    const std::optional<host::CgroupPlace>& place() const { return place_; }
    const std::string& why_not() const { return why_not_; }
    // Moves the calling process in: for ProgramOptions::before_exec.
    bool enter() const;

  private:
    std::optional<host::CgroupPlace> place_;
    std::string why_not_;
};

// For ProgramOptions::before_exec: each says whether it worked.
bool drop_capabilities(const std::vector<unsigned>& capabilities); // from all sets, the bounding one too
bool set_memlock(uint64_t soft, uint64_t hard);
bool become_nobody();
bool enter_child_user_namespace(); // as its root

} // namespace pinscope::test
