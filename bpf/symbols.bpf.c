// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Names of kernel addresses, also where /proc/kallsyms hides addresses (kernel.kptr_restrict).
#include "maps.h"

char symbol_name[SYMBOL_BYTES];

// Run by user space (BPF_PROG_TEST_RUN) with the address as its first argument; bpf_snprintf is 5.13's.
SEC("?raw_tp")
int name_symbol(__u64* context) {
    __u64 address = context[0];
    static const char format[] = "%ps";
    return bpf_snprintf(symbol_name, sizeof(symbol_name), format, &address, sizeof(address));
}

char LICENSE[] SEC("license") = "GPL";
