# shellcheck shell=bash
# shellcheck disable=SC2016  # what looks like a variable in single quotes is apt's, or another shell's
# shellcheck disable=SC2034  # e2e/run reads the versions
# shellcheck disable=SC2154  # scripts/e2e sets project, offline and cache
# kind's node image, made of Debian packages, kind's own files and Kubernetes' programs. Takes 2 minutes, once for each choice of versions.

node_packages=(
    systemd systemd-sysv dbus conntrack iptables nftables iproute2 ethtool util-linux mount kmod libseccomp2 pigz e2fsprogs
    bash ca-certificates curl jq procps hostname containerd runc containernetworking-plugins ipset
)
node_suite=bookworm
node_programs=(kubelet kubeadm kubectl kube-apiserver kube-controller-manager kube-scheduler kube-proxy etcd coredns)
declare -A node_paths

# Sets node_image to its name and node_archive to its file, which is made if need be.
prepare_node_image() {
    local paths i key
    build_tools "${node_programs[@]}"
    mapfile -t paths < <("$tools" --path "${node_programs[@]}")
    for i in "${!node_programs[@]}"; do node_paths[${node_programs[i]}]=${paths[i]}; done
    kind_module=$("$tools" --module-dir kind)
    key=$({ cat "$offline"/{node,image}.sh "$offline/pause.cpp" && printf '%s\n' "${paths[@]}" "$kind_module"; } | sha256sum)
    node_image=kindest/node:$(version_of kubelet)-${key:0:12}
    etcd_version=$(etcd_tag)
    coredns_version=$(coredns_tag)
    node_archive=$cache/node-${key:0:12}.tar
    is_intact "$node_archive" || with_lock e2e-node make_node_image
}

version_of() { basename "$(dirname "${node_paths[$1]}")" | sed 's/-[^-]*$//'; }

make_node_image() {
    is_intact "$node_archive" && return
    local work=$cache/node.new
    log "making kind's node image; the first time this takes minutes"
    rm -rf "$work" "$cache"/node-*.tar*
    mkdir -p "$work"
    make_node_root "$work/root" >"$work/log" 2>&1 || die "making the node's root has failed: $work/log"
    make_control_images "$work" "$work/root" "$work/root/control.tar"
    put_images "$work/root" /control.tar >>"$work/log" 2>&1 || die "containerd does not take the images: $work/log"
    rm "$work/root/control.tar"
    add_image "$work/archive" "$node_image" "$work/root" \
        '{"Entrypoint": ["/usr/local/bin/entrypoint", "/sbin/init"], "Env": ["container=docker"], "StopSignal": "SIGRTMIN+3"}'
    close_archive "$work/archive" "$node_archive"
    rm -rf "$work"
}

