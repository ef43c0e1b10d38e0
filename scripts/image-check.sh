# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/image sets project
# What scripts/image checks of an image. To be sourced after scripts/lib.sh and scripts/oci.sh.

# Bytes; what a registry sends, and what a node keeps.
compressed_limit=15000000
unpacked_limit=40000000

passed=0
failed=0

# image_files LAYOUT: mode, owner and path of everything in the image, as scripts/image.files has it.
image_files() {
    local digest
    digest=$(oci_manifests "$1" | jq --raw-output 'select(.platform.architecture != "unknown") | .digest' | head -n 1)
    files_of "$1" "$digest"
}

image_check() {
    local layout=$1 manifest
    [[ -f $layout/index.json ]] || die "there is no image in $layout: run scripts/image"
    check_work=$(mktemp --directory)
    chmod 755 "$check_work"
    trap 'as_root rm -rf "$check_work"' EXIT
    # A manifest without an architecture is what a builder says about how it built.
    while read -r manifest; do
        check_platform "$layout" "$(jq --raw-output .platform.architecture <<<"$manifest")" "$(jq --raw-output .digest <<<"$manifest")"
    done < <(oci_manifests "$layout" | jq --compact-output 'select(.platform.architecture != "unknown")')
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [[ $failed -eq 0 && $passed -gt 0 ]]
}

# check_platform LAYOUT ARCHITECTURE DIGEST
check_platform() {
    local layout=$1 architecture=$2 digest=$3 root=$check_work/$2 contents=$check_work/$2.contents
    unpack "$layout" "$digest" "$root"
    contents_of "$layout" "$digest" >"$contents"
    printf '\n%s %s\n' "linux/$architecture" "$digest"
    print_layers
    print_contents
    check "$architecture: every file, its owner and its mode are as scripts/image.files says" same_files
    check "$architecture: at most $((compressed_limit / 1000000)) MB compressed" at_most "$compressed_limit" "$(compressed_size)"
    check "$architecture: at most $((unpacked_limit / 1000000)) MB unpacked" at_most "$unpacked_limit" "$(unpacked_size)"
    check "$architecture: nothing is setuid, setgid, or written to by others" no_special_modes
    check "$architecture: there is no shell and no package manager" no_tools
    check "$architecture: not root, serve by default, labels" settings_are_right
    check "$architecture: every library that is loaded is in the image" libraries_are_there
    if [[ $architecture == "$(dpkg --print-architecture)" ]]; then
        check "$architecture: it tells its version" tells_version "$(run_inside '' "$root" version)"
        check "$architecture: it serves read-only, as nobody and without capabilities" serves
        check "$architecture: the demo works in it" demo_works
    else
        "$project/scripts/setup" emulator
        check "$architecture: it tells its version, in an emulator" tells_version "$(emulate version)"
        check "$architecture: it serves, in an emulator" serves_emulated
    fi
}

# check NAME COMMAND...: passes when COMMAND succeeds and says nothing.
check() {
    local name=$1 said status=0
    shift
    said=$("$@" 2>&1) || status=$?
    if [[ $status -eq 0 && -z $said ]]; then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n' "$name"
        printf '%s\n' "${said:-status $status}" | sed 's/^/          /'
    fi
}

# --- what there is ----------------------------------------------------------------------------------------------------

layers_of() { oci_json_of "$1" "$2" | jq --raw-output '.layers[].digest'; }
blob_of() { printf '%s/blobs/sha256/%s\n' "$1" "${2#sha256:}"; }

unpack() {
    local layer
    as_root mkdir "$3"
    for layer in $(layers_of "$1" "$2"); do
        as_root tar --extract --directory="$3" --same-permissions --numeric-owner --file="$(blob_of "$1" "$layer")"
    done
}

