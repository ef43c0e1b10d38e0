# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, function and the paths of the tools
# The function under the roles that are shipped: one tenant comes, changes in every way and goes, on the API server
# `platform`, which is also the onboarding cluster and the tenant's control plane. What the platform and Flux would do is
# written by hand. To be sourced after tests/stack/parts/knative.sh.

namespace=openmcp-system
tenant_namespace=project-a

# Has the API server write down who asks for what: an entry for each request, without bodies. What it runs with is as `up`
# has chosen it.
audit() {
    local pid arguments
    pid=$(awk '$1 == "kube-apiserver-platform" { last = $2 } END { print last }' "$stack/processes")
    mapfile -d '' arguments <"/proc/$pid/cmdline"
    printf '%s\n' 'apiVersion: audit.k8s.io/v1' 'kind: Policy' 'omitStages: [RequestReceived]' \
        'rules: [{level: Metadata}]' >"$stack/logs/audit-policy.yaml"
    kill "$pid"
    while [[ -d /proc/$pid ]]; do sleep 0.1; done
    start_process kube-apiserver-platform "${arguments[@]}" \
        --audit-policy-file="$stack/logs/audit-policy.yaml" --audit-log-path="$stack/logs/audit.jsonl"
    wait_for kube-apiserver-platform api_server_is_ready platform ||
        fail_of kube-apiserver-platform "kube-apiserver-platform has ended"
}

# What the function was allowed to do, a line each: verb, resource, API group. An apply that makes an object is a patch
# in the audit log, and was asked for the right to create as well.
rights_used() {
    jq --raw-output --arg user "system:serviceaccount:$namespace:kro-function" '
        select(.user.username == $user and .objectRef.resource)
        | .objectRef as $object
        | (.verb, if .verb == "patch" and .responseStatus.code == 201 then "create" else empty end)
        | "\(.) \([$object.resource, $object.subresource // empty] | join("/")) \($object.apiGroup // "")"' \
        "$stack/logs/audit.jsonl" | sort --unique
}

rights_refused() {
    jq --raw-output --arg user "system:serviceaccount:$namespace:kro-function" '
        select(.user.username == $user and .responseStatus.code == 403)
        | "\(.verb) \(.requestURI)"' "$stack/logs/audit.jsonl" | sort --unique
}

# rights_granted ACCOUNT: what it may do by the roles that are bound to it, in the same form.
rights_granted() {
    kubectl_on platform get clusterroles,roles,clusterrolebindings,rolebindings --all-namespaces --output=json |
        jq --raw-output --arg account "$1" --arg namespace "$namespace" '
            [.items[]
                | select(any(.subjects[]?; .kind == "ServiceAccount" and .name == $account and .namespace == $namespace))
                | "\(.roleRef.kind) \(.roleRef.name)"] as $bound
            | .items[] | select("\(.kind) \(.metadata.name)" | IN($bound[])) | .rules[]
            | "\(.verbs[]) \(.resources[]) \(.apiGroups[])"' | sort --unique
}

# Everything that the function asks of an API server, at least once.
use_every_right() {
    write_account_kubeconfig
    kubectl_on platform create namespace "$tenant_namespace" >/dev/null
    configure '{"imagePullSecret": {"name": "login"}, "caBundleRef": {"name": "ca", "key": "ca.crt"},
        "values": {"imagePullSecrets": [{"name": "login"}]}}'
    put_ping_source
    run_function onboarding-here --onboarding platform
    tenant_comes
    tenant_changes
    tenant_goes
    run_function onboarding-requested --onboarding requested
    onboarding_is_requested
}

tenant_comes() {
    order 0.9.1
    tick
    grant accessrequest "$(tenant_home)"
    # The pull secret is not there yet: an error, which is recorded as an Event.
    tick
    put_login first
    kubectl_on platform create configmap ca --namespace="$namespace" --from-literal=ca.crt='-----BEGIN CERTIFICATE-----' >/dev/null
    tick
    flux_is_ready
    tick
    expect_kro '{.status.phase}' Ready
    tell
}

