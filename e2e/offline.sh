# shellcheck shell=bash
# shellcheck disable=SC2034  # e2e/run reads what is set here
# shellcheck disable=SC2154  # scripts/e2e sets offline
# Clusters and everything in them from Debian packages and Go modules alone.
# shellcheck source=e2e/offline/image.sh
source "$offline/image.sh"
# shellcheck source=e2e/offline/node.sh
source "$offline/node.sh"
# shellcheck source=e2e/offline/machine.sh
source "$offline/machine.sh"
# shellcheck source=e2e/offline/programs.sh
source "$offline/programs.sh"
# shellcheck source=e2e/offline/manifests.sh
source "$offline/manifests.sh"

ingress_class=e2e.ingress.networking.knative.dev
ingress_service=e2e-ingress/ingress

prepare() {
    prepare_machine
    prepare_node_image
    prepare_programs
    prepare_manifests
    prepare_function_image
    prepare_commands
}

# What is run beside the clusters.
prepare_commands() {
    local command
    build_tools kind kubectl helm
    for command in kind kubectl helm; do
        ln -s "$("$tools" --path "$command")" "$bin/$command"
    done
    platform_program=$project/build/ci/tests/stack-openmcp
    [[ $build == false ]] || build_platform
    [[ -x $platform_program ]] || die "$platform_program is missing: leave out --no-build"
}

build_platform() {
    cmake --preset ci -S "$project" >"$work/logs/build.log"
    flock "$project/build/ci.lock" cmake --build "$project/build/ci" --target stack-openmcp kro-function >>"$work/logs/build.log"
}
