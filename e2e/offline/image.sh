# shellcheck shell=bash
# Container images without a container engine: an archive as `docker save` writes it and `docker load` and `ctr images import` read it,
# put together from folders. To be sourced after scripts/lib.sh.

# add_image ARCHIVE NAME ROOT SETTINGS: adds an image whose one layer is the folder ROOT. ARCHIVE is a folder; SETTINGS is JSON, the
# `config` of the image specification: Entrypoint, User, Env, StopSignal.
add_image() {
    local archive=$1 name=$2 root=$3 settings=$4 layer config
    mkdir -p "$archive"
    layer=$(add_layer "$archive" "$root")
    config=$(jq --null-input --compact-output --argjson settings "$settings" --arg layer "sha256:$layer" '{
        architecture: "amd64", os: "linux", created: "1970-01-01T00:00:00Z",
        config: ({Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]} + $settings),
        rootfs: {type: "layers", diff_ids: [$layer]}, history: [{created: "1970-01-01T00:00:00Z"}]}')
    printf '%s' "$config" >"$archive/$(digest_of_text "$config").json"
    jq --null-input --compact-output --arg name "$name" --arg config "$(digest_of_text "$config").json" --arg layer "$layer.tar" \
        '{Config: $config, RepoTags: [$name], Layers: [$layer]}' >>"$archive/images"
}

# The same files make the same layer, whoever made them and when.
add_layer() {
    local archive=$1 root=$2 digest
    tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --directory="$root" --file="$archive/layer" .
    digest=$(digest_of_file "$archive/layer")
    mv "$archive/layer" "$archive/$digest.tar"
    printf '%s\n' "$digest"
}

# close_archive ARCHIVE FILE
close_archive() {
    jq --slurp --compact-output . "$1/images" >"$1/manifest.json"
    rm "$1/images"
    (cd "$1" && tar --create --file="$2.new" -- *.json *.tar)
    rm -rf "$1"
    keep_with_checksum "$2.new" "$2"
}

digest_of_text() { printf '%s' "$1" | sha256sum | cut -d ' ' -f 1; }
digest_of_file() { sha256sum <"$1" | cut -d ' ' -f 1; }

# keep_with_checksum NEW FILE: a half-written file never has its final name, and one that has changed since is not used.
keep_with_checksum() {
    digest_of_file "$1" >"$2.sha256"
    mv "$1" "$2"
}

is_intact() { [[ -f $1 && -f $1.sha256 && $(digest_of_file "$1") == "$(<"$1.sha256")" ]]; }

# with_libraries ROOT PROGRAM...: puts the shared libraries that they load into ROOT. Where the programs are below another root, that
# is $from.
with_libraries() {
    local root=$1 from=${from:-/} library
    shift
    chroot "$from" ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*[^:]$/ { print $1 }' | sort --unique |
        while read -r library; do
            mkdir -p "$root$(dirname "$library")"
            cp --dereference "$from$library" "$root$library"
        done
}