tenant_changes() {
    put_login second
    order 0.9.2
    configure '{"imagePullSecret": {"name": "login"}, "caBundleRef": {"name": "ca", "key": "ca.crt"}, "pollInterval": "5m",
        "values": {"imagePullSecrets": [{"name": "login"}], "replicas": 2}}'
    kubectl_on platform annotate providerconfig kro openmcp.cloud/operation=reconcile >/dev/null
    kubectl_on platform annotate kro acme --namespace="$tenant_namespace" openmcp.cloud/operation=reconcile >/dev/null
    tick
    expect_kro '{.metadata.annotations}' ''
    expect_schedule '*/5 * * * *'
    # The copies are removed when no setting names them.
    configure '{}'
    tick
}

tenant_goes() {
    local left
    kubectl_on platform delete kro acme --namespace="$tenant_namespace" --wait=false >/dev/null
    tick
    tick
    left=$(kubectl_on platform get kros,accessrequests,ocirepositories,helmreleases --all-namespaces --output=name)
    [[ -z $left ]] || fail_of "$function_name" "the tenant has not gone: $left"
}

# The two requests in the provider's own namespace, and a look at the Kros with what they bring.
onboarding_is_requested() {
    tick 503
    grant clusterrequest "$namespace"
    tick 503
    grant accessrequest "$namespace"
    tick
}

# --- the function ---

write_account_kubeconfig() {
    local token
    token=$(kubectl_on platform create token kro-function --namespace="$namespace")
    jq --null-input --arg server "$(<"$stack/clusters/platform/server")" --arg token "$token" \
        --arg ca "$(base64 --wrap=0 "$stack/clusters/platform/ca.crt")" '{
            apiVersion: "v1", kind: "Config", "current-context": "it",
            clusters: [{name: "it", cluster: {server: $server, "certificate-authority-data": $ca}}],
            users: [{name: "it", user: {token: $token}}],
            contexts: [{name: "it", context: {cluster: "it", user: "it"}}]}' >"$stack/clusters/platform/function.kubeconfig"
}

# run_function NAME ARGUMENT...: later ticks go to this one. It logs each request.
run_function() {
    function_name=$1
    start_process "$1" env POD_NAMESPACE="$namespace" "$function" serve --port 0 --verbosity DEBUG \
        --kubeconfig "$stack/clusters/platform/function.kubeconfig" "${@:2}"
    wait_for "$1" function_port >/dev/null || fail_of "$1" "$1 has ended"
    port=$(function_port)
}

function_port() {
    jq --raw-output 'select(.msg? == "serving" or .message? == "serving") | .port' "$stack/logs/$function_name.log" 2>/dev/null | grep .
}

