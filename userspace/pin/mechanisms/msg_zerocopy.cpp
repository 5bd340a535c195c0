// SPDX-License-Identifier: Apache-2.0
// send(2) with MSG_ZEROCOPY: the pages of a message are pinned until it was delivered.
#include "base/fd.h"
#include "pin/mechanisms/mechanisms.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace pinscope::pin {
namespace {

class MsgZerocopy : public Mechanism {
  public:
    Step prepare(uint64_t bytes) override {
        memory_ = Mapping::populated(bytes);
        if (!memory_)
            return Step::refused("mmap");
        return connect_to_itself();
    }
    // The whole message is counted before its first byte is sent, so a send that would block is answer
    // enough.
    Step pin() override {
        const ssize_t sent = ::send(sender_.get(), memory_.address(), memory_.bytes(),
                                    MSG_ZEROCOPY | MSG_DONTWAIT | MSG_NOSIGNAL);
        return sent > 0 ? Step::ok() : Step::refused("send(MSG_ZEROCOPY)");
    }
    bool verify() override { return memory_.holds_marks(); }
    // Two pages more than fit: the message may begin and end within one (net/core/skbuff.c
    // mm_account_pinned_pages).
    uint64_t charged_bytes() const override { return memory_.bytes() + 2 * page_size(); }

  private:
    Step connect_to_itself() {
        const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sender_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (!listener || !sender_ || ::bind(listener.get(), generic, length) != 0 ||
            ::listen(listener.get(), 1) != 0 || ::getsockname(listener.get(), generic, &length) != 0 ||
            ::connect(sender_.get(), generic, length) != 0)
            return Step::unsupported("connect", "there is no loopback network here to send over");
        receiver_ = Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        const int on = 1;
        if (::setsockopt(sender_.get(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) != 0)
            return Step::unsupported("setsockopt(SO_ZEROCOPY)", "this kernel has no MSG_ZEROCOPY");
        return Step::ok();
    }

    Mapping memory_;
    Fd sender_;
    Fd receiver_;
};

const MechanismFacts facts = {
    .name = "msg-zerocopy",
    .summary = "send(2) with MSG_ZEROCOPY; pinned while in flight",
    .over_limit = {errno_error(ENOBUFS)},
    .at_zero_limit = {},
    .budgets = {Budget::user_locked_vm},
    .source = "net/core/skbuff.c mm_account_pinned_pages (5.10 to 7.2)",
    .needs = "a loopback network",
    .not_limited_because = "",
};

} // namespace

// Not repeatable: over a loopback the message is copied and counted no more by the time the next is sent.
const RegisteredMechanism msg_zerocopy_mechanism = {facts, &create<MsgZerocopy>, &any_size, &no_allowance,
                                                    false};

} // namespace pinscope::pin
