// SPDX-License-Identifier: GPL-2.0-only
#include "events.h"

#include <bpf/bpf_helpers.h>