# tick [STATUS]: what a PingSource sends, and the answer that is expected; any success by default, and then it is sent again
# after a 503, as a source does: an API server that has just learned of a kind answers its lists 429 for a moment.
tick() {
    local status try
    for try in 1 2 3 4 5 6; do
        status=$(post_tick)
        [[ $status == 503 && $# -eq 0 && $try -lt 6 ]] || break
        sleep 0.5
    done
    [[ $status == "${1:-$status}" && ($# -gt 0 || $status == 2??) ]] || fail_of "$function_name" "a tick was answered $status, not ${1:-2xx}"
}

post_tick() {
    post_event --header 'Ce-Type: dev.knative.sources.ping' \
        --header "Ce-Source: /apis/v1/namespaces/$namespace/pingsources/kro-function-resync"
}

# tell: what an ApiServerSource sends about the Kro, whose objects are then read one by one.
tell() {
    local status
    status=$(post_event --header 'Ce-Type: dev.knative.apiserver.ref.update' --header 'Ce-Source: https://10.96.0.1:443' \
        --header 'Ce-Apiversion: kro.services.openmcp.cloud/v1alpha1' --header 'Ce-Kind: Kro' \
        --header 'Ce-Name: acme' --header "Ce-Namespace: $tenant_namespace")
    [[ $status == 2?? ]] || fail_of "$function_name" "an event was answered $status"
}

# post_event HEADER...: prints the status of the answer.
post_event() {
    curl --silent --noproxy '*' --max-time 60 --output /dev/null --write-out '%{http_code}' \
        --header 'Ce-Specversion: 1.0' --header "Ce-Id: $RANDOM-$RANDOM" "$@" --request POST "http://127.0.0.1:$port/" || true
}

# --- people, the platform and Flux ---

configure() {
    jq --null-input --argjson spec "$1" '{apiVersion: "kro.services.openmcp.cloud/v1alpha1", kind: "ProviderConfig",
        metadata: {name: "kro"}, spec: $spec}' | put -
}

order() {
    jq --null-input --arg namespace "$tenant_namespace" --arg version "$1" '{apiVersion: "kro.services.openmcp.cloud/v1alpha1",
        kind: "Kro", metadata: {name: "acme", namespace: $namespace}, spec: {version: $version}}' | put -
}

# As it is shipped.
put_ping_source() {
    jq --null-input --arg namespace "$namespace" '{apiVersion: "sources.knative.dev/v1", kind: "PingSource",
        metadata: {name: "kro-function-resync", namespace: $namespace},
        spec: {schedule: "* * * * *", sink: {uri: "http://kro-function.invalid"}}}' | put -
}

expect_schedule() {
    local said
    said=$(kubectl_on platform get pingsource kro-function-resync --namespace="$namespace" --output=jsonpath='{.spec.schedule}')
    [[ $said == "$1" ]] || fail_of "$function_name" "the PingSource ticks at \"$said\", not \"$1\""
}

put_login() {
    jq --null-input --arg namespace "$namespace" --arg login "{\"auths\": {\"registry.example.com\": {\"password\": \"$1\"}}}" \
        '{apiVersion: "v1", kind: "Secret", metadata: {name: "login", namespace: $namespace},
          type: "kubernetes.io/dockerconfigjson", data: {".dockerconfigjson": ($login | @base64)}}' | put -
}

expect_kro() {
    local said
    said=$(kubectl_on platform get kro acme --namespace="$tenant_namespace" --output=jsonpath="$1")
    [[ $said == "$2" ]] || fail_of "$function_name" "the Kro has \"$said\" at $1, not \"$2\""
}

# The namespace that the function has made for the tenant.
tenant_home() {
    kubectl_on platform get namespaces --output=name | sed -n 's,^namespace/\(mcp--.*\),\1,p'
}

# grant KIND NAMESPACE: the only object of that kind there gets an administrator's kubeconfig.
grant() {
    local kind=$1 where=$2 name
    name=$(kubectl_on platform get "$kind" --namespace="$where" --output=jsonpath='{.items[0].metadata.name}')
    if [[ $kind == accessrequest ]]; then
        kubectl_on platform create secret generic "$name.kubeconfig" --namespace="$where" \
            --from-file=kubeconfig="$stack/clusters/platform/kubeconfig" >/dev/null
    fi
    kubectl_on platform get "$kind" "$name" --namespace="$where" --output=json |
        jq '{status: ({phase: "Granted", observedGeneration: .metadata.generation}
            + if .kind == "AccessRequest" then {secretRef: {name: "\(.metadata.name).kubeconfig"}} else {} end)}' |
        kubectl_on platform patch "$kind" "$name" --namespace="$where" --subresource=status --type=merge --patch-file=/dev/stdin >/dev/null
}

flux_is_ready() {
    local kind name
    for kind in ocirepository helmrelease; do
        name=$(kubectl_on platform get "$kind" --namespace="$(tenant_home)" --output=jsonpath='{.items[0].metadata.name}')
        kubectl_on platform get "$kind" --namespace="$(tenant_home)" --output=json |
            jq '.items[0] | {status: {observedGeneration: .metadata.generation, conditions: [{type: "Ready", status: "True",
                reason: "Succeeded", message: "done", observedGeneration: .metadata.generation,
                lastTransitionTime: "2026-01-01T00:00:00Z"}]}}' |
            kubectl_on platform patch "$kind" "$name" --namespace="$(tenant_home)" \
                --subresource=status --type=merge --patch-file=/dev/stdin >/dev/null
    done
}
