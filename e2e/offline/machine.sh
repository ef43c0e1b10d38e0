# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/e2e sets offline, cache and work
# A container engine of our own, in a network of its own: nothing in it reaches the outside, and when it ends its bridges and packet
# filters are gone with it. What talks to the cluster is run `inside`.

subnet=172.30.0.0/24
gateway=172.30.0.1

prepare_machine() {
    [[ $EUID -eq 0 ]] || die "containers without a container engine of the machine need root"
    "$project/scripts/setup" e2e
}

start_machine() {
    local socket=$work/docker.sock
    mkdir -p "$cache/docker" "$work/docker"
    exec {engine_lock}>"$cache/docker.lock"
    flock --nonblock "$engine_lock" || die "another end-to-end run is under way: its pid is in $cache/docker.pid"
    # An engine that was killed leaves its file, and a new one does not start then.
    rm -f "$cache/docker.pid"
    env --ignore-environment PATH="/usr/sbin:/usr/bin:/sbin:/bin" unshare --net -- setsid bash -c '
        ip link set lo up && exec dockerd "$@"' dockerd \
        --data-root="$cache/docker" --exec-root="$work/docker" --pidfile="$cache/docker.pid" --host="unix://$socket" --bridge=none \
        --exec-opt=native.cgroupdriver=cgroupfs --add-runtime="e2e=$offline/runc" --default-runtime=e2e \
        </dev/null >"$work/logs/dockerd.log" 2>&1 {engine_lock}>&- &
    printf '%s\n' "$!" >"$work/machine.pid"
    export DOCKER_HOST=unix://$socket
    wait_until 60 "the container engine" docker version
    remove_containers
    # kind takes a network of this name; its own would have IPv6, which a sandbox may lack.
    docker network inspect kind >/dev/null 2>&1 || docker network create --subnet="$subnet" --gateway="$gateway" kind >/dev/null
    load_node_image
}

load_node_image() {
    docker image inspect "$node_image" >/dev/null 2>&1 && return
    local old
    mapfile -t old < <(docker image ls --quiet --filter=reference='kindest/node:*')
    [[ ${#old[@]} -eq 0 ]] || docker image rm --force "${old[@]}" >/dev/null
    docker load --quiet --input="$node_archive" >/dev/null
}

# With what they have written.
remove_containers() {
    local containers
    mapfile -t containers < <(docker container ls --all --quiet)
    [[ ${#containers[@]} -eq 0 ]] || docker container rm --force --volumes "${containers[@]}" >/dev/null
}

# Debian's client belongs to Debian's engine.
docker() { /usr/bin/docker --host="unix://$work/docker.sock" "$@"; }

inside() { nsenter --target "$(<"$work/machine.pid")" --net -- "$@"; }

stop_machine() {
    local pid
    [[ -f $work/machine.pid ]] || return 0
    pid=$(<"$work/machine.pid")
    if kill -0 "$pid" 2>/dev/null; then remove_containers || true; fi
    kill "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
    rm -f "$work/machine.pid" "$cache/docker.pid"
    remove_control_groups
}

# Those of the engine's containers. One that somebody else's engine uses is not empty, and stays.
remove_control_groups() {
    local groups=(/sys/fs/cgroup/docker /sys/fs/cgroup/*/docker) group
    for group in "${groups[@]}"; do
        [[ ! -d $group ]] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}
