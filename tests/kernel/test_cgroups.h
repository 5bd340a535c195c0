// SPDX-License-Identifier: Apache-2.0
// The memory cgroups that the tests make. On v2 a cgroup with processes can give no controllers to its
// children, so the tests move themselves into a leaf of their own first, and every program that they start
// begins in another, where it is alone:
//
//   OWN                  where the tests were started
//   OWN/tests-PID        the tests themselves (v2, as root)
//   OWN/under-test-PID   where programs begin (v2, as root)
//   OWN/limited-PID      a LimitedCgroup
#pragma once

#include "host/cgroup.h"

#include <optional>
#include <string>
#include <vector>

namespace pinscope::test {

// Makes what the picture shows before the first test, and takes it away after the last. Does nothing on v1,
// without root, or without a memory cgroup.
void arrange_cgroups_for_all_tests();

// OWN; nothing where there is no memory cgroup to be seen.
const std::optional<host::CgroupPlace>& own_cgroup();

// Where a program begins: OWN/under-test-PID, or OWN.
std::optional<host::CgroupPlace> cgroup_of_programs();

// Moves the calling process in, with the tests: for ProgramOptions::before_exec, to make a cgroup busy.
bool enter_cgroup_of_tests();

// Folders below OWN that runs of pinscope have left, and v2 controllers that they have left on.
std::vector<std::string> leftover_cgroups();

// A memory cgroup with a limit; gone with the object. `place` has no value where none can be made.
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

} // namespace pinscope::test
