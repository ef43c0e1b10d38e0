# shellcheck shell=bash
# shellcheck disable=SC2154  # the script that sources this sets stack, here and the paths of the tools
# What up, down and the files in parts/ share. To be sourced after scripts/lib.sh. $stack is the stack's folder:
#
#   stack.json       what is running and where, written last: it is there when the stack is ready
#   processes        a line for each started process: name, id, time of start
#   commands/NAME    how the process of that name was started
#   logs/NAME.log    what it said
#   clusters/NAME/   certificates, credentials and the kubeconfig of a cluster
#   parts/NAME/      files of a further part
stack_contents=(stack.json stack.json.new stack.json.newer processes commands logs clusters parts ports etcd kubectl-cache)

# start_process NAME COMMAND...: starts COMMAND so that it outlives this shell and takes nothing from it: no
# terminal, no open file, no variable that would change what a test sees.
start_process() {
    local name=$1 pid
    shift
    mkdir -p "$stack/logs" "$stack/commands"
    printf '%s\0' "$@" >"$stack/commands/$name"
    # Without job control setsid replaces the new process, so its id is the one to remember.
    setsid env -i PATH="$PATH" HOME="$stack" "$@" </dev/null >"$stack/logs/$name.log" 2>&1 &
    pid=$!
    printf '%s %s %s\n' "$name" "$pid" "$(start_time "$pid" || echo ended)" >>"$stack/processes"
}

# Fails when the process is not there, or only its exit status is. While it has threads that have not ended, it still holds its ports.
start_time() {
    local stat fields
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    # The second field is the program's name, with anything in it, in parentheses.
    read -ra fields <<<"${stat##*) }"
    [[ ${fields[0]} != Z || ${fields[17]} -gt 1 ]] || return 1
    printf '%s\n' "${fields[19]}"
}

# An id alone may belong to another process by now; with the time of its start it can't.
is_same_process() {
    local started
    started=$(start_time "$1") && [[ $started == "$2" ]]
}

# The id and the time of start of the process that was last started under this name.
last_started() {
    awk -v name="$1" '$1 == name { last = $2 " " $3 } END { print last }' "$stack/processes"
}

# Whether it is there.
is_running() {
    local pid started
    read -r pid started < <(last_started "$1")
    is_same_process "$pid" "$started"
}

# Its id; fails when it is not there.
process_of() {
    local pid started
    read -r pid started < <(last_started "$1")
    is_same_process "$pid" "$started" && printf '%s\n' "$pid"
}

running_processes() {
    local name pid started
    [[ -f $stack/processes ]] || return 0
    while read -r name pid started; do
        if is_same_process "$pid" "$started"; then
            printf '%s\n' "$pid"
        fi
    done <"$stack/processes"
}

# Nothing in a stack is worth an orderly end of more than three seconds.
stop_processes() {
    local pids deadline=$((SECONDS + 3))
    mapfile -t pids < <(running_processes)
    [[ ${#pids[@]} -eq 0 ]] || kill -TERM "${pids[@]}" 2>/dev/null || true
    while [[ ${#pids[@]} -gt 0 ]]; do
        if [[ $SECONDS -gt $deadline ]]; then
            kill -KILL "${pids[@]}" 2>/dev/null || true
        fi
        sleep 0.1
        mapfile -t pids < <(running_processes)
    done
}

remove_stack() {
    stop_processes
    rm -rf "${stack_contents[@]/#/$stack/}"
    rmdir "$stack" 2>/dev/null || true
}

# fail_of NAME WHAT: ends the script, with the last words of the process NAME.
fail_of() {
    log "$2; the last lines of $1's log:"
    tail -n 20 "$stack/logs/$1.log" >&2
    exit 1
}

# wait_for PROCESS COMMAND...: until COMMAND succeeds. Fails when PROCESS ends before; a minute is too long.
wait_for() {
    local name=$1 deadline=$((SECONDS + 60))
    shift
    until "$@"; do
        is_running "$name" || return 1
        [[ $SECONDS -lt $deadline ]] || fail_of "$name" "$name is not ready after a minute"
        sleep 0.1
    done
}

# ready_on_a_port NAME START READY ARGUMENT...: waits until READY ARGUMENT... succeeds. The process NAME listens on an
# unused port of its own choice; when somebody else was quicker, START ARGUMENT... starts it anew.
ready_on_a_port() {
    local name=$1 start=$2 ready=$3
    shift 3
    until wait_for "$name" "$ready" "$@"; do
        grep -q 'address already in use' "$stack/logs/$name.log" || fail_of "$name" "$name has ended"
        "$start" "$@"
    done
}

# at_once FUNCTION ARGUMENT...: calls FUNCTION for each ARGUMENT, all at the same time.
at_once() {
    local function=$1 argument calls=() call
    shift
    for argument in "$@"; do
        "$function" "$argument" &
        calls+=($!)
    done
    for call in "${calls[@]}"; do
        wait "$call"
    done
}

kubectl_on() {
    "$kubectl" --kubeconfig="$stack/clusters/$1/kubeconfig" --cache-dir="$stack/kubectl-cache" "${@:2}"
}

# describe JQ-ARGUMENT...: changes the stack's description, for instance
#   describe --arg server "$address" '.registry = {server: $server}'
describe() {
    jq "$@" <"$stack/stack.json.new" >"$stack/stack.json.newer"
    mv "$stack/stack.json.newer" "$stack/stack.json.new"
}

# A port below those that the kernel gives to clients, for a program that must be told one. None is given twice in a
# stack; somebody else may still take it before the program does.
unused_port() {
    local port
    mkdir -p "$stack/ports"
    while true; do
        port=$((20000 + RANDOM % 10000))
        if ! grep -q "$(printf ':%04X ' "$port")" /proc/net/tcp && mkdir "$stack/ports/$port" 2>/dev/null; then
            printf '%s\n' "$port"
            return
        fi
    done
}
