# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# shellcheck disable=SC2016  # what looks like a variable in single quotes is jq's
# One node for the platform cluster: its Deployments and Knative Services run as processes on this machine. Settings, from the
# environment:
#
#   STACK_NODE       the program, build/ci/tests/stack-node by default
#   KRO_FUNCTION     what stands for the image kro-function, build/ci/kro-function by default
#   NODE_WINDOW      how long a Knative Service is kept without a request, like 6s; else as the Service says
#   NODE_MAX_SCALE   pods of one Knative Service at a time, 1 by default

prepare_node() {
    local project
    project=$(cd "$here/../.." && pwd)
    [[ " ${clusters[*]} " == *' platform '* ]] || die "the part node needs the cluster platform"
    stack_node=$(realpath --canonicalize-missing "${STACK_NODE:-$project/build/ci/tests/stack-node}")
    kro_function=$(realpath --canonicalize-missing "${KRO_FUNCTION:-$project/build/ci/kro-function}")
    local program
    for program in "$stack_node" "$kro_function"; do
        [[ -x $program ]] || die "$program is missing: build it, or name another in STACK_NODE or KRO_FUNCTION"
    done
    serving_module=$("$here/build-tools" --module-dir serving)
}

start_node() {
    local dir=$stack/parts/node flags=()
    mkdir -p "$dir"
    stands_for kro-function "$kro_function"
    # The part link, where it is started before this one.
    [[ ! -s $stack/clusters/platform/link ]] || flags+=(--way="$(<"$stack/clusters/platform/link")")
    [[ -z ${NODE_WINDOW:-} ]] || flags+=(--window="$NODE_WINDOW")
    # The kind that the node gives a status to. Nothing else of Serving is there.
    kubectl_on platform apply --server-side --filename="$serving_module/config/core/300-resources/service.yaml" >/dev/null
    # A port that stays the same when the node is stopped and started again.
    start_process node "$stack_node" --kubeconfig="$stack/clusters/platform/kubeconfig" --port="$(unused_port)" --folder="$dir" \
        --logs="$stack/logs" --images="$dir/images" --max-scale="${NODE_MAX_SCALE:-1}" "${flags[@]}"
}

await_node() {
    local dir=$stack/parts/node
    wait_for node test -s "$dir/node.json" || fail_of node "node has ended"
    describe --arg proxy "$(jq --raw-output .proxy "$dir/node.json")" --arg state "$dir/node.json" --arg images "$dir/images" \
        '.node = {proxy: $proxy, state: $state, images: $images}'
}

# stands_for IMAGE PROGRAM: what runs in the place of an image. IMAGE is a Go package, or the last part of an image's name.
stands_for() {
    printf '%s %s\n' "$1" "$2" >>"$stack/parts/node/images"
}
