# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# Flux on the platform cluster: its source-controller and its helm-controller, each with the rights that its own
# manifests give to it.

declare -gA flux_modules flux_programs

prepare_flux() {
    local controller
    [[ " ${clusters[*]} " == *' platform '* ]] || die "the part flux needs the cluster platform"
    for controller in source-controller helm-controller; do
        flux_modules[$controller]=$("$here/build-tools" --module-dir "$controller")
        flux_programs[$controller]=$("$here/build-tools" --path "$controller")
    done
}

start_flux() {
    # Of these kinds we use none, but source-controller watches them all.
    kubectl_on platform apply --server-side --filename="${flux_modules[source-controller]}/config/crd/bases" >/dev/null
    kubectl_on platform create namespace flux-system >/dev/null
    at_once start_flux_controller "${!flux_modules[@]}"
}

await_flux() {
    at_once await_flux_controller "${!flux_modules[@]}"
}

start_flux_controller() {
    local controller=$1 dir=$stack/parts/flux token
    mkdir -p "$dir"
    kubectl_on platform create serviceaccount "$controller" --namespace=flux-system >/dev/null
    grant_flux_rights "$controller"
    token=$(kubectl_on platform create token "$controller" --namespace=flux-system --duration=24h)
    kubeconfig_of platform "$controller" "$token" >"$dir/$controller.kubeconfig"
    run_flux_controller "$controller"
}

# The manifests leave it to an installation which namespace and ServiceAccount it is.
grant_flux_rights() {
    local rights=${flux_modules[$1]}/config/rbac
    kubectl_on platform create --namespace=flux-system --dry-run=client --output=json --kustomize="$rights" |
        jq --arg name "$1" '(.. | objects | select(has("subjects")) | .subjects) =
            [{kind: "ServiceAccount", $name, namespace: "flux-system"}]' |
        kubectl_on platform apply --server-side --filename=- >/dev/null
}

run_flux_controller() {
    local controller=$1 dir=$stack/parts/flux health flags=()
    health=127.0.0.1:$(unused_port)
    printf '%s\n' "$health" >"$dir/$controller.health"
    # In an installation, what fails is tried again after up to 15 minutes.
    flags+=(--health-addr="$health" --metrics-addr=0 --requeue-dependency=2s --max-retry-delay=5s)
    if [[ $controller == source-controller ]]; then
        local storage
        storage=127.0.0.1:$(unused_port)
        mkdir -p "$dir/storage"
        flags+=(--storage-path="$dir/storage" --storage-addr="$storage" --storage-adv-addr="$storage")
    fi
    start_process "$controller" env KUBECONFIG="$dir/$controller.kubeconfig" RUNTIME_NAMESPACE=flux-system \
        TUF_ROOT="$dir/tuf" "${flux_programs[$controller]}" "${flags[@]}"
}

await_flux_controller() {
    ready_on_a_port "$1" run_flux_controller flux_controller_is_ready "$1"
}

flux_controller_is_ready() {
    curl --silent --fail --noproxy '*' --max-time 5 --output /dev/null "http://$(<"$stack/parts/flux/$1.health")/readyz"
}
