# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# The openMCP platform, played by a program of ours: grants access to the clusters of the stack with real credentials.
# STACK_OPENMCP in the environment names the program, build/ci/tests/stack-openmcp by default.

prepare_openmcp() {
    stack_openmcp=$(realpath --canonicalize-missing "${STACK_OPENMCP:-$here/../../build/ci/tests/stack-openmcp}")
    [[ -x $stack_openmcp ]] || die "$stack_openmcp is missing: build it, or name another in STACK_OPENMCP"
}

start_openmcp() {
    local cluster arguments=()
    for cluster in "${clusters[@]}"; do
        arguments+=("$cluster=$stack/clusters/$cluster/kubeconfig")
    done
    start_process openmcp "$stack_openmcp" "${arguments[@]}"
}

await_openmcp() {
    wait_for openmcp openmcp_is_ready || fail_of openmcp "openmcp has ended"
}

openmcp_is_ready() {
    [[ $(grep -c '^ready' "$stack/logs/openmcp.log") -eq 2 ]]
}
