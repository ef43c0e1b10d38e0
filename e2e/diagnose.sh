# shellcheck shell=bash
# shellcheck disable=SC2154  # e2e/run sets work
# What somebody needs who was not there when a journey failed: build/e2e/diagnosis/JOURNEY.

diagnose() {
    local folder=$work/diagnosis/$1 cluster
    mkdir -p "$folder"
    cp "$work/logs/journeys/$1.log" "$folder/journey.log"
    cp -r "$work/logs/function" "$folder/function-logs" 2>/dev/null || true
    cp "$work/logs/openmcp.log" "$folder" 2>/dev/null || true
    for cluster in platform mcp-01; do diagnose_cluster "$cluster" "$folder/$cluster" 2>/dev/null; done
    replay_of_the_function "$folder"
    log "what there was: $folder"
}

diagnose_cluster() {
    local cluster=$1 folder=$2 pod
    mkdir -p "$folder/pods"
    on "$cluster" get events --all-namespaces --sort-by=.lastTimestamp >"$folder/events.txt" || true
    on "$cluster" get pods,nodes --all-namespaces --output=wide >"$folder/pods.txt" || true
    on "$cluster" get "$(kinds_of_interest "$cluster")" --all-namespaces --output=yaml >"$folder/objects.yaml" || true
    on "$cluster" get pods --all-namespaces --output=jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}' |
        grep --invert-match '^kube-system/\(etcd\|kube-scheduler\)' | while read -r pod; do
        on "$cluster" logs --namespace="${pod%/*}" "${pod#*/}" --all-containers --tail=2000 >"$folder/pods/${pod/\//.}.log" </dev/null || true
        on "$cluster" describe pod --namespace="${pod%/*}" "${pod#*/}" >"$folder/pods/${pod/\//.}.txt" </dev/null || true
    done
}

# Of ours, Flux', openMCP's and Knative's kinds those that the cluster has; no Secret.
kinds_of_interest() {
    on "$1" api-resources --verbs=list --output=name |
        grep --extended-regexp '(openmcp\.cloud|fluxcd\.io|knative\.dev|kro\.run)$' | paste --serial --delimiters=,
}

# The events that came to the Broker, without what is secret in them and without the recorder's key, and what they lead to by the program of this checkout.
replay_of_the_function() {
    local folder=$1/events files program=$project/build/ci/kro-function
    docker exec "$(cluster_name platform)-control-plane" tar --create --exclude='*.key' --directory="$recordings" . 2>/dev/null >"$1/events.tar" || return 0
    mkdir -p "$folder"
    tar --extract --file="$1/events.tar" --directory="$folder" && rm "$1/events.tar"
    files=("$folder"/*.jsonl*)
    [[ -s ${files[0]} ]] || return 0
    "$program" replay --output=html "${files[@]}" >"$1/replay.html" 2>"$1/replay.log" || true
}
