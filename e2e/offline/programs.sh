# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/e2e sets project, offline, cache, work and tools
# The images of Knative, Flux, kro, a registry and the networking layer, with the programs of tests/stack/tools in them.

knative_release=v1.23.0
serving_programs=(serving-controller serving-webhook serving-activator serving-autoscaler serving-queue)
eventing_programs=(
    eventing-controller eventing-webhook apiserver-receive-adapter mtping mtchannel-broker channel-controller channel-dispatcher
    broker-ingress broker-filter event-display
)
flux_programs=(source-controller helm-controller)
# What runs on any node, as helm-controller does after it was stopped for a while; the rest stays where the control plane is.
programs_of_workloads=(serving-queue apiserver-receive-adapter mtping event-display)

# Sets the arrays images_of_platform, images_of_workloads and images_of_control_planes: archives, which are made if need be.
prepare_programs() {
    local programs=("${serving_programs[@]}" "${eventing_programs[@]}" "${flux_programs[@]}" ingress kro) key registry
    build_tools "${programs[@]}"
    mapfile -t program_paths < <("$tools" --path "${programs[@]}")
    registry=$(find_docker_registry) || die "docker-registry is missing: run scripts/setup test"
    key=$({ cat "$offline"/{programs,image}.sh && printf '%s\n' "${program_paths[@]}" "$(digest_of_file "$registry")"; } | sha256sum)
    images_of_platform=("$cache/platform-${key:0:12}.tar")
    images_of_workloads=("$cache/workloads-${key:0:12}.tar")
    images_of_control_planes=("$cache/kro-${key:0:12}.tar")
    with_lock e2e-programs make_program_archives "$registry"
}

make_program_archives() {
    local new=$cache/programs.new
    if is_intact "${images_of_platform[0]}" && is_intact "${images_of_workloads[0]}" && is_intact "${images_of_control_planes[0]}"; then
        return
    fi
    log "making the images of Knative, Flux and kro"
    rm -rf "$new" "$cache"/{platform,workloads,kro}-*.tar*
    add_programs "$new" "$1"
    close_archive "$new/workloads" "${images_of_workloads[0]}"
    close_archive "$new/platform" "${images_of_platform[0]}"
    close_archive "$new/kro" "${images_of_control_planes[0]}"
    rm -rf "$new"
}

add_programs() {
    local new=$1 registry=$2 path program version
    for path in "${program_paths[@]}"; do
        program=$(basename "$path")
        version=$(basename "$(dirname "$path")" | sed 's/-[^-]*$//')
        case $program in
            kro)
                # As kro's chart names it, in the versions that the registry's charts have.
                for version in "${chart_versions[@]}"; do add_program "$new/kro" "$path" "registry.k8s.io/kro/kro:$version"; done
                ;;
            source-controller) add_program "$new/platform" "$path" "docker.io/fluxcd/$program:$version" ;;
            helm-controller) add_program "$new/workloads" "$path" "docker.io/fluxcd/$program:$version" ;;
            ingress) add_program "$new/platform" "$path" "dev.local/$program:$version" ;;
            *)
                if [[ " ${programs_of_workloads[*]} " == *" $program "* ]]; then
                    add_program "$new/workloads" "$path" "dev.local/knative/$program:$knative_release"
                else
                    add_program "$new/platform" "$path" "dev.local/knative/$program:$knative_release"
                fi
                ;;
        esac
    done
    from=/ with_libraries "$new/registry" "$registry"
    install -D --mode=755 "$registry" "$new/registry/usr/bin/registry"
    add_image "$new/platform" docker.io/library/registry:2 "$new/registry" '{"Entrypoint": ["/usr/bin/registry"], "User": "65532:65532"}'
}

# add_program ARCHIVE PATH NAME: an image with nothing but the program, which is static, and a folder for temporary files.
add_program() {
    local archive=$1 path=$2 name=$3 root
    root=$(mktemp --directory "$cache/program.XXXXXX")
    chmod 755 "$root"
    install -D --mode=755 "$path" "$root/bin/$(basename "$path")"
    mkdir --mode=1777 "$root/tmp"
    add_image "$archive" "$name" "$root" "{\"Entrypoint\": [\"/bin/$(basename "$path")\"], \"User\": \"65532:65532\"}"
    rm -rf "$root"
}

# Our image, under two tags, since an installation is upgraded by its tag.
prepare_function_image() {
    local tag names=()
    images_of_function=("$work/function.tar")
    for tag in "${function_tags[@]}"; do names+=(--name "$function_image:$tag"); done
    if [[ $build == true ]]; then
        "$project/scripts/image" "${names[@]}" --docker-archive "${images_of_function[0]}" \
            >"$work/logs/image.log" 2>&1 || die "building the image has failed: $work/logs/image.log"
    else
        take_built_program
    fi
}

# As the Dockerfile ends, with the program in build/release.
take_built_program() {
    local root=$work/function tag settings
    "$project/scripts/rootfs" "$root"
    settings=$(jq --null-input --argjson entrypoint "$(sed -n 's/^ENTRYPOINT //p' "$project/Dockerfile")" \
        --arg user "$(awk '$1 == "USER" { print $2 }' "$project/Dockerfile")" '{Entrypoint: $entrypoint, User: $user, Env: ["PORT=8080"]}')
    for tag in "${function_tags[@]}"; do add_image "$work/function.new" "$function_image:$tag" "$root" "$settings"; done
    close_archive "$work/function.new" "${images_of_function[0]}"
    rm -rf "$root"
}
