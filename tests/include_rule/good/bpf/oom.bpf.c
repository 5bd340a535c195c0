// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
#include "events.h"

#include <bpf/bpf_helpers.h>
