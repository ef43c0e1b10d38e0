# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# One etcd for all clusters of the stack, without syncing to disk: nothing in it is to survive a crash.

start_etcd() {
    local any_port=http://127.0.0.1:0
    start_process etcd "$etcd" --data-dir="$stack/etcd" \
        --listen-client-urls="$any_port" --advertise-client-urls="$any_port" \
        --listen-peer-urls="$any_port" --initial-advertise-peer-urls="$any_port" --initial-cluster="default=$any_port" \
        --enable-grpc-gateway=false --unsafe-no-fsync \
        --snapshot-count=1000 --max-snapshots=1 --max-wals=1
    wait_for etcd etcd_address >/dev/null || fail_of etcd "etcd has ended"
}

# The kernel chose the port, and etcd's log tells it.
etcd_address() {
    sed -n 's/.*"serving client traffic insecurely.*"address":"\([^"]*\)".*/\1/p' "$stack/logs/etcd.log" | grep .
}
