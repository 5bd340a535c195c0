# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share: the packages, the build, the lists of files. Sourced, never run.
# Everything said here goes to standard error.

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
name=$(readlink -f "$0")
name=${name#"$root"/} # the calling script, as messages call it

# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"

say() { printf '%s\n' "$*" >&2; }

# die STATUS LINE...: what failed, why, and what to do about it.
die() {
    local status=$1
    say "$name: $2"
    shift 2
    (($# == 0)) || printf '  %s\n' "$@" >&2
    exit "$status"
}

# Prints the usage that the header comment of the calling script holds, if the arguments ask for it.
usage_if_asked() {
    if [[ ${1-} == -h || ${1-} == --help ]]; then
        sed -n '/^# Usage:/,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
    fi
}

# Runs a command whose output matters to someone who watches, and otherwise only when it fails.
quietly() {
    local output status=0
    if [[ -t 2 ]]; then
        "$@" </dev/null >&2
    else
        output=$("$@" </dev/null 2>&1) || { status=$?; say "$output"; }
        return "$status"
    fi
}

# --- Packages ---------------------------------------------------------------------------------------------

# need_packages PACKAGE...: installs those that are missing, or names them and ends with status 77.
need_packages() {
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]} > 0)) || return 0

    command -v apt-get >/dev/null || cannot_install "apt-get is not on this machine" "${missing[@]}"
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null ||
            cannot_install "this user is not root and cannot use sudo without a password" "${missing[@]}"
        as_root=(sudo -n)
    fi
    say "$name: installing Debian packages: ${missing[*]}"
    as_root+=(env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8)
    apt() { "${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 -o APT::Update::Error-Mode=any "$@"; }
    apt_install() { apt install -y --no-install-recommends "$@"; }

    # The package lists are fetched when they lack a package, and when what they name can no longer be fetched.
    if apt_install --simulate "${missing[@]}" >/dev/null 2>&1 && quietly apt_install "${missing[@]}"; then return; fi
    quietly apt update || true # another source of this machine may be broken: what counts is the next line
    quietly apt_install "${missing[@]}" || cannot_install "apt-get failed, as printed above" "${missing[@]}"
}

missing_packages() {
    local package installed=
    if command -v dpkg-query >/dev/null; then
        # shellcheck disable=SC2016 # dpkg-query's own placeholders
        installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null) || true
    fi
    for package in "$@"; do
        [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || printf '%s\n' "$package"
    done
}

cannot_install() {
    local why=$1
    shift
    die 77 "$# Debian packages are missing and cannot be installed: $why" \
        "Install them as root on Debian 12 and try again: apt-get install --no-install-recommends $*"
}

# --- The build --------------------------------------------------------------------------------------------

# build PRESET [TARGET...]: brings build/PRESET up to date. Says nothing when it already is.
build() {
    local preset=$1 folder=$root/build/$1 lock ninja=(ninja)
    shift
    [[ -t 2 ]] || ninja+=(--quiet)
    (
        cd "$root" || exit
        if up_to_date "$@"; then exit 0; fi
        if ! mkdir -p "$folder" 2>/dev/null || [[ ! -w $folder ]]; then
            die 1 "cannot build pinscope ($preset): $(id -un) may not write to $folder" \
                "Build it as the owner of that folder, or copy the source tree to a folder of your own."
        fi
        exec {lock}>"$folder/.scripts.lock"
        flock "$lock" # two scripts at once: the second waits, then finds the work done
        if up_to_date "$@"; then exit 0; fi

        [[ -t 2 ]] || say "building pinscope ($preset) …"
        configure || die 1 "cannot set up the build of pinscope ($preset): cmake failed, as printed above"
        quietly "${ninja[@]}" -C "$folder" "$@" ||
            die 1 "cannot build pinscope ($preset): a step of the build failed, as printed above"
    )
}

up_to_date() { configured && [[ $(ninja -C "$folder" -n "$@" 2>&1) == *"no work to do"* ]]; }

# Is the folder set up, with the presets as they are now, and for this source tree rather than one it was copied from?
configured() {
    [[ -f $folder/build.ninja && ! CMakePresets.json -nt $folder/build.ninja ]] && [[ $(cached_source) -ef $root ]]
}

cached_source() { sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null; }

configure() {
    local output options=()
    if configured; then return 0; fi
    if [[ -f $folder/CMakeCache.txt && ! $(cached_source) -ef $root ]]; then options=(--fresh); fi
    output=$(cmake "${options[@]}" --preset "$preset" </dev/null 2>&1) || { say "$output"; return 1; }
}

# --- Files ------------------------------------------------------------------------------------------------

# The project's own files, each ended by a zero byte: those git knows or would add, or without git all of them.
project_files() (
    cd "$root" || exit
    if [[ -e .git ]] && command -v git >/dev/null; then
        git -c safe.directory="$root" ls-files -z --cached --others --exclude-standard
    else
        find . -name .git -prune -o -path ./build -prune -o -type f -printf '%P\0'
    fi | while IFS= read -r -d '' file; do
        if [[ -f $file ]]; then printf '%s\0' "$file"; fi # a removed one that git still lists is left out
    done
)

# What clang-format is for.
source_files() { project_files | grep -zE '\.(c|h|cpp|cu|cuh)$'; }

shell_scripts() (
    cd "$root" || exit
    project_files | while IFS= read -r -d '' file; do
        IFS= read -r first <"$file" 2>/dev/null || true
        if [[ $file == *.sh || ${first-} =~ ^'#!'.*[/\ ](ba|da)?sh ]]; then printf '%s\0' "$file"; fi
    done
)
