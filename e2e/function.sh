# shellcheck shell=bash
# shellcheck disable=SC2154  # e2e/run sets work, project and the names of images
# The function on its cluster: how it is installed, ordered from, and watched. KUBECONFIG is the platform's, as a user has it.

namespace=openmcp-system
home=$work/installation
login=chart-login
pods_of_function=(--namespace="$namespace" --selector=serving.knative.dev/service=kro-function)

# --- installing ---

# readme_block NUMBER: the block of that number in the README's section about installing, with an image and a chart that are there.
readme_block() {
    awk -v wanted="$1" '/^## / { inside = /^## Install on your cluster/ } !inside { next }
        /^```/ { open = !open; count += open; next } open && count == wanted' "$project/README.md" |
        sed "s,registry.example.com/kro-function,$function_image,; s|^spec: {}$|spec: {$provider_spec}|" | grep .
}

provider_spec="chartURL: 'oci://$registry/charts/kro', imagePullSecret: {name: $login}"

# The commands of a block, in a folder; but for docker's: the image is there already.
follow() {
    local block
    block=$(readme_block "$1" | sed '/^docker /d')
    printf '%s\n' "$block" | sed 's/^/    $ /' >&2
    (cd "$2" && bash -euo pipefail -c "$block")
}

put_login() {
    kubectl create secret generic "$login" --namespace="$namespace" --type=kubernetes.io/dockerconfigjson \
        --from-file=.dockerconfigjson="$work/login.json" >/dev/null
}

# apply_overlay NAME [TAG]: as the README says it, with another overlay or image.
apply_overlay() {
    mkdir -p "$home"
    [[ -e $home/kro-function ]] || ln -s "$project" "$home/kro-function"
    readme_block 2 | sed "s,/overlays/direct,/overlays/$1,; s,newTag: 0.1.0,newTag: ${2:-0.1.0}," >"$home/kustomization.yaml"
    kubectl apply --kustomize "$home"
}

# switch_to OVERLAY: what the one before has made goes first. Adapters stay on the control plane's node.
switch_to() {
    kubectl delete pingsources,apiserversources,containersources,triggers,brokers --all --namespace="$namespace" --wait >/dev/null
    if has_worker; then kubectl cordon "$(worker)" >/dev/null; fi
    apply_overlay "$1" >/dev/null
    eventually 120 "what delivers events is Ready" delivery_is_ready
    if has_worker; then kubectl uncordon "$(worker)" >/dev/null; fi
}

# The volume of the recorder, in the overlay `record`, which is `broker` with one beside it.
recordings=/var/local/kro-function-archive
make_archive() {
    docker exec "$(cluster_name platform)-control-plane" install --directory --mode=777 "$recordings"
    kubectl apply --filename=- <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: kro-function-archive}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: standard
  claimRef: {namespace: $namespace, name: kro-function-archive}
  hostPath: {path: $recordings, type: Directory}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions:
            - {key: node-role.kubernetes.io/control-plane, operator: Exists}
END
}

delivery_is_ready() {
    kubectl get services.serving.knative.dev,pingsources,apiserversources,containersources,brokers,triggers --namespace="$namespace" \
        --output=json | jq --exit-status '.items | length > 0 and all(.metadata.generation == .status.observedGeneration
            and any(.status.conditions[]?; .type == "Ready" and .status == "True"))' &&
        kubectl get deployments --namespace="$namespace" --output=json |
        jq --exit-status '.items | all(.status.readyReplicas == .spec.replicas or .spec.replicas == 0)'
}

# --- tenants ---

# new_tenant: sets `tenant` to a namespace of its own.
new_tenant() {
    tenant=project-x--ws-$(openssl rand -hex 4)
    kubectl create namespace "$tenant" >/dev/null
}

order() {
    kubectl apply --filename=- >/dev/null <<END
apiVersion: kro.services.openmcp.cloud/v1alpha1
kind: Kro
metadata: {name: acme, namespace: $1}
spec: {version: $2}
END
}

kro() { kubectl get kro acme --namespace="$1" --output=json; }

is_ready() {
    kro "$1" | jq --exit-status '.status.phase == "Ready" and .status.observedGeneration == .metadata.generation
        and any(.status.conditions[]; .type == "Ready" and .status == "True")'
}

# The version of kro whose pods run on the control plane.
running_kro() {
    on mcp-01 get deployments --namespace=kro-system --output=json |
        jq --raw-output '.items[] | select(.status.availableReplicas >= 1 and .status.updatedReplicas == .status.replicas)
            | .spec.template.spec.containers[0].image | sub(".*:"; "")'
}
runs() { [[ $(running_kro) == "$1" ]]; }

# remove TENANT...: orders are taken back, and their namespaces go.
remove() {
    local one
    for one in "$@"; do kubectl delete kro acme --namespace="$one" --ignore-not-found --wait=false >/dev/null; done
    for one in "$@"; do
        eventually 180 "the Kro of $one is gone" is_gone "$one"
        kubectl delete namespace "$one" --ignore-not-found --wait=false >/dev/null
    done
}
is_gone() { [[ -z $(kubectl get kro --namespace="$1" --output=name) ]]; }

# No tick within a run, so that events alone are at work.
without_ticks() {
    kubectl patch providerconfig kro --type=merge --patch='{"spec": {"pollInterval": "24h"}}' >/dev/null
    eventually 60 "the PingSource follows the interval" has_schedule '0 0 * * *'
}
with_ticks() {
    kubectl patch providerconfig kro --type=merge --patch='{"spec": {"pollInterval": "1m"}}' >/dev/null
    eventually 60 "the PingSource follows the interval" has_schedule '* * * * *'
}
has_schedule() { [[ $(kubectl get pingsource kro-function-resync --namespace="$namespace" --output=jsonpath='{.spec.schedule}') == "$1" ]]; }

hold_flux() { kubectl scale deployment/helm-controller --namespace=flux-system --replicas=0 >/dev/null; }
let_flux_go() {
    kubectl scale deployment/helm-controller --namespace=flux-system --replicas=1 >/dev/null
    kubectl rollout status deployment/helm-controller --namespace=flux-system --timeout=60s >/dev/null
}

# --- pods and events ---

# Pods that are not on their way out.
function_pods() {
    kubectl get pods "${pods_of_function[@]}" --output=json |
        jq --raw-output '.items[] | select(.metadata.deletionTimestamp | not) | .metadata.name'
}
is_at_zero() { [[ -z $(function_pods) ]]; }
is_awake() { ! is_at_zero; }

# Keeps what every pod of the function says, as long as this script runs: a log goes with its pod.
follow_function_logs() {
    local pod folder=$work/logs/function
    mkdir -p "$folder"
    while true; do
        kubectl get pods "${pods_of_function[@]}" --watch --output=name || sleep 1
    done 2>/dev/null | while read -r pod; do
        [[ ! -e $folder/${pod#pod/}.log ]] || continue
        : >"$folder/${pod#pod/}.log"
        follow_log "$pod" "$folder/${pod#pod/}.log" &
    done
}

follow_log() {
    until [[ -s $2 ]]; do
        kubectl logs "$1" --namespace="$namespace" --container=kro-function --follow >"$2" 2>/dev/null || sleep 0.2
        kubectl get "$1" --namespace="$namespace" >/dev/null 2>&1 || return
    done
}

# The lines of all pods about events that were answered, a JSON object each.
answers() { cat "$work"/logs/function/*.log 2>/dev/null | grep '"event answered"' || true; }
count_of() { answers | jq --slurp "[.[] | select($1)] | length"; }

# send ID TYPE HEADER...: posts an event to the function through the networking layer; prints the status and the seconds it took.
send() {
    local id=$1 type=$2 header headers=()
    shift 2
    for header in "$@"; do headers+=(--header "$header"); done
    curl --silent --show-error --noproxy '*' --output /dev/null --write-out '%{http_code} %{time_total}\n' --max-time 120 \
        --header "Host: kro-function.$namespace.svc.cluster.local" --header 'Ce-Specversion: 1.0' --header "Ce-Id: $id" \
        --header "Ce-Type: $type" --header 'Ce-Source: e2e' --header 'Content-Type: application/json' "${headers[@]}" \
        --data '{}' "http://$way_in/"
}

# The networking layer's Service on a port of every node; a forwarding by kubectl loses connections when there are many.
open_way_in() {
    local port service=("${ingress_service#*/}" --namespace="${ingress_service%/*}")
    kubectl patch service "${service[@]}" --type=merge --patch='{"spec": {"type": "NodePort"}}' >/dev/null
    port=$(kubectl get service "${service[@]}" --output=jsonpath='{.spec.ports[?(@.port==80)].nodePort}')
    way_in=$(node_address "$(cluster_name platform)-control-plane"):$port
}

# --- waiting ---

# eventually SECONDS WHAT COMMAND...: fails, and says what was waited for.
eventually() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [[ $SECONDS -ge $deadline ]]; then
            log "waited in vain: $what"
            return 1
        fi
        sleep 0.3
    done
}

# What must fail, in a place where the next command would otherwise follow.
not() { ! "$@"; }

now() { printf '%s\n' "${EPOCHREALTIME/,/.}"; }
since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.2f\n", to - from }'; }

# measured WHAT VALUE: for the table at the end.
measured() { printf '%s\t%s\n' "$1" "$2" | tee -a "$work/measured" >&2; }
