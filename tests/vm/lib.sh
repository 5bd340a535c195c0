# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts of the VM matrix share: the list of kernels, the cache, the packages. Sourced, never run.

vm=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
. "$vm/../../scripts/lib.sh"

# Unpacked kernels, between runs. PINSCOPE_VM_CACHE names another folder.
# shellcheck disable=SC2034 # fetch and boot use it
cache=${PINSCOPE_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pinscope/kernels}

# shellcheck disable=SC2034 # fetch, boot and module use these lists
fetch_packages=(apt debian-archive-keyring kmod lz4 python3 util-linux xz-utils zstd)
# shellcheck disable=SC2034
module_packages=(binutils gcc-12 libelf1 make pahole)
# shellcheck disable=SC2034
boot_packages=(busybox-static cpio iproute2 kmod qemu-system-x86 util-linux xz-utils zstd)

# Modules that mechanisms need; nothing loads a module by itself in the guest.
# shellcheck disable=SC2034 # run uses it
guest_modules=(af_packet crc32_generic dummy ib_uverbs rdma_rxe vfio_iommu_type1 vfio-pci)

# need_value OPTION [VALUE…]: ends with status 2 where the option is the last argument.
need_value() { (($# > 1)) || die 2 "$1 takes a value" "See $name --help"; }

# need_number OPTION VALUE
need_number() { [[ $2 =~ ^[0-9]+$ ]] || die 2 "$1 takes a number, not '$2'"; }

# Boots a guest that ends with this script, also when the script is killed.
boot_guest() { setpriv --pdeathsig TERM "$vm/boot" "$@"; }

# The lines of the list, without comments.
kernel_list() { sed -E 's/#.*//; /^ *$/d' "$vm/kernels"; }

all_series() { kernel_list | awk '{print $1}'; }

# Whether a series has the memory controller on cgroup v1.
has_v1() { [[ $(series_column "$1" 5) == *-v1* ]]; }

# series_column SERIES COLUMN: one word of the list; ends with status 2 if the series is not in it.
series_column() {
    kernel_list | awk -v series="$1" -v column="$2" '$1 == series {print $column; found = 1} END {exit !found}' ||
        die 2 "$1 is none of the supported kernels" "These are: $(all_series | xargs), as tests/vm/kernels lists them."
}