# contents_of LAYOUT DIGEST: a line for each path of each layer: mode, owner, size, path, and a link's target.
contents_of() {
    local layer
    for layer in $(layers_of "$1" "$2"); do
        tar --list --verbose --numeric-owner --file="$(blob_of "$1" "$layer")" |
            sed --regexp-extended 's,^([^ ]+) +([^ ]+) +([0-9]+) [^ ]+ [^ ]+ (\./)?(.*),\1 \2 \3 \5,; s,/$,,; / (\.)?$/d'
    done | LC_ALL=C sort --key=4 --unique
}

# Without what differs from one architecture to the next.
files_of() {
    contents_of "$1" "$2" | cut -d ' ' -f 1,2,4- |
        sed --regexp-extended 's,(x86_64|aarch64)-linux-gnu,TRIPLET,; / lib64$/d; s, (lib64/ld-linux-x86-64.so.2|lib/ld-linux-aarch64.so.1)$, LOADER,' |
        LC_ALL=C sort --key=3
}

compressed_size() { oci_json_of "$layout" "$digest" | jq '[.config.size, .layers[].size] | add'; }
unpacked_size() { awk '{ sum += $3 } END { print sum }' "$contents"; }

print_layers() {
    local layer blob
    for layer in $(layers_of "$layout" "$digest"); do
        blob=$(blob_of "$layout" "$layer")
        printf '  layer %s  %8d bytes, %9d unpacked\n' "${layer:0:19}" "$(stat --format=%s "$blob")" "$(gzip --decompress --stdout "$blob" | wc --bytes)"
    done
    printf '  %d bytes compressed, %d unpacked, %d files of %d packages and the program\n' "$(compressed_size)" "$(unpacked_size)" \
        "$(grep --count '^-' "$contents")" "$(grep --count ' usr/share/doc/.*/copyright$' "$contents")"
}

print_contents() { awk '$1 !~ /^d/ { printf "  %s %s %9d %s\n", $1, $2, $3, substr($0, index($0, $4)) }' "$contents"; }

# --- how it should be -------------------------------------------------------------------------------------------------

same_files() { diff "$project/scripts/image.files" <(files_of "$layout" "$digest"); }

at_most() { [[ $2 -le $1 ]] || printf '%d bytes, and the limit is %d\n' "$2" "$1"; }

# /tmp is everybody's, with the bit that keeps their files apart.
no_special_modes() { awk '$1 ~ /s/ || $1 ~ /^[^l].......w/ && $0 !~ /^drwxrwxrwt .* tmp$/' "$contents"; }

no_tools() { grep --extended-regexp '^[^d].*/(sh|bash|dash|ash|busybox|perl[0-9.]*|python[0-9.]*|apt|apt-get|dpkg|rpm|apk|curl|wget)$' "$contents" || true; }

