# shellcheck shell=bash
# shellcheck disable=SC2154  # e2e/run sets work, node_image and the arrays of images
# Clusters made by kind: `platform`, with a control plane's node and a worker, and `mcp-01`, a tenant's control plane.

cluster_name() { printf 'kro-e2e-%s\n' "$1"; }

kubeconfig_of() { printf '%s/%s.kubeconfig\n' "$work" "$1"; }

# on CLUSTER ARGUMENT...: kubectl
on() { kubectl --kubeconfig="$(kubeconfig_of "$1")" --cache-dir="$work/kubectl-cache" "${@:2}"; }

create_clusters() {
    local platform
    create_cluster platform worker >"$work/logs/kind-platform.log" 2>&1 &
    platform=$!
    create_cluster mcp-01 >"$work/logs/kind-mcp-01.log" 2>&1 || die "kind has failed: $work/logs/kind-mcp-01.log"
    wait "$platform" || die "kind has failed: $work/logs/kind-platform.log"
    load_images platform "" "${images_of_workloads[@]}" "${images_of_function[@]}"
    load_images platform control-plane "${images_of_platform[@]}"
    load_images mcp-01 "" "${images_of_control_planes[@]}"
}

# create_cluster NAME [ROLE...]: with a node for the control plane, and one for each further role.
create_cluster() {
    local name=$1 image=()
    shift
    [[ -z $node_image ]] || image=(--image="$node_image")
    cluster_settings "$@" >"$work/kind-$name.yaml"
    kind create cluster --name="$(cluster_name "$name")" --config="$work/kind-$name.yaml" --kubeconfig="$(kubeconfig_of "$name")" "${image[@]}"
    [[ -z $node_image ]] || connect_nodes "$name"
    wait_until 120 "the node of $name" on "$name" wait --for=condition=Ready nodes --all --timeout=5s
    # What is for everybody runs on the control plane's node as well.
    on "$name" taint nodes --all node-role.kubernetes.io/control-plane:NoSchedule- || true
    wait_until 180 "the name server of $name" on "$name" --namespace=kube-system rollout status deployment/coredns --timeout=5s
    reachable_kubeconfig "$name" >"$(kubeconfig_of "$name-node")"
}

cluster_settings() {
    local role
    cat <<'END'
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
networking:
  ipFamily: ipv4
END
    # A network plugin can't be pulled where node images can't.
    [[ -z $node_image ]] || printf '  disableDefaultCNI: true\n'
    printf 'nodes:\n- role: control-plane\n'
    [[ -z $node_image ]] || control_plane_settings
    for role in "$@"; do printf -- '- role: %s\n' "$role"; done
}

# The versions that the node image has of what kubeadm would choose others.
control_plane_settings() {
    cat <<END
  kubeadmConfigPatches:
  - |
    kind: ClusterConfiguration
    dns: {imageTag: $coredns_version}
    etcd: {local: {imageTag: $etcd_version, extraArgs: {unsafe-no-fsync: "true"}}}
END
}

nodes_of() { kind get nodes --name="$(cluster_name "$1")"; }
node_address() { docker container inspect --format='{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$1"; }
pod_range() { on "$1" get node "$2" --output=jsonpath='{.spec.podCIDR}'; }

# Each node gives its pods addresses of its range, and knows the way to the ranges of the others.
connect_nodes() {
    local name=$1 node other nodes
    mapfile -t nodes < <(nodes_of "$name")
    for node in "${nodes[@]}"; do
        wait_until 60 "the pods' addresses of $node" has_pod_range "$name" "$node"
    done
    for node in "${nodes[@]}"; do
        network_of_pods "$(pod_range "$name" "$node")" | docker exec --interactive "$node" tee /etc/cni/net.d/10-pods.conflist >/dev/null
        for other in "${nodes[@]}"; do
            [[ $other == "$node" ]] ||
                docker exec "$node" ip route add "$(pod_range "$name" "$other")" via "$(node_address "$other")"
        done
    done
}

has_pod_range() { [[ -n $(pod_range "$1" "$2") ]]; }

network_of_pods() {
    jq --null-input --arg range "$1" '{cniVersion: "0.4.0", name: "pods", plugins: [
        {type: "ptp", ipMasq: true, mtu: 1500,
         ipam: {type: "host-local", dataDir: "/run/cni-pods", ranges: [[{subnet: $range}]], routes: [{dst: "0.0.0.0/0"}]}},
        {type: "portmap", capabilities: {portMappings: true}}]}'
}

# load_images CLUSTER ROLE ARCHIVE...: into the nodes of that role, or all of them.
load_images() {
    local name=$1 role=$2 nodes archive
    shift 2
    mapfile -t nodes < <(nodes_of "$name" | grep -- "${role:-.}")
    for archive in "$@"; do
        kind load image-archive "$archive" --name="$(cluster_name "$name")" --nodes="$(IFS=,; printf '%s' "${nodes[*]}")" \
            >>"$work/logs/images.log" 2>&1 || die "loading images has failed: $work/logs/images.log"
    done
}

# Names the control plane's node by its address, which everybody reaches: this machine, pods, and other clusters.
reachable_kubeconfig() {
    local node
    node=$(cluster_name "$1")-control-plane
    kind get kubeconfig --internal --name="$(cluster_name "$1")" | sed "s,https://$node:,https://$(node_address "$node"):,"
}

delete_clusters() {
    local name
    for name in platform mcp-01; do
        kind delete cluster --name="$(cluster_name "$name")" --kubeconfig="$(kubeconfig_of "$name")" >>"$work/logs/kind-delete.log" 2>&1
    done
}
