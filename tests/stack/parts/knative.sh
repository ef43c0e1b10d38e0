# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, tools and the paths of the tools
# Knative's manifests, as they lie in the modules that its programs come from, on the API server `platform`. No part of its own:
# for parts/eventing.sh and for tests/manifests.

knative_crds_of_eventing() {
    printf '%s\n' "$1"/config/core/resources/*.yaml
}

# A module's files have no links: what Serving's folder links to is in the modules that it comes from.
knative_crds_of_serving() {
    printf '%s\n' "$1"/config/core/300-resources/*.yaml \
        "$("$tools" --module-dir serving knative.dev/networking)"/config/{certificate,domain-claim,ingress,serverlessservice}.yaml \
        "$("$tools" --module-dir serving knative.dev/caching)"/config/image.yaml
}

# put FILE...
put() {
    kubectl_on platform apply --server-side "${@/#/--filename=}" >/dev/null
}

# route_to_loopback NAMESPACE SERVICE PORT FILE...: applies the configurations of webhooks so that the API server calls them on
# this machine. They name a Service. One of the type ExternalName leads the API server to loopback, and the port is the one that
# the configuration says; the certificate is still that of the Service.
route_to_loopback() {
    local namespace=$1 webhook=$2 port=$3
    shift 3
    kubectl_on platform create service externalname "$webhook" --namespace="$namespace" --external-name=127.0.0.1 >/dev/null
    kubectl_on platform create --dry-run=client --output=json "${@/#/--filename=}" |
        jq --argjson port "$port" '(.. | objects | select(has("clientConfig")) | .clientConfig.service.port) = $port' | put -
}
