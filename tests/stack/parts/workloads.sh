# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# Kubernetes' own controllers, as few as an installation makes use of. On every control plane mcp-NN a Deployment becomes
# available too: its pods are on a node that kwok plays. On the platform cluster nobody runs pods here.

common_controllers=(
    garbage-collector-controller namespace-controller
    serviceaccount-controller serviceaccount-token-controller root-ca-certificate-publisher-controller
)
pod_controllers=(deployment-controller replicaset-controller)

prepare_workloads() {
    local paths
    paths=$("$here/build-tools" --path kube-controller-manager kube-scheduler kwok)
    { read -r kube_controller_manager && read -r kube_scheduler && read -r kwok; } <<<"$paths"
}

start_workloads() {
    at_once start_workloads_of "${clusters[@]}"
}

await_workloads() {
    at_once await_workloads_of "${clusters[@]}"
}

start_workloads_of() {
    case $1 in
        platform) run_controllers "$1" "${common_controllers[@]}" ;;
        mcp-*)
            run_controllers "$1" "${common_controllers[@]}" "${pod_controllers[@]}"
            run_kubernetes_part kube-scheduler "$1" "$kube_scheduler" --secure-port=0 --leader-elect=false
            # The node's lease is of use only to a controller that does not run here.
            run_kubernetes_part kwok "$1" "$kwok" --manage-all-nodes --node-port=0 --node-lease-duration-seconds=3600
            make_node "$1"
            ;;
    esac
}

await_workloads_of() {
    case $1 in
        platform) await_controllers "$1" ;;
        mcp-*)
            await_controllers "$1"
            wait_for "kwok-$1" node_is_ready "$1" || fail_of "kwok-$1" "kwok-$1 has ended"
            ;;
    esac
}

run_controllers() {
    local cluster=$1 dir=$stack/clusters/$1 names
    shift
    names=$(IFS=,; printf '%s' "$*")
    run_kubernetes_part kube-controller-manager "$cluster" "$kube_controller_manager" \
        --controllers="$names" --secure-port=0 --leader-elect=false \
        --service-account-private-key-file="$dir/service-account.key" --root-ca-file="$dir/ca.crt"
}

# run_kubernetes_part NAME CLUSTER COMMAND...
run_kubernetes_part() {
    start_process "$1-$2" "${@:3}" --kubeconfig="$stack/clusters/$2/kubeconfig"
}

await_controllers() {
    local name=kube-controller-manager-$1
    wait_for "$name" controllers_are_at_work "$1" || fail_of "$name" "$name has ended"
}

# The ServiceAccount that every namespace gets by one of them.
controllers_are_at_work() {
    kubectl_on "$1" get serviceaccount default --namespace=default >/dev/null 2>&1
}

make_node() {
    kubectl_on "$1" create --filename=- >/dev/null <<'EOF'
apiVersion: v1
kind: Node
metadata:
  name: kwok
  annotations:
    kwok.x-k8s.io/node: fake
  labels:
    kubernetes.io/arch: amd64
    kubernetes.io/hostname: kwok
    kubernetes.io/os: linux
EOF
    # Every new node has it, until a controller that does not run here takes it off.
    kubectl_on "$1" taint node kwok node.kubernetes.io/not-ready:NoSchedule- >/dev/null
}

node_is_ready() {
    [[ $(kubectl_on "$1" get node kwok --output=jsonpath='{.status.conditions[?(@.type=="Ready")].status}') == True ]]
}
