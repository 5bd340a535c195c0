// SPDX-License-Identifier: Apache-2.0
#include "probes/session.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"
#include "probes/catalog.h"
#include "probes/kernel_symbols.h"
#include "probes/kernel_types.h"
#include "probes/libbpf_options.h"
#include "probes/loader.h"
#include "probes/memlock_for_bpf.h"
#include "probes/syscall_names.h"
#include "probes/window_reader.h"

#include <fmt/format.h>

#include <array>
#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>
#include <pinscope.skel.h>
#include <thread>

namespace pinscope::probes {
namespace {

struct LossWords {
    loss number;
    std::string_view reason;
    bool windows;
};

constexpr std::array loss_words = {
    LossWords{LOST_RING_FULL, "ring_full", true},
    LossWords{LOST_NO_ROOM_FOR_THREAD, "no_room_for_thread", true},
    LossWords{LOST_NO_ROOM_FOR_WINDOW, "no_room_for_window", true},
    LossWords{LOST_TOO_DEEP, "too_deep", true},
    LossWords{LOST_RETURN_WITHOUT_ENTRY, "return_without_entry", false},
    LossWords{LOST_NO_ROOM_FOR_PROCESS, "no_room_for_process", false},
};
static_assert(loss_words.size() == LOST_COUNT);

} // namespace

class Session::Impl {
  public:
    explicit Impl(const SessionOptions& options)
        : loaded_(load(options)), symbols_([this](uint64_t address) { return ask_symbol(address); }) {
        if (!loaded_.skeleton)
            return;
        ring_.reset(::ring_buffer__new(::bpf_map__fd(loaded_.skeleton->maps.window_ring), &Impl::on_record,
                                       this, nullptr));
        if (!ring_) {
            lose_windows(fmt::format("the ring of windows cannot be read: {}", errno_name(errno)));
            return;
        }
        if (options.watch_self && !run_in_own_context(loaded_.skeleton->progs.watch_caller, 0))
            lose_windows("pinscope cannot name itself to its programs");
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() = default;

    std::vector<Probe>& probes() { return loaded_.probes; }
    const WindowSight& sight() const { return loaded_.sight; }
    const std::string& why_no_windows() const { return loaded_.why_no_windows; }
    const auto& unmarked() const { return loaded_.unmarked; }

    std::vector<CallWindow> take_windows() {
        if (ring_)
            (void)::ring_buffer__consume(ring_.get());
        return std::exchange(windows_, {});
    }

    std::vector<Loss> losses() const {
        std::vector<Loss> out;
        out.reserve(std::size(loss_words) + 1);
        for (const auto& words : loss_words)
            out.push_back(
                {std::string(words.reason), loaded_.skeleton ? sum(words.number) : 0, words.windows});
        uint64_t missed = 0;
        for (const auto& probe : loaded_.probes)
            if (probe.attached)
                missed += loaded_.missed(probe.name).value_or(0);
        out.push_back({std::string(missed_run), missed, false});
        return out;
    }

    void read_missed() {
        for (auto& probe : loaded_.probes)
            if (probe.attached)
                probe.missed = loaded_.missed(probe.name);
    }

  private:
    void lose_windows(const std::string& reason) {
        loaded_.sight = {};
        loaded_.why_no_windows = reason;
    }

    struct FreeRing {
        void operator()(ring_buffer* ring) const { ::ring_buffer__free(ring); }
    };

    static int on_record(void* self, void* data, size_t size) {
        auto& impl = *static_cast<Impl*>(self);
        if (size >= sizeof(window_record))
            impl.windows_.push_back(read_window(*static_cast<const window_record*>(data), impl.symbols_));
        return 0;
    }

    uint64_t sum(loss reason) const {
        std::vector<uint64_t> values(static_cast<size_t>(std::max(1, ::libbpf_num_possible_cpus())));
        const auto key = static_cast<uint32_t>(reason);
        if (::bpf_map__lookup_elem(loaded_.skeleton->maps.losses, &key, sizeof(key), values.data(),
                                   values.size() * sizeof(uint64_t), 0) != 0)
            return 0;
        uint64_t total = 0;
        for (const uint64_t value : values)
            total += value;
        return total;
    }

    // The program's context is the caller's; its first argument is given.
    static bool run_in_own_context(const bpf_program* program, uint64_t argument) {
        if (::bpf_program__fd(program) < 0)
            return false;
        auto options = libbpf_options<bpf_test_run_opts>();
        options.ctx_in = &argument;
        options.ctx_size_in = sizeof(argument);
        return ::bpf_prog_test_run_opts(::bpf_program__fd(program), &options) == 0;
    }

    std::optional<std::string> ask_symbol(uint64_t address) {
        if (!run_in_own_context(loaded_.skeleton->progs.name_symbol, address))
            return std::nullopt;
        const std::string_view text(loaded_.skeleton->bss->symbol_name);
        return std::string(text.substr(0, text.find(' ')));
    }

    Loaded loaded_;
    KernelSymbols symbols_;
    std::unique_ptr<ring_buffer, FreeRing> ring_;
    std::vector<CallWindow> windows_;
};

Session::Session(const SessionOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

const std::vector<Probe>& Session::probes() const {
    return impl_->probes();
}

const std::string& Session::why_no_windows() const {
    return impl_->why_no_windows();
}

const WindowSight& Session::sight() const {
    return impl_->sight();
}

const std::vector<std::pair<std::string, std::string>>& Session::unmarked() const {
    return impl_->unmarked();
}
std::vector<CallWindow> Session::take_windows() {
    return impl_->take_windows();
}

std::vector<Loss> Session::losses() const {
    return impl_->losses();
}

void Session::read_missed() {
    impl_->read_missed();
}

} // namespace pinscope::probes