settings_are_right() {
    oci_json_of "$layout" "$(oci_json_of "$layout" "$digest" | jq --raw-output .config.digest)" | jq --raw-output --arg architecture "$architecture" '
        if .architecture != $architecture then "it is for \(.architecture)" else empty end,
        (.config
            | if .User != "65532:65532" then "it runs as \(.User)" else empty end,
              if .Entrypoint != ["/usr/bin/kro-function"] or .Cmd != ["serve"] then "it starts \(.Entrypoint) \(.Cmd)" else empty end,
              (("title", "description", "licenses", "vendor", "source", "version", "revision", "created") as $name
                | select((.Labels["org.opencontainers.image.\($name)"] // "") == "") | "the label \($name) is empty"))'
}

# Of the program, and of what it loads by name: whatever is needed is there, and nobody needs anything else.
libraries_are_there() {
    local file
    while read -r file; do
        readelf --dynamic "$root/$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
    done < <(awk '$1 ~ /^-/ && ($4 ~ /\.so\./ || $4 ~ /^usr\/bin\//) { print $4 }' "$contents") | sort --unique |
        while read -r file; do
            grep --quiet "/$file$" "$contents" || printf '%s is missing\n' "$file"
        done
}

# --- how it runs ------------------------------------------------------------------------------------------------------

# run_inside PID_FILE ROOT ARGUMENT...: becomes the program in a root that can't be written to, as nobody, without capabilities and without a way to
# get some. What chroot takes is inherited by it alone: a program of somebody else than root gets none of it. Its pid is written to PID_FILE, if not ''.
# shellcheck disable=SC2016
run_inside() {
    local sudo=()
    [[ $EUID -eq 0 ]] || sudo=(sudo)
    exec ${sudo[@]+"${sudo[@]}"} unshare --mount -- bash -euc '
        pid_file=$1 root=$2
        shift 2
        mount --bind "$root" "$root"
        mount -o remount,bind,ro,nosuid,nodev "$root"
        [[ -z $pid_file ]] || printf "%s\n" "$$" >"$pid_file"
        cd "$root"
        exec env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv --inh-caps=-all,+sys_chroot,+setuid,+setgid \
            setpriv --no-new-privs --ambient-caps=-all --bounding-set=-all chroot --userspec=65532:65532 --groups=65532 "$root" \
            /usr/bin/kro-function "$@"' bash "$@"
}

tells_version() { [[ $1 == "kro-function $(sed -n 's/^project(kro-function VERSION \([0-9.]*\) .*/\1/p' "$project/CMakeLists.txt")" ]] || printf 'it says "%s"\n' "$1"; }

serves() {
    local log=$check_work/serve.log pid
    : >"$log"
    run_inside "$check_work/pid" "$root" serve --embedded --port 0 >"$log" 2>&1 &
    is_ready "$log" "$!" || return
    pid=$(<"$check_work/pid")
    as_root cat "/proc/$pid/status" | awk '
        $1 ~ /^Cap(Prm|Eff|Bnd|Amb):$/ && $2 !~ /^0+$/ { print "it has capabilities: " $0 }
        $1 == "NoNewPrivs:" && $2 != 1 { print "it may get privileges" }
        $1 ~ /^[UG]id:$/ && ($2 != 65532 || $3 != 65532) { print "it is someone else: " $0 }'
    as_root cat "/proc/$pid/mountinfo" | awk '
        $5 == "/" && $6 ~ /^ro(,|$)/ { read_only = 1 }
        END { if (!read_only) print "it can write to its root" }'
    as_root kill -TERM "$pid"
    wait "$!" || printf 'it ended with status %d\n' "$?"
}

# is_ready LOG PID: whether the program whose log that is answers, within a minute.
is_ready() {
    local port status try
    for ((try = 0; try < 600; try++)); do
        port=$(sed -n 's/.*"msg":"serving".*"port":\([0-9]*\).*/\1/p' "$1")
        if [[ -n $port ]] || ! kill -0 "$2" 2>/dev/null; then break; fi
        sleep 0.1
    done
    if [[ -z $port ]]; then
        printf 'it does not serve: %s\n' "$(tail -n 3 "$1")"
        return 1
    fi
    status=$(curl --silent --noproxy '*' --max-time 20 --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port/readyz" || true)
    [[ $status == 200 ]] || printf '/readyz answers %s\n' "$status"
}

# scripts/demo starts and ends the program itself, by one path.
demo_works() {
    printf '#!/usr/bin/env bash\nexec %q run %q "$@"\n' "$project/scripts/image" "$root" >"$check_work/program"
    chmod +x "$check_work/program"
    KRO_FUNCTION=$check_work/program "$project/scripts/demo" >"$check_work/demo.log" 2>&1 || tail -n 5 "$check_work/demo.log"
}

emulate() {
    local emulator=qemu-aarch64-static
    [[ $architecture == arm64 ]] || emulator=qemu-x86_64-static
    command -v "$emulator" >/dev/null || emulator=${emulator%-static}
    exec "$emulator" -L "$root" "$root/usr/bin/kro-function" "$@"
}

serves_emulated() {
    local log=$check_work/emulated.log
    : >"$log"
    emulate serve --embedded --port 0 >"$log" 2>&1 &
    is_ready "$log" "$!" || return
    kill -TERM "$!"
    wait "$!" || printf 'it ended with status %d\n' "$?"
}
