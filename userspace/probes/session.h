// SPDX-License-Identifier: Apache-2.0
// The programs of bpf/ at work: chosen by what this kernel takes, loaded, attached, drained, and taken away
// with the object. Opening never fails: what cannot be had is listed with its reason, and the rest works.
//
//   1  the smallest program of each type is loaded, to learn which types are taken (trial_load.h)
//   2  programs whose hook the kernel has are switched on: of a function fexit, else kprobe and kretprobe
//   3  the object is loaded; a program that is refused all the same is left out, and the object opened again
//   4  programs are attached one by one, a part wholly or not at all; the entry of the marked call comes last
#pragma once

#include "model/probe.h"
#include "model/window.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinscope::probes {

// A call whose windows are wanted: a function in a file.
struct MarkedCall {
    std::string file;
    std::string function; // looked up in the file's symbols
    uint64_t offset = 0;  // in the file; where no function is named
};

struct SessionOptions {
    // Without the first there are no windows; those that follow are had or not, see unmarked().
    std::vector<MarkedCall> marked;
    // Of the calling process and all that it starts from now on; and of memory cgroups (kernfs ids), with all
    // below.
    bool watch_self = true;
    std::vector<uint64_t> cgroups;
    // How much is held at a time. Both cost memory of the kernel that is charged to pinscope's own cgroup.
    uint32_t open_windows = 64;
    uint32_t ring_bytes = 1U << 20; // a power of two, at least a page
    // For tests: programs, or types of program, that are made such that the kernel refuses them. "do_mlock",
    // "type:fexit", "all".
    std::vector<std::string> refuse;
};

class Session {
  public:
    explicit Session(const SessionOptions& options);
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    ~Session();

    const std::vector<Probe>& probes() const;
    const WindowSight& sight() const;
    // Empty where call windows can be seen.
    const std::string& why_no_windows() const;

    // Marked calls after the first whose windows cannot be seen, with the reason.
    const std::vector<std::pair<std::string, std::string>>& unmarked() const;

    // The windows that ended since the last call, in order.
    std::vector<CallWindow> take_windows();
    // Since the start; every reason, zero too. `missed_run`: a program was not run because it was under way
    // on that processor already; that may have been for any task of the host.
    std::vector<Loss> losses() const;
    // Fills in Probe::missed, with what was missed so far.
    void read_missed();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace pinscope::probes
