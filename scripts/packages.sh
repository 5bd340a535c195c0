# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the scripts that source this file use these lists
# The Debian 12 packages that pinscope is built, tested and checked with. scripts/lib.sh sources this file.

# What `scripts/run` needs: the compiler, the build tools, and the libraries of the core.
build_packages=(
    bpftool build-essential clang cmake libbpf-dev libelf-dev ninja-build pkgconf zlib1g-dev
    libcap-ng-dev libcli11-dev libexpected-dev libfmt-dev liburing-dev nlohmann-json3-dev
)

# What `scripts/test` needs besides.
test_packages=(
    libgtest-dev libvalijson-dev python3 util-linux
)

# What the checks need besides: format, tidy, analyze, fuzz and shellcheck.
# The formatter and the linter have their version in the name: another one formats and warns differently.
check_packages=(
    clang-format-14 clang-tidy-14 libclang-rt-14-dev shellcheck
)
