# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# One API server for each cluster, with a certificate authority, keys and an administrator's token of its own, so
# that a client which mixes clusters up is refused.

start_api_server() {
    local cluster=$1
    make_certificates "$stack/clusters/$cluster"
    make_token "$stack/clusters/$cluster"
    run_api_server "$cluster"
    ready_on_a_port "kube-apiserver-$cluster" run_api_server api_server_is_ready "$cluster"
}

make_certificates() {
    local dir=$1
    mkdir -p "$dir"
    openssl genrsa -out "$dir/service-account.key" 2048 2>/dev/null
    new_key_and_certificate "$dir/ca" "/CN=${dir##*/} CA" -addext keyUsage=critical,keyCertSign,cRLSign
    new_key_and_certificate "$dir/server" /CN=kube-apiserver -CA "$dir/ca.crt" -CAkey "$dir/ca.key" \
        -addext basicConstraints=critical,CA:FALSE \
        -addext subjectAltName=IP:127.0.0.1,DNS:localhost -addext extendedKeyUsage=serverAuth
}

new_key_and_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
        -keyout "$1.key" -out "$1.crt" -subj "$2" "${@:3}" 2>/dev/null
}

make_token() {
    openssl rand -hex 16 >"$1/token"
    printf '%s,admin,admin,system:masters\n' "$(<"$1/token")" >"$1/tokens.csv"
}

run_api_server() {
    local cluster=$1 dir=$stack/clusters/$1 port
    port=$(unused_port)
    write_kubeconfig "$cluster" "https://127.0.0.1:$port"
    # Loopback can't be an endpoint of the service "kubernetes", hence no endpoint reconciler.
    start_process "kube-apiserver-$cluster" "$kube_apiserver" \
        --etcd-servers="http://$(etcd_address)" --etcd-prefix="/$cluster" \
        --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port="$port" --endpoint-reconciler-type=none \
        --tls-cert-file="$dir/server.crt" --tls-private-key-file="$dir/server.key" \
        --authorization-mode=RBAC --token-auth-file="$dir/tokens.csv" \
        --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$dir/service-account.key" \
        --service-account-signing-key-file="$dir/service-account.key" \
        --service-cluster-ip-range=10.96.0.0/16 --profiling=false --etcd-compaction-interval="${COMPACTION_INTERVAL:-5m}"
}

api_server_is_ready() {
    local dir=$stack/clusters/$1
    curl --silent --fail --noproxy '*' --max-time 5 --cacert "$dir/ca.crt" --output /dev/null "$(<"$dir/server")/readyz"
}

write_kubeconfig() {
    local cluster=$1 server=$2 dir=$stack/clusters/$1
    printf '%s\n' "$server" >"$dir/server"
    kubeconfig_of "$cluster" admin "$(<"$dir/token")" >"$dir/kubeconfig"
}

# kubeconfig_of CLUSTER USER TOKEN
kubeconfig_of() {
    cat <<EOF
apiVersion: v1
kind: Config
clusters:
  - name: $1
    cluster:
      server: $(<"$stack/clusters/$1/server")
      certificate-authority-data: $(base64 --wrap=0 "$stack/clusters/$1/ca.crt")
users:
  - name: $2
    user:
      token: $3
contexts:
  - name: $1
    context:
      cluster: $1
      user: $2
      namespace: default
current-context: $1
EOF
}
