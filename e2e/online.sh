# shellcheck shell=bash
# shellcheck disable=SC2034  # e2e/run reads what is set here
# shellcheck disable=SC2154  # scripts/e2e sets project, work, bin and the names of images
# Clusters and everything in them from what Kubernetes, Knative and Flux publish. The machine has Docker.

kind_release=v0.33.0
kubectl_release=v1.34.4
helm_release=v3.19.0
knative_release=knative-v1.23.0
flux_release=v2.8.0

ingress_class=kourier.ingress.networking.knative.dev
ingress_service=kourier-system/kourier-internal
# kind's own.
node_image='' etcd_version='' coredns_version=''
images_of_platform=() images_of_workloads=() images_of_control_planes=()
platform_program=$project/build/ci/tests/stack-openmcp
DOCKER_HOST=${DOCKER_HOST:-unix:///var/run/docker.sock}

prepare() {
    need docker "install Docker, or set E2E_MODE=offline"
    need htpasswd "run scripts/setup test"
    prepare_commands
    prepare_manifests
    prepare_images
}

fetch() { curl --silent --show-error --fail --location --retry 3 --output "$1" "$2" || die "can't fetch $2"; }

prepare_commands() {
    local architecture
    architecture=$(dpkg --print-architecture)
    fetch "$bin/kind" "https://github.com/kubernetes-sigs/kind/releases/download/$kind_release/kind-linux-$architecture"
    fetch "$bin/kubectl" "https://dl.k8s.io/release/$kubectl_release/bin/linux/$architecture/kubectl"
    fetch "$work/helm.tar.gz" "https://get.helm.sh/helm-$helm_release-linux-$architecture.tar.gz"
    tar --extract --file="$work/helm.tar.gz" --directory="$bin" --strip-components=1 "linux-$architecture/helm"
    chmod +x "$bin"/{kind,kubectl,helm}
    cmake --preset ci -S "$project" >"$work/logs/build.log"
    [[ $build == false ]] || cmake --build "$project/build/ci" --target stack-openmcp kro-function >>"$work/logs/build.log"
}

prepare_manifests() {
    local serving=https://github.com/knative/serving/releases/download/$knative_release
    local eventing=https://github.com/knative/eventing/releases/download/$knative_release
    release knative-serving "$serving"/serving-{crds,core}.yaml
    release knative-eventing "$eventing"/eventing-{crds,core}.yaml "$eventing"/{in-memory-channel,mt-channel-broker}.yaml
    release networking "https://github.com/knative-extensions/net-kourier/releases/download/$knative_release/kourier.yaml"
    mkdir -p "$manifests/flux/release"
    fetch "$manifests/flux/release/install.yaml" "https://github.com/fluxcd/flux2/releases/download/$flux_release/install.yaml"
    printf 'resources: [install.yaml]\n' >"$manifests/flux/release/kustomization.yaml"
}

# release FOLDER URL...
release() {
    local folder=$manifests/$1 url
    shift
    for url in "$@"; do
        fetch "$work/part.yaml" "$url"
        { printf -- '---\n' && cat "$work/part.yaml"; } >>"$folder/release.yaml"
    done
}

# Ours by the Dockerfile; and Knative's two that the overlays name, from where its release says.
prepare_images() {
    local tag image
    docker build --tag "$function_image:${function_tags[0]}" "$project" >"$work/logs/docker-build.log" 2>&1 || die "$work/logs/docker-build.log"
    for tag in "${function_tags[@]}"; do docker tag "$function_image:${function_tags[0]}" "$function_image:$tag"; done
    docker save --output="$work/function.tar" "${function_tags[@]/#/$function_image:}"
    images_of_function=("$work/function.tar")
    for image in apiserver_receive_adapter event_display; do
        docker pull --quiet "gcr.io/knative-releases/knative.dev/eventing/cmd/$image:${knative_release#knative-}"
        docker tag "gcr.io/knative-releases/knative.dev/eventing/cmd/$image:${knative_release#knative-}" \
            "dev.local/knative/$(name_of_image "$image"):${knative_release#knative-}"
        docker save --output="$work/$image.tar" "dev.local/knative/$(name_of_image "$image"):${knative_release#knative-}"
        images_of_workloads+=("$work/$image.tar")
    done
}

name_of_image() { printf '%s\n' "${1//_/-}"; }

start_machine() { docker version >/dev/null || die "Docker does not run"; }
inside() { "$@"; }

stop_machine() {
    [[ -x $bin/kind ]] || return 0
    local name
    for name in platform mcp-01; do "$bin/kind" delete cluster --name="kro-e2e-$name" >/dev/null 2>&1 || true; done
}
