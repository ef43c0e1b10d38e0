# shellcheck shell=bash
# shellcheck disable=SC2034  # much of it is for those that source this
# shellcheck disable=SC2154  # the script that sources this sets project
# What scripts/e2e and e2e/run share. To be sourced after scripts/lib.sh.
e2e=$project/e2e
offline=$e2e/offline
tools=$project/tests/stack/build-tools
# Everything of a run: logs, kubeconfigs, manifests with what a release brings, diagnosis.
work=$project/build/e2e
bin=$work/bin
manifests=$work/manifests
cache=$(cache_dir)/e2e
mkdir -p "$cache"

function_image=dev.local/kro-function
function_tags=(0.1.0 0.1.1)
chart_versions=(0.9.1 0.9.2)
registry=127.0.0.1:5000

# Set by prepare, for e2e/run.
settings=(node_image etcd_version coredns_version images_of_platform images_of_workloads images_of_control_planes images_of_function ingress_class ingress_service
    platform_program DOCKER_HOST)

# timed WHAT COMMAND...: says how long it took.
timed() {
    local what=$1 start=$SECONDS
    shift
    log "$what ..."
    "$@"
    log "$what: $((SECONDS - start)) s"
    printf '%s\t%s s\n' "$what" "$((SECONDS - start))" >>"$work/timings"
}

build_tools() {
    "$tools" "$@" >>"$work/logs/build-tools.log" 2>&1 || die "building programs has failed: $work/logs/build-tools.log"
}

# wait_until SECONDS WHAT COMMAND...: until COMMAND succeeds; ends the script when that takes longer.
wait_until() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [[ $SECONDS -lt $deadline ]] || die "waited too long for: $what"
        sleep 0.3
    done
}

# The platform of openMCP runs beside the clusters.
stop_platform() {
    local pid
    [[ -f $work/platform.pid ]] || return 0
    pid=$(<"$work/platform.pid")
    [[ $(readlink "/proc/$pid/exe" 2>/dev/null) != */stack-openmcp ]] || kill "$pid"
    rm -f "$work/platform.pid"
}
