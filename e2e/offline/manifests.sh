# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/e2e sets tools and manifests
# What a release of Knative or Flux is to be applied from, as a file release.yaml, out of the files of its modules.

prepare_manifests() {
    local eventing serving networking caching images
    eventing=$("$tools" --module-dir eventing)/config
    serving=$("$tools" --module-dir serving)/config
    networking=$("$tools" --module-dir serving knative.dev/networking)/config
    caching=$("$tools" --module-dir serving knative.dev/caching)/config
    images=$(image_names)
    # A module's files have no links: what Serving's folder links to is in the modules that it comes from.
    one_file "$serving"/core/*.yaml "$serving"/core/*/*.yaml "$networking"/*.yaml "$caching"/*.yaml |
        sed "$images" >"$manifests/knative-serving/release.yaml"
    one_file "$eventing"/core/*.yaml "$eventing"/core/*/*.yaml "$eventing"/channels/in-memory-channel/*.yaml \
        "$eventing"/channels/in-memory-channel/*/*.yaml "$eventing"/brokers/mt-channel-broker/*/*.yaml \
        "$eventing"/../third_party/eventing-integrations-latest/*-images.yaml |
        sed "$images" >"$manifests/knative-eventing/release.yaml"
    prepare_flux_manifests
    cp "$offline/ingress.yaml" "$manifests/networking/release.yaml"
}

# Knative's manifests name the program of an image, ko://PACKAGE; as sed's commands.
image_names() {
    awk -v release="$knative_release" '$3 ~ /^knative\.dev\// {
        printf "s,ko://%s$,dev.local/knative/%s:%s,\n", $3, $1, release }' "$(dirname "$tools")/tools/list"
}

one_file() {
    local file
    for file in "$@"; do
        printf -- '---\n'
        cat "$file"
        printf '\n'
    done
}

# Flux' modules leave it to an installation which namespace it is.
prepare_flux_manifests() {
    local controller part folder=$manifests/flux/release resources=()
    for controller in source-controller helm-controller; do
        mkdir -p "$folder/$controller"
        for part in crd rbac manager; do
            cp -r --no-preserve=mode "$("$tools" --module-dir "$controller")/config/$part" "$folder/$controller"
            resources+=("$controller/$part")
        done
    done
    jq --null-input '{apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources: $ARGS.positional}' \
        --args "${resources[@]}" >"$folder/kustomization.yaml"
}
