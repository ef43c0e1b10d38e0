# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, tools and the paths of the tools
# Knative's kinds and its admission webhooks, as processes beside the API server `platform`. To be sourced after
# tests/stack/lib.sh and tests/stack/parts/knative.sh.

# start_knative eventing|serving
start_knative() {
    local set=$1 namespace=knative-$1 webhook=webhook port dir crds config webhooks
    [[ $set == serving ]] || webhook=$set-webhook
    dir=$("$tools" --module-dir "$set")
    mapfile -t crds < <("knative_crds_of_$set" "$dir")
    config=("$dir"/config/core/100-namespace.yaml "$dir"/config/core/configmaps/*.yaml)
    webhooks=("$dir"/config/core/webhooks/{defaulting,resource-validation,secret}.yaml)
    put "${crds[@]}"
    put "${config[@]}"
    port=$(unused_port)
    route_to_loopback "$namespace" "$webhook" "$port" "${webhooks[@]}"
    start_process "$set-webhook" env KUBECONFIG="$stack/clusters/platform/kubeconfig" SYSTEM_NAMESPACE="$namespace" \
        POD_NAME="$set-webhook" WEBHOOK_NAME="$webhook" WEBHOOK_PORT="$port" METRICS_DOMAIN="knative.dev/$set" \
        CONFIG_LOGGING_NAME=config-logging CONFIG_OBSERVABILITY_NAME=config-observability \
        "$("$tools" --path "$set-webhook")"
}

# refused WORDS <MANIFEST: whether an admission webhook refuses it, with these words. A webhook fills in its rules some
# seconds after its start, and looks at a changed setting some time after the change.
refused() {
    local answer
    if answer=$(kubectl_on platform apply --server-side --dry-run=server --filename=- 2>&1); then
        return 1
    fi
    grep --quiet --fixed-strings "$1" <<<"$answer" && grep --quiet 'admission webhook' <<<"$answer"
}