make_node_root() {
    local root=$1 mirror files=$kind_module/images/base/files
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep --max-count=1 --extended-regexp '/debian/?$')
    debootstrap --variant=minbase --include="$(IFS=,; printf '%s' "${node_packages[*]}")" "$node_suite" "$root" "$mirror"
    # What kind's own image has: its files, no services but its own, and containerd with its settings.
    rm -f "$root"/lib/systemd/system/{multi-user,local-fs,basic}.target.wants/* "$root"/etc/systemd/system/*.wants/* \
        "$root"/lib/systemd/system/sockets.target.wants/*{udev,initctl}* "$root"/lib/systemd/system/containerd.service \
        "$root"/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service
    cp -r --no-preserve=mode,ownership "$files"/{etc,kind} "$root"
    install --mode=755 "$files"/usr/local/bin/* "$root/usr/local/bin"
    chmod 755 "$root/kind" "$root"/kind/bin/*
    chmod 755 "$root/kind/bin"
    mkdir -p "$root"/etc/kubernetes/manifests "$root"/etc/cni/net.d "$root"/opt/cni/bin
    printf 'ReadKMsg=no\n' >>"$root/etc/systemd/journald.conf"
    cp "$root"/usr/lib/cni/* "$root/opt/cni/bin"
    ln -s /usr/bin/containerd /usr/bin/ctr /usr/bin/containerd-shim-runc-v2 "$root/usr/local/bin"
    ln -s /usr/sbin/runc "$root/usr/local/sbin"
    chroot "$root" systemctl enable kubelet.service containerd.service undo-mount-hacks.service
    chroot "$root" systemctl mask systemd-binfmt.service
    # oom_score_adj can't be lowered in a sandbox.
    sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$root/etc/containerd/config.toml"
    chroot "$root" ctr oci spec |
        jq '.hooks.createContainer += [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' >"$root/etc/containerd/cri-base.json"
    install --mode=755 "${node_paths[kubelet]}" "${node_paths[kubeadm]}" "${node_paths[kubectl]}" "$root/usr/bin"
    printf '%s' "$(version_of kubelet)" >"$root/kind/version"
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
}

# What kubeadm starts on a node, under the names that it looks for.
make_control_images() {
    local work=$1 root=$2 archive=$3 program
    mkdir -p "$work/pause"
    g++ -std=c++20 -Os -static -s -o "$work/pause/pause" "$offline/pause.cpp"
    add_image "$work/images" registry.k8s.io/pause:3.10 "$work/pause" '{"Entrypoint": ["/pause"], "User": "65535:65535"}'
    for program in kube-apiserver kube-controller-manager kube-scheduler; do
        control_image "$work" "$program" "registry.k8s.io/$program:$(version_of "$program")"
    done
    control_image "$work" etcd "registry.k8s.io/etcd:$(etcd_tag)"
    control_image "$work" coredns "registry.k8s.io/coredns/coredns:$(coredns_tag)" '{"Entrypoint": ["/usr/local/bin/coredns"]}'
    add_packet_filters "$root" "$work/kube-proxy"
    control_image "$work" kube-proxy "registry.k8s.io/kube-proxy:$(version_of kube-proxy)"
    close_archive "$work/images" "$archive"
    rm "$archive.sha256"
}

etcd_tag() { printf '%s-0' "$(version_of etcd | tr --delete v)"; }
coredns_tag() { awk '$1 == "require" && $2 == "github.com/coredns/coredns" { print $3 }' "$(dirname "$tools")/tools/coredns/go.mod"; }

# control_image WORK PROGRAM NAME [SETTINGS]
control_image() {
    install -D --mode=755 "${node_paths[$2]}" "$1/$2/usr/local/bin/$2"
    add_image "$1/images" "$3" "$1/$2" "${4:-{\}}"
}

# What kube-proxy calls.
add_packet_filters() {
    local node=$1 root=$2 library=/usr/lib/x86_64-linux-gnu programs=()
    mkdir -p "$root"/{etc/alternatives,usr/sbin,usr/lib,run,usr/lib64} "$root$library"
    ln -s usr/lib usr/sbin usr/lib64 "$root"
    cp --no-dereference "$node"/usr/sbin/*tables* "$node"/usr/sbin/{nft,conntrack,ipset} "$root/usr/sbin"
    cp --no-dereference "$node"/etc/alternatives/*tables* "$root/etc/alternatives"
    cp -r "$node$library/xtables" "$root$library"
    programs=("$node"/usr/sbin/{xtables-nft-multi,xtables-legacy-multi,nft,conntrack,ipset} "$node$library"/xtables/*.so)
    from=$node with_libraries "$root" "${programs[@]#"$node"}"
}

# put_images ROOT ARCHIVE: into the store of the node's own containerd, so that a new node has them at once.
put_images() {
    unshare --mount --pid --fork --kill-child --mount-proc="$1/proc" chroot "$1" bash -ec '
        containerd --log-level=warn &
        until ctr version >/dev/null 2>&1; do sleep 0.2; done
        ctr --namespace=k8s.io images import --all-platforms --no-unpack --digests "$0"
        kill %1
        wait %1 || true
        rm -rf /run/containerd /var/lib/containerd/tmpmounts/*' "$2"
}
