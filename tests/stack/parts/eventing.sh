# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# shellcheck disable=SC2016  # what looks like a variable in single quotes is jq's
# Knative Eventing on the platform cluster, with the in-memory channel and the broker that is built on it: its own manifests, run by
# the part node, each program with its own ServiceAccount.
# shellcheck source=tests/stack/parts/knative.sh
source "$here/parts/knative.sh"

tools=$here/build-tools
eventing_programs=(
    eventing-controller eventing-webhook apiserver-receive-adapter mtping
    mtchannel-broker channel-controller channel-dispatcher broker-ingress broker-filter event-display
)

prepare_eventing() {
    [[ " ${parts[*]} " == *' node '* ]] || die "the part eventing needs the part node"
    eventing=$("$tools" --module-dir eventing)
    kube_controller_manager=$("$tools" --path kube-controller-manager)
    mapfile -t eventing_paths < <("$tools" --path "${eventing_programs[@]}")
    [[ ${#eventing_paths[@]} -eq ${#eventing_programs[@]} ]] || die "not all programs of Knative Eventing were built"
}

start_eventing() {
    local core=$eventing/config/core channel=$eventing/config/channels/in-memory-channel
    name_eventing_images
    mapfile -t crds_of_eventing < <(knative_crds_of_eventing "$eventing")
    put "$core/100-namespace.yaml" "${crds_of_eventing[@]}" "$channel"/resources/*.yaml
    # Some roles are put together from others, by a controller of Kubernetes.
    start_process role-aggregator "$kube_controller_manager" --kubeconfig="$stack/clusters/platform/kubeconfig" \
        --controllers=clusterrole-aggregation-controller --secure-port=0 --leader-elect=false
    put "$core"/configmaps/*.yaml "$eventing"/third_party/eventing-integrations-latest/*-images.yaml "$channel"/configmaps/*.yaml \
        "$core"/200-*.yaml "$core"/roles/*.yaml "$eventing"/config/brokers/mt-channel-broker/roles/*.yaml \
        "$channel"/200-*.yaml "$channel"/roles/*.yaml
    start_eventing_deployments
}

# As Knative's manifests name them, ko://PACKAGE, and as ours do.
name_eventing_images() {
    local i name
    for i in "${!eventing_programs[@]}"; do
        name=${eventing_programs[i]}
        stands_for "$(awk -v tool="$name" '$1 == tool { print $3 }' "$here/tools/list")" "${eventing_paths[i]}"
        stands_for "$name" "${eventing_paths[i]}"
    done
}

# The API server is to reach the webhooks at the ports that their configurations say, so these pods ask for ports of the node.
start_eventing_deployments() {
    local core=$eventing/config/core channel=$eventing/config/channels/in-memory-channel
    local broker=$eventing/config/brokers/mt-channel-broker webhook_port channel_port converted
    webhook_port=$(unused_port)
    channel_port=$(unused_port)
    mapfile -t converted < <(grep --files-with-matches '^  conversion:' "${crds_of_eventing[@]}")
    route_to_loopback knative-eventing eventing-webhook "$webhook_port" "$core"/webhooks/*.yaml "${converted[@]}"
    route_to_loopback knative-eventing inmemorychannel-webhook "$channel_port" "$channel"/webhooks/*.yaml
    kubectl_on platform create --dry-run=client --output=json \
        --filename="$core"/deployments/{controller,webhook,pingsource-mt-adapter}.yaml \
        --filename="$broker"/deployments/{controller,broker-ingress,broker-filter}.yaml \
        --filename="$channel"/deployments/{controller,dispatcher,dispatcher-service}.yaml |
        jq --argjson webhook "$webhook_port" --argjson channel "$channel_port" '
            def ports_of($name): select(.metadata.name == $name and .kind == "Deployment")
                | .spec.template.spec.containers[0].ports[] | select(.containerPort == 8443);
            select((.kind == "Service" and (.metadata.name | endswith("-webhook"))) | not)
                | ports_of("eventing-webhook").hostPort = $webhook | ports_of("imc-controller").hostPort = $channel' |
        put -
}

await_eventing() {
    wait_for node eventing_is_available || fail_of node "node has ended"
    wait_for node eventing_webhooks_have_rules || fail_of node "node has ended"
}

# PingSources' adapter has no replicas until there is a PingSource.
eventing_is_available() {
    kubectl_on platform get deployments --namespace=knative-eventing --output=json |
        jq --exit-status '.items | all(.status.availableReplicas == 1 or .spec.replicas == 0)' >/dev/null
}

# They write them themselves, at their start; that of SinkBindings only when there is one.
eventing_webhooks_have_rules() {
    kubectl_on platform get mutatingwebhookconfigurations,validatingwebhookconfigurations --output=json |
        jq --exit-status '[.items[].webhooks[] | select(.name | endswith(".eventing.knative.dev"))] | all(has("rules"))' >/dev/null
}
