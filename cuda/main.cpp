// SPDX-License-Identifier: Apache-2.0
// Started by pinscope, which talks to it as to a trial process: `pinscope-cuda VERB LIBCUDA LIBCUDART …`, the
// libraries as cuda/libraries.h takes them.
#include "cuda/check.h"
#include "cuda/libraries.h"
#include "cuda/mechanisms.h"
#include "run/stop_message.h"
#include "trial/trial_process.h"

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() == 1 && words[0] == "--version") {
        std::puts("pinscope-cuda " PINSCOPE_VERSION);
        return 0;
    }
    if (words.size() >= 3) {
        pinscope::cuda::use_libraries(words[1], words[2]);
        if (words[0] == pinscope::run::cuda_check_verb) {
            pinscope::run::StopChannel(pinscope::run::StopChannel::trial_fd)
                .stop(pinscope::cuda::check_cuda());
            return 0;
        }
        if (words[0] == pinscope::trial::trial_verb)
            return pinscope::trial::run_trial_process({words.begin() + 3, words.end()},
                                                      &pinscope::cuda::find_mechanism);
    }
    std::fputs("pinscope-cuda is started by pinscope: run 'pinscope pin'\n", stderr);
    return 2;
}
