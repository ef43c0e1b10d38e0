# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# shellcheck disable=SC2016  # what looks like a variable in single quotes is jq's
# An OCI registry that asks for a password, with kro's own chart in two versions.

chart_versions=(0.9.1 0.9.2)
registry_user=chart-reader

prepare_registry() {
    local hint="run scripts/setup test"
    need htpasswd "$hint"
    docker_registry=$(find_docker_registry) || die "docker-registry is missing: $hint"
    helm=$("$here/build-tools" --path helm)
    kro_chart=$("$here/build-tools" --module-dir kro)/helm
}

start_registry() {
    local dir=$stack/parts/registry password
    mkdir -p "$dir"
    password=$(openssl rand -hex 16)
    printf '%s\n' "$password" >"$dir/password"
    htpasswd -iBc "$dir/htpasswd" "$registry_user" <<<"$password" 2>/dev/null
    # The kernel chooses the port, and the registry's log tells it.
    cat >"$dir/config.yml" <<EOF
version: 0.1
log: {accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $dir/storage}}
auth: {htpasswd: {realm: kro, path: $dir/htpasswd}}
http: {addr: '127.0.0.1:0', secret: $(openssl rand -hex 16)}
EOF
    start_process registry "$docker_registry" serve "$dir/config.yml"
}

await_registry() {
    local dir=$stack/parts/registry server
    wait_for registry registry_address >/dev/null || fail_of registry "registry has ended"
    server=$(registry_address)
    write_pull_secret "$server" "$(<"$dir/password")" >"$dir/config.json"
    at_once push_chart "${chart_versions[@]}"
    describe --arg server "$server" --arg user "$registry_user" --arg password "$(<"$dir/password")" --arg dir "$dir" \
        '.registry = {
            server: $server, username: $user, password: $password, chart: "oci://\($server)/charts/kro",
            versions: $ARGS.positional, htpasswd: "\($dir)/htpasswd", pullSecret: "\($dir)/config.json"
        }' --args "${chart_versions[@]}"
}

registry_address() {
    sed -n 's/.*msg="listening on \([0-9.:]*\)".*/\1/p' "$stack/logs/registry.log" | grep .
}

# What a Secret of the type kubernetes.io/dockerconfigjson carries.
write_pull_secret() {
    jq --null-input --arg server "$1" --arg user "$registry_user" --arg password "$2" \
        '{auths: {($server): {username: $user, password: $password, auth: "\($user):\($password)" | @base64}}}'
}

# As kro's own release does it: the version goes into the chart and into the tag of its image.
push_chart() {
    local version=$1 dir=$stack/parts/registry
    mkdir -p "$dir/$version"
    cp -r --no-preserve=mode "$kro_chart" "$dir/$version/kro"
    sed -i "s/tag: .*/tag: \"$version\"/" "$dir/$version/kro/values.yaml"
    run_helm package --version "$version" --app-version "$version" --destination "$dir/$version" "$dir/$version/kro"
    run_helm push --plain-http "$dir/$version/kro-$version.tgz" "oci://$(registry_address)/charts"
}

# Helm tells of success at length.
run_helm() {
    env -i HOME="$stack/parts/registry" "$helm" --registry-config="$stack/parts/registry/config.json" "$@" \
        >>"$stack/logs/helm.log" 2>&1 || fail_of helm "helm $1 has failed"
}
