// SPDX-License-Identifier: Apache-2.0
// Loading and attaching, step by step as session.h tells. Inside probes/ only: it shows the skeleton.
#pragma once

#include "model/probe.h"
#include "model/window.h"
#include "probes/session.h"

#include <memory>
#include <optional>
#include <pinscope.skel.h>
#include <string>
#include <utility>
#include <vector>

namespace pinscope::probes {

struct Loaded {
    struct Free {
        void operator()(pinscope_bpf* it) const { pinscope_bpf__destroy(it); }
    };
    struct Detach {
        void operator()(bpf_link* link) const { (void)::bpf_link__destroy(link); }
    };

    std::unique_ptr<pinscope_bpf, Free> skeleton; // null: nothing is attached
    std::vector<std::unique_ptr<bpf_link, Detach>> links;
    std::vector<std::unique_ptr<bpf_link, Detach>> uprobes;
    std::vector<Probe> probes;
    WindowSight sight;
    std::vector<std::pair<std::string, std::string>> unmarked; // files of marked calls after the first
    std::string why_no_windows;                                // empty where they are seen

    Loaded() = default;
    Loaded(Loaded&&) = default;
    Loaded& operator=(Loaded&&) = default;
    ~Loaded() { detach(); }
    // Taking a uprobe away waits for the kernel, some 100 ms; all together wait no longer than one.
    void detach();

    // Runs of a program that did not take place, as the kernel counts them.
    std::optional<uint64_t> missed(const std::string& program) const;
};

Loaded load(const SessionOptions& options);

} // namespace pinscope::probes
