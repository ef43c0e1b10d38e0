# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# shellcheck disable=SC2016  # what looks like a variable in single quotes is jq's
# The functions' way to the API server `platform`, for tests that cut it while everybody else keeps theirs. The part node,
# started after this one, gives this way to functions.

prepare_link() {
    need socat "run scripts/setup test"
}

start_link() {
    run_link
}

run_link() {
    local port server
    server=$(<"$stack/clusters/platform/server")
    port=$(unused_port)
    printf 'https://127.0.0.1:%s\n' "$port" >"$stack/clusters/platform/link"
    start_process link socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr,nodelay" "TCP:${server#https://},nodelay"
}

await_link() {
    ready_on_a_port link run_link link_is_ready
    describe --arg server "$(<"$stack/clusters/platform/link")" '.link = {server: $server}'
}

link_is_ready() {
    curl --silent --insecure --output /dev/null "$(<"$stack/clusters/platform/link")/readyz"
}
