# shellcheck shell=bash
# Writes container images as the OCI image layout 1.1, without a container engine. The same files give the same bytes. To be sourced after
# scripts/lib.sh; every function takes the layout's folder first. A descriptor is JSON: mediaType, digest, size.

# oci_blob LAYOUT FILE MEDIA_TYPE: moves the file there and prints its descriptor.
oci_blob() {
    local layout=$1 file=$2 media_type=$3 digest size
    digest=$(sha256sum <"$file" | cut -d ' ' -f 1)
    size=$(stat --format=%s "$file")
    mkdir -p "$layout/blobs/sha256"
    mv "$file" "$layout/blobs/sha256/$digest"
    chmod 644 "$layout/blobs/sha256/$digest"
    jq --null-input --compact-output --arg mediaType "$media_type" --arg digest "sha256:$digest" --argjson size "$size" \
        '{$mediaType, $digest, $size}'
}

# oci_json LAYOUT MEDIA_TYPE: the same for JSON from standard input.
oci_json() {
    local file=$1/json.$BASHPID
    mkdir -p "$1"
    jq --sort-keys --compact-output --join-output . >"$file"
    oci_blob "$1" "$file" "$2"
}

# oci_layer LAYOUT ROOT EPOCH FILES: a layer of the paths below ROOT that are listed in FILES, a line each. Everything in it belongs to root and has the
# time EPOCH, in seconds. Prints its descriptor, with the digest of what is compressed beside it, as `diff_id`.
oci_layer() {
    local layout=$1 root=$2 epoch=$3 files=$4 file=$1/layer.$BASHPID diff_id
    mkdir -p "$layout"
    LC_ALL=C sort --unique "$files" | tar --create --directory="$root" --file="$file" --format=gnu \
        --no-recursion --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --verbatim-files-from --files-from=-
    diff_id=$(sha256sum <"$file" | cut -d ' ' -f 1)
    gzip --best --no-name "$file"
    oci_blob "$layout" "$file.gz" application/vnd.oci.image.layer.v1.tar+gzip | jq --compact-output --arg diff_id "sha256:$diff_id" '. + {$diff_id}'
}

# oci_image LAYOUT ARCHITECTURE CREATED SETTINGS LAYER...: prints the descriptor of the image's manifest. CREATED is a time as RFC 3339 has it;
# SETTINGS is the `config` of the image specification; a LAYER is what oci_layer printed, with what it holds as `created_by`.
oci_image() {
    local layout=$1 architecture=$2 created=$3 settings=$4 layers config
    layers=$(printf '%s\n' "${@:5}" | jq --slurp --compact-output .)
    config=$(jq --null-input --arg architecture "$architecture" --arg created "$created" --argjson config "$settings" --argjson layers "$layers" '{
        $architecture, os: "linux", $created, $config,
        rootfs: {type: "layers", diff_ids: [$layers[].diff_id]},
        history: [$layers[] | {$created, created_by}]}' | oci_json "$layout" application/vnd.oci.image.config.v1+json)
    jq --null-input --argjson config "$config" --argjson layers "$layers" --argjson settings "$settings" '{
        schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", $config,
        layers: [$layers[] | {mediaType, digest, size}], annotations: $settings.Labels}' |
        oci_json "$layout" application/vnd.oci.image.manifest.v1+json |
        jq --compact-output --arg architecture "$architecture" '. + {platform: {$architecture, os: "linux"}}'
}

# oci_index LAYOUT NAME ANNOTATIONS MANIFEST...: makes it a layout, of one image for several architectures, and prints the image's descriptor. NAME is
# what the image is called in the layout; ANNOTATIONS is JSON.
oci_index() {
    local layout=$1 name=$2 annotations=$3 index
    index=$(printf '%s\n' "${@:4}" | jq --slurp --argjson annotations "$annotations" '{
        schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: ., $annotations}' |
        oci_json "$layout" application/vnd.oci.image.index.v1+json)
    jq --null-input --compact-output --arg name "$name" --argjson index "$index" '{
        schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
        manifests: [$index + {annotations: {"org.opencontainers.image.ref.name": $name}}]}' >"$layout/index.json"
    printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
    printf '%s\n' "$index"
}

# oci_json_of LAYOUT DIGEST: prints the blob.
oci_json_of() { cat "$1/blobs/sha256/${2#sha256:}"; }

# oci_manifests LAYOUT: the descriptors of the images in it, a line each, wherever indexes lead.
oci_manifests() {
    local layout=$1 waiting descriptor
    mapfile -t waiting < <(jq --compact-output '.manifests[]' "$layout/index.json")
    for descriptor in "${waiting[@]}"; do
        if [[ $(jq --raw-output .mediaType <<<"$descriptor") == *index* ]]; then
            oci_json_of "$layout" "$(jq --raw-output .digest <<<"$descriptor")" | jq --compact-output '.manifests[]'
        else
            printf '%s\n' "$descriptor"
        fi
    done
}

# oci_docker_archive LAYOUT ARCHITECTURE EPOCH FILE NAME...: one architecture's image as a file that `docker load` and `ctr images import` take.
oci_docker_archive() {
    local layout=$1 architecture=$2 epoch=$3 file=$4 manifest digest blob work names
    manifest=$(oci_manifests "$layout" | jq --compact-output --arg architecture "$architecture" 'select(.platform.architecture == $architecture)')
    [[ -n $manifest ]] || die "there is no image for $architecture in $layout"
    names=$(printf '%s\n' "${@:5}" | jq --raw-input --slurp --compact-output 'split("\n") | map(select(. != ""))')
    digest=$(jq --raw-output .digest <<<"$manifest")
    work=$(mktemp --directory)
    mkdir -p "$work/blobs/sha256"
    oci_json_of "$layout" "$digest" | jq --raw-output '.config.digest, .layers[].digest' | cat - <(printf '%s\n' "$digest") | sed 's/^sha256://' |
        while read -r blob; do ln -s "$(realpath "$layout/blobs/sha256/$blob")" "$work/blobs/sha256/$blob"; done
    oci_json_of "$layout" "$digest" | jq --compact-output --argjson names "$names" 'def path: "blobs/" + (.digest | sub(":"; "/"));
        [{Config: (.config | path), RepoTags: $names, Layers: [.layers[] | path]}]' >"$work/manifest.json"
    jq --null-input --compact-output --argjson manifest "$manifest" --argjson names "$names" '{
        schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
        manifests: [$names[] | $manifest + {annotations: {"io.containerd.image.name": ., "org.opencontainers.image.ref.name": sub(".*:"; "")}}]}' \
        >"$work/index.json"
    printf '{"imageLayoutVersion":"1.0.0"}' >"$work/oci-layout"
    tar --create --dereference --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rw,go=r,a+X --directory="$work" \
        --file="$file" blobs index.json manifest.json oci-layout
    rm -rf "$work"
}
