# shellcheck shell=bash
# Small helpers for this project's scripts. To be sourced; it defines functions and does nothing.

# Progress goes to standard error, so that a script's standard output stays a result.
log() { printf '%s\n' "$*" >&2; }

die() {
    log "error: $*"
    exit 1
}

# need COMMAND HINT: ends the script when COMMAND is missing, and says how to get it.
need() {
    command -v "$1" >/dev/null || die "$1 is missing: $2"
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    else
        need sudo "run this as root, or install sudo"
        sudo "$@"
    fi
}

# The folder for what is expensive to make and safe to remove.
cache_dir() {
    local dir=${KRO_FUNCTION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kro-function}
    mkdir -p "$dir"
    (cd "$dir" && pwd)
}

# with_lock NAME COMMAND...: runs COMMAND, in a subshell, while no other process on this machine holds the lock NAME.
# The lock goes when its process goes, so an interrupted script leaves none behind.
with_lock() {
    local name=$1
    shift
    mkdir -p "$(cache_dir)/locks"
    (
        if ! flock --nonblock 9; then
            log "waiting for another process to finish with: $name"
            flock 9
        fi
        "$@"
    ) 9>"$(cache_dir)/locks/$name"
}

# The oldest Go that the test tools' modules accept.
go_minimum=1.26

# Prints the path of a Go that is new enough: the machine's, else the one `scripts/setup test` put into the cache.
find_go() {
    local candidate
    for candidate in "$(command -v go || true)" /usr/local/go/bin/go "$(cache_dir)"/go/lib/python3*/site-packages/go/bin/go; do
        if go_is_new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

# GOTOOLCHAIN=local: an old go would else answer for, and download, a newer one.
go_is_new_enough() {
    local version
    [[ -x $1 ]] || return 1
    version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
    printf '%s\n' "$go_minimum" "${version#go}" | sort --version-sort --check=quiet
}

# Prints the path of a docker-registry: the machine's, else the one `scripts/setup test` put into the cache.
find_docker_registry() {
    command -v docker-registry && return
    local cached
    cached=$(cache_dir)/docker-registry/usr/bin/docker-registry
    [[ -x $cached ]] && printf '%s\n' "$cached"
}
