# shellcheck shell=bash
# shellcheck disable=SC2154  # e2e/run sets work, manifests and the names of programs and images
# What a cluster has before the function comes, and the function itself as the README installs it.

worker() { printf '%s-worker\n' "$(cluster_name platform)"; }

# All of it on the control plane's node: what is drained later is the function's node alone.
install_surroundings() {
    if has_worker; then on platform cordon "$(worker)"; fi
    make_registry_users
    apply_release knative-serving
    apply_release knative-eventing
    apply_release networking
    apply_release flux
    on platform patch configmap/config-network --namespace=knative-serving --type=merge \
        --patch="{\"data\": {\"ingress-class\": \"$ingress_class\"}}" >/dev/null
    await_deployments knative-serving knative-eventing "${ingress_service%/*}" flux-system
    push_charts
    start_platform
    if has_worker; then on platform uncordon "$(worker)"; fi
}

has_worker() { on platform get node "$(worker)" >/dev/null 2>&1; }

# apply_release FOLDER: kinds are not served at once, and webhooks refuse until their programs run.
apply_release() {
    kubectl kustomize "$manifests/$1" >"$work/$1.yaml"
    wait_until 180 "the API server to take $1" put_release "$1"
}

put_release() { on platform apply --server-side --force-conflicts --filename="$work/$1.yaml" >"$work/logs/apply-$1.log" 2>&1; }

await_deployments() {
    local namespace deployment
    for namespace in "$@"; do
        for deployment in $(on platform get deployments --namespace="$namespace" --output=name); do
            on platform rollout status "$deployment" --namespace="$namespace" --timeout=180s >>"$work/logs/rollout.log" ||
                die "$namespace/$deployment is not available"
        done
    done
}

# --- the registry ---

make_registry_users() {
    local password
    password=$(openssl rand -hex 16)
    htpasswd -iBc "$work/htpasswd" chart-reader <<<"$password" 2>/dev/null
    jq --null-input --arg server "$registry" --arg password "$password" \
        '{auths: {($server): {username: "chart-reader", password: $password, auth: "chart-reader:\($password)" | @base64}}}' \
        >"$work/login.json"
    on platform create namespace flux-system --dry-run=client --output=yaml | on platform apply --server-side --filename=- >/dev/null
    on platform create secret generic registry --namespace=flux-system --from-file="$work/htpasswd" >/dev/null
}

# kro's chart as its own release makes it: the version goes into the chart and into the tag of its image.
push_charts() {
    local version chart=$work/chart forwarding
    forward flux-system deployment/source-controller 5000:5000
    forwarding=$forwarded
    for version in "${chart_versions[@]}"; do
        rm -rf "$chart"
        cp -r --no-preserve=mode "$("$tools" --module-dir kro)/helm" "$chart"
        sed -i "s/tag: .*/tag: \"$version\"/" "$chart/values.yaml"
        helm_quietly package --version "$version" --app-version "$version" --destination "$work" "$chart"
        helm_quietly push --plain-http "$work/kro-$version.tgz" "oci://$registry/charts"
    done
    kill "$forwarding"
    rm -rf "$chart"
}

helm_quietly() {
    helm --registry-config="$work/login.json" "$@" >>"$work/logs/helm.log" 2>&1 || die "helm $1 has failed: $work/logs/helm.log"
}

# forward NAMESPACE TARGET LOCAL:REMOTE: until the process `forwarded` is ended.
forward() {
    on platform port-forward --namespace="$1" "$2" "$3" >>"$work/logs/forward.log" 2>&1 &
    forwarded=$!
    wait_until 30 "the way to $2" eval "(: </dev/tcp/127.0.0.1/${3%:*})"
}

# --- the platform of openMCP ---

start_platform() {
    local crds=("$project"/tests/stack/crds/*.yaml)
    on platform apply --server-side "${crds[@]/#/--filename=}" >/dev/null
    on platform wait --for=condition=Established --timeout=30s "${crds[@]/#/--filename=}" >/dev/null
    setsid "$platform_program" "platform=$(kubeconfig_of platform-node)" "mcp-01=$(kubeconfig_of mcp-01-node)" >"$work/logs/openmcp.log" 2>&1 &
    printf '%s\n' "$!" >"$work/platform.pid"
    wait_until 30 "the platform" grep --quiet '^ready' "$work/logs/openmcp.log"
}
