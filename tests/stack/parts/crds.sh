# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# The kinds that each cluster of a real installation has before this provider is started.

# Fills the array crds: the kind's plural, and where its CRD is.
find_crds() {
    local project flux_source flux_helm kro
    project=$(cd "$here/../.." && pwd)
    flux_source=$("$here/build-tools" --module-dir source-controller)/config/crd/bases
    flux_helm=$("$here/build-tools" --module-dir helm-controller)/config/crd/bases
    kro=$("$here/build-tools" --module-dir kro)/helm/crds
    crds=(
        [kros]=$project/crds/kros.yaml
        [providerconfigs]=$project/crds/providerconfigs.yaml
        [accessrequests]=$here/crds/accessrequests.yaml
        [clusterrequests]=$here/crds/clusterrequests.yaml
        [serviceproviders]=$here/crds/serviceproviders.yaml
        [ocirepositories]=$flux_source/source.toolkit.fluxcd.io_ocirepositories.yaml
        [helmreleases]=$flux_helm/helm.toolkit.fluxcd.io_helmreleases.yaml
        [resourcegraphdefinition]=$kro/kro.run_resourcegraphdefinitions.yaml
    )
}

# A control plane starts with none: kro's chart brings its own.
crds_of() {
    case $1 in
        onboarding) printf '%s\n' kros ;;
        platform)
            printf '%s\n' providerconfigs accessrequests clusterrequests serviceproviders ocirepositories helmreleases
            ;;
    esac
}

apply_crds() {
    local cluster=$1 plural files=() kinds
    for plural in $(crds_of "$cluster"); do
        files+=(--filename="${crds[$plural]}")
    done
    [[ ${#files[@]} -gt 0 ]] || return 0
    kubectl_on "$cluster" apply --server-side "${files[@]}" >/dev/null
    # A CRD's name is what kubectl calls its kind.
    kinds=$(kubectl_on "$cluster" wait --for=condition=Established --timeout=30s --output=name "${files[@]}" |
        sed 's,.*/,,' | paste --serial --delimiters=,)
    # Established is said a moment before the API server serves the kind.
    wait_for "kube-apiserver-$cluster" are_served "$cluster" "$kinds"
}

are_served() {
    kubectl_on "$1" get "$2" --all-namespaces >/dev/null 2>&1
}
