// SPDX-License-Identifier: Apache-2.0
// Started by pinscope, which talks to it as to a trial process.
#include "cuda/driver_check.h"
#include "run/stop_message.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    const std::string_view word = argc == 2 ? argv[1] : "";
    if (word == "--version") {
        std::puts("pinscope-cuda " PINSCOPE_VERSION);
        return 0;
    }
    if (word == pinscope::run::cuda_check_verb) {
        pinscope::run::StopChannel(pinscope::run::StopChannel::trial_fd).stop(pinscope::cuda::check_driver());
        return 0;
    }
    std::fputs("pinscope-cuda is started by pinscope: run 'pinscope pin'\n", stderr);
    return 2;
}
