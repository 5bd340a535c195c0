// SPDX-License-Identifier: Apache-2.0
// The protocol between pinscope and a trial process, over one SOCK_SEQPACKET socket.
//
//   trial                                   pinscope
//   sets itself up   -- initialised -->     takes a snapshot
//                    <-- go ----------
//   asks for memory  -- allocated ---->     takes a snapshot
//                    <-- go ----------
//   ... touched, verified, freed the same way; after the last go, or after a message whose result is not
//   `ok`, the trial releases what it holds and exits.
//
// Both sides are built together, so the message is a plain structure; `magic` catches a stranger.
#pragma once

#include "base/clock.h"
#include "model/trial.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace pinscope::run {

// What pinscope-cuda is started with to say, in one message, whether the CUDA driver can be used.
inline constexpr std::string_view cuda_check_verb = "__check";

enum class StepResult : uint8_t {
    ok,
    refused,     // the request was answered with an error
    unsupported, // this host cannot do it: nothing was asked for
    not_mapped,  // the request succeeded, but the memory is not there
};

struct StopMessage {
    static constexpr uint32_t expected_magic = 0x70697301;
    static constexpr uint64_t unlimited = UINT64_MAX;

    uint32_t magic = expected_magic;
    int32_t code = 0; // of the error
    StopPoint at = StopPoint::initialised;
    StepResult result = StepResult::ok;
    ErrorDomain domain = ErrorDomain::none;
    uint8_t cap_ipc_lock = 0; // read back: in the effective set
    uint32_t uid = 0;         // read back
    uint64_t memlock_soft = 0;
    uint64_t memlock_hard = 0;
    uint64_t charged_bytes = 0; // what one pin counts as
    uint64_t granted_count = 0;
    uint64_t held_bytes = 0;
    std::array<char, 48> call{};    // the call that answered so; zero-terminated
    std::array<char, 208> detail{}; // a sentence; zero-terminated
};
static_assert(sizeof(StopMessage) == 312);

// Cuts what does not fit.
template <size_t N>
void set_text(std::array<char, N>& field, std::string_view text) {
    field.fill('\0');
    text.copy(field.data(), N - 1);
}

template <size_t N>
std::string_view get_text(const std::array<char, N>& field) {
    const std::string_view all(field.data(), N);
    return all.substr(0, all.find('\0'));
}

// The trial's side. Where pinscope is gone, the trial has no reason to live: the process exits.
class StopChannel {
  public:
    // The descriptor that a trial process finds the channel at.
    static constexpr int trial_fd = 3;

    explicit StopChannel(int fd) : fd_(fd) {}

    // Fills in the conditions read back, sends, and waits for the go.
    void stop(StopMessage message) const;

  private:
    int fd_;
};

// pinscope's side.
enum class Wait : uint8_t { message, closed, timeout, interrupted };

// Waits for the next message until `deadline`, or until `interrupt_fd` (-1: none) becomes readable.
Wait wait_for_message(int channel, int interrupt_fd, MonotonicClock::time_point deadline,
                      StopMessage& message);

void send_go(int channel);

} // namespace pinscope::run
