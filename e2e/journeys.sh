# shellcheck shell=bash
# shellcheck disable=SC2154  # e2e/run sets work, project and the names of images
# What users of an installation do and see. A journey is a function whose name is a sentence; it fails with the first command that fails.

journeys=(
    the_readme_installs_it_line_by_line
    the_running_pod_can_do_nothing_but_its_work
    zero_is_reached_between_two_ticks_and_a_tick_wakes_it
    a_kro_created_at_zero_becomes_ready_on_another_cluster_through_a_broker
    a_newer_version_is_installed_and_runs
    a_resource_graph_definition_holds_a_deletion_and_then_nothing_is_left
    a_rolling_update_under_a_stream_of_changes_loses_none
    two_pods_work_under_load_and_change_nothing
    a_drained_node_under_a_stream_of_changes_loses_none
    what_an_event_at_zero_costs
)

run_journeys() {
    local journey
    passed=0 failed=0
    mkdir -p "$work/logs/journeys"
    follow_function_logs &
    open_way_in
    for journey in "${journeys[@]}"; do
        wanted "$journey" "$@" || continue
        run_journey "$journey"
    done
    print_measured
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [[ $failed -eq 0 && $passed -gt 0 ]]
}

# Those that a word is in; the first one always, since the others use what it has installed.
wanted() {
    local journey=$1 word
    shift
    [[ $# -gt 0 && $journey != "${journeys[0]}" ]] || return 0
    for word in "$@"; do [[ $journey != *"$word"* ]] || return 0; done
    return 1
}

# In a process of its own, where `set -e` is in force: it would not be, were this function called in a condition.
run_journey() {
    local journey=$1 start=$SECONDS story=$work/logs/journeys/$1.log
    (
        set -euo pipefail
        "$journey"
    ) >"$story" 2>&1 &
    if wait "$!"; then
        printf 'ok      %s (%d s)\n' "${journey//_/ }" "$((SECONDS - start))"
        passed=$((passed + 1))
    else
        printf 'FAILED  %s (%d s)\n' "${journey//_/ }" "$((SECONDS - start))"
        failed=$((failed + 1))
        tail -n 25 "$story"
        diagnose "$journey"
    fi
}

print_measured() {
    [[ -s $work/measured ]] || return 0
    printf '\n'
    awk -F '\t' '{ printf "%-90s %s\n", $1, $2 }' "$work/measured"
    printf '\n'
}

# --- installing and zero ---

the_readme_installs_it_line_by_line() {
    local start
    follow 1 "$project"
    mkdir -p "$home"
    ln -s "$project" "$home/kro-function"
    readme_block 2 >"$home/kustomization.yaml"
    follow 3 "$home"
    put_login
    eventually 180 "everything the README looks at is True" delivery_is_ready
    kubectl create namespace project-a--ws-dev
    start=$(now)
    follow 4 "$home"
    eventually 240 "the Kro is Ready" is_ready project-a--ws-dev
    measured "direct: a new tenant ordered -> Ready, on a second cluster, kro itself started" "$(since "$start") s"
    # Word by word, but for the age.
    diff <(readme_block 5 | sed 's/ *[^ ]*$//') <(kubectl get kro --namespace=project-a--ws-dev | sed 's/ *[^ ]*$//')
    runs 0.9.1
}

the_running_pod_can_do_nothing_but_its_work() {
    local pod node
    send look dev.knative.sources.ping
    pod=$(function_pods | head -n 1)
    kubectl get pod "$pod" --namespace="$namespace" --output=json | jq --exit-status '
        .spec.containers[] | select(.name == "kro-function") | .securityContext
        | .runAsNonRoot and .readOnlyRootFilesystem and .allowPrivilegeEscalation == false and .capabilities.drop == ["ALL"]
            and .seccompProfile.type == "RuntimeDefault"'
    node=$(kubectl get pod "$pod" --namespace="$namespace" --output=jsonpath='{.spec.nodeName}')
    # What the kernel says of the process counts more than what was asked for.
    docker exec "$node" bash -ec '
        process=$(pidof -s kro-function)
        cat /proc/$process/status | grep --extended-regexp "^(Uid|Gid|Cap|NoNewPrivs|Seccomp)"
        is() { [[ $(awk -v name="$1:" "\$1 == name { print \$2 }" /proc/$process/status) == "$2" ]]; }
        is Uid 65532 && is Gid 65532 && is CapEff 0000000000000000 && is CapBnd 0000000000000000 && is NoNewPrivs 1 && is Seccomp 2
        awk "\$5 == \"/\" { print \$6 }" /proc/$process/mountinfo | grep --extended-regexp "^ro(,|$)"'
}

zero_is_reached_between_two_ticks_and_a_tick_wakes_it() {
    local ticks idle
    ticks=$(count_of '.type == "dev.knative.sources.ping"')
    eventually 90 "a tick" more_ticks_than "$ticks"
    idle=$(now)
    ticks=$(count_of '.type == "dev.knative.sources.ping"')
    eventually 58 "zero pods" is_at_zero
    measured "a tick answered -> zero pods (window 15 s, grace 30 s)" "$(since "$idle") s"
    # No other tick has come meanwhile, so this zero is one between two of them.
    not more_ticks_than "$ticks"
    eventually 75 "the next tick" more_ticks_than "$ticks"
}
more_ticks_than() { [[ $(count_of '.type == "dev.knative.sources.ping"') -gt $1 ]]; }

# --- tenants, by events alone ---

a_kro_created_at_zero_becomes_ready_on_another_cluster_through_a_broker() {
    local start tenant
    remove project-a--ws-dev
    make_archive
    switch_to record
    without_ticks
    new_tenant
    eventually 90 "zero pods" is_at_zero
    start=$(now)
    order "$tenant" 0.9.1
    eventually 180 "the Kro is Ready" is_ready "$tenant"
    measured "broker: a new tenant ordered at zero -> Ready, on a second cluster, kro itself started" "$(since "$start") s"
    runs 0.9.1
    [[ -z $(dead_letters) ]]
    printf '%s\n' "$tenant" >"$work/tenant"
}
# Of the function's; the recorder's Trigger gives up soon.
dead_letters() {
    kubectl logs deployment/kro-function-dead-letter --namespace="$namespace" |
        grep knativeerrordest | grep --invert-match kro-function-recorder || true
}

a_newer_version_is_installed_and_runs() {
    local tenant
    tenant=$(<"$work/tenant")
    kubectl patch kro acme --namespace="$tenant" --type=merge --patch='{"spec": {"version": "0.9.2"}}'
    eventually 180 "version 0.9.2 runs" runs 0.9.2
    eventually 60 "the Kro is Ready" is_ready "$tenant"
}

a_resource_graph_definition_holds_a_deletion_and_then_nothing_is_left() {
    local tenant
    tenant=$(<"$work/tenant")
    on mcp-01 apply --filename=- <<'END'
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: webapp}
spec:
  schema: {apiVersion: v1alpha1, kind: WebApp, spec: {name: string}}
  resources:
    - id: settings
      template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${schema.spec.name}"}, data: {a: b}}
END
    kubectl delete kro acme --namespace="$tenant" --wait=false
    eventually 60 "the tenant is told what holds it" is_told "$tenant" 'deletion blocked: waiting for 1 kro ResourceGraphDefinition'
    runs 0.9.2
    on mcp-01 delete resourcegraphdefinition webapp
    with_ticks
    eventually 120 "the Kro is gone" is_gone "$tenant"
    without_ticks
    [[ -z $(on mcp-01 get deployments --namespace=kro-system --output=name) ]]
    [[ -z $(kubectl get ocirepositories,helmreleases,accessrequests --all-namespaces --output=name) ]]
    kubectl delete namespace "$tenant" --wait=false
}
is_told() { kro "$1" | jq --exit-status --arg words "$2" '.status.conditions[] | select(.type == "Ready") | .message | startswith($words)'; }

# --- many changes while something happens ---

changes=30

# stream_through COMMAND...: as many tenants as there are changes get theirs one after the other, while COMMAND runs. No tick, no
# second change: an event that is lost is a tenant that stays behind.
stream_through() {
    local tenants tenant stream start
    # Of a journey that has failed; they would be counted.
    mapfile -t tenants < <(kubectl get kro --all-namespaces --output=jsonpath='{range .items[*]}{.metadata.namespace}{"\n"}{end}')
    remove "${tenants[@]}"
    tenants=()
    hold_flux
    for ((i = 0; i < changes; i++)); do
        new_tenant
        tenants+=("$tenant")
        order "$tenant" 0.9.1
    done
    eventually 120 "all tenants have a HelmRelease" all_have_releases
    eventually 60 "all have version 0.9.1" all_have 0.9.1
    start=$(now)
    change_all 0.9.2 "${tenants[@]}" &
    stream=$!
    sleep 5
    "$@"
    wait "$stream"
    eventually 90 "all have version 0.9.2" all_have 0.9.2
    measured "$changes changes while: $*; first change -> last one done" "$(since "$start") s"
    [[ -z $(dead_letters) ]]
    remove "${tenants[@]}"
    let_flux_go
}

change_all() {
    local version=$1 tenant
    shift
    for tenant in "$@"; do
        kubectl patch kro acme --namespace="$tenant" --type=merge --patch="{\"spec\": {\"version\": \"$version\"}}"
        sleep 0.6
    done
}

all_have() {
    kubectl get ocirepositories --all-namespaces --output=json |
        jq --exit-status --arg version "$1" --argjson count "$changes" '[.items[] | select(.spec.ref.tag == $version)] | length == $count'
}
all_have_releases() { [[ $(kubectl get helmreleases --all-namespaces --output=name | wc -l) -eq $changes ]]; }

a_rolling_update_under_a_stream_of_changes_loses_none() { stream_through upgrade_the_function; }

upgrade_the_function() {
    apply_overlay record 0.1.1
    eventually 90 "the new version serves" serves 0.1.1
}
serves() {
    delivery_is_ready && kubectl get pods "${pods_of_function[@]}" --output=json |
        jq --exit-status --arg image "$function_image:$1" '.items | map(select(.metadata.deletionTimestamp | not)) | length > 0 and
            all(.spec.containers[] | select(.name == "kro-function") | .image == $image)'
}

a_drained_node_under_a_stream_of_changes_loses_none() {
    has_worker
    kubectl cordon "$(cluster_name platform)-control-plane"
    eventually 90 "zero pods" is_at_zero
    send wake dev.knative.sources.ping
    eventually 30 "the function is on the worker" runs_on "$(worker)"
    stream_through drain_the_worker
    kubectl uncordon "$(worker)"
}

drain_the_worker() {
    kubectl uncordon "$(cluster_name platform)-control-plane"
    runs_on "$(worker)"
    kubectl drain "$(worker)" --ignore-daemonsets --delete-emptydir-data --timeout=120s
    eventually 60 "the function is on the other node" runs_on "$(cluster_name platform)-control-plane"
}

runs_on() {
    kubectl get pods "${pods_of_function[@]}" --output=json | jq --exit-status --arg node "$1" '
        .items | map(select(.metadata.deletionTimestamp | not)) | length > 0 and all(.spec.nodeName == $node)'
}

two_pods_work_under_load_and_change_nothing() {
    local tenant before most load
    new_tenant
    order "$tenant" 0.9.1
    eventually 180 "the Kro is Ready" is_ready "$tenant"
    before=$(what_was_made)
    post_many 3000 "$tenant" >"$work/load" &
    load=$!
    most=$(most_pods_while "$load")
    wait "$load"
    measured "events answered under load; pods at most" "$(grep --count '^2' "$work/load"); $most"
    [[ $most -ge 2 ]]
    not grep --invert-match '^2' "$work/load"
    diff <(printf '%s\n' "$before") <(what_was_made)
    remove "$tenant"
}

what_was_made() {
    kubectl get ocirepositories,helmreleases,accessrequests,secrets --all-namespaces --selector=openmcp.cloud/managed-by --output=json |
        jq '.items[] | [.kind, .metadata.namespace, .metadata.name, .metadata.uid, .metadata.generation]' --compact-output
}

# post_many COUNT TENANT: forty events at a time; a status a line.
post_many() {
    local i
    for ((i = 0; i < $1; i++)); do
        [[ $i -eq 0 ]] || printf 'next\n'
        printf 'silent\nnoproxy = "*"\nurl = "http://%s/"\noutput = /dev/null\nwrite-out = "%%{http_code}\\n"\n' "$way_in"
        printf 'data = "{}"\nheader = "Ce-Id: load-%s"\nheader = "Ce-Namespace: %s"\n' "$i" "$2"
        printf 'header = "%s"\n' "Host: kro-function.$namespace.svc.cluster.local" 'Ce-Specversion: 1.0' 'Ce-Source: e2e' \
            'Ce-Type: dev.knative.apiserver.resource.update' 'Ce-Kind: Kro' 'Ce-Apiversion: kro.services.openmcp.cloud/v1alpha1' \
            'Ce-Name: acme' 'Content-Type: application/json'
    done | curl --no-progress-meter --parallel --parallel-max 40 --config -
}

most_pods_while() {
    local most=0 count
    while kill -0 "$1" 2>/dev/null; do
        count=$(kubectl get pods "${pods_of_function[@]}" --output=json |
            jq '[.items[] | select(any(.status.conditions[]?; .type == "Ready" and .status == "True"))] | length')
        [[ $count -le $most ]] || most=$count
        sleep 0.5
    done
    printf '%s\n' "$most"
}

# --- what it costs ---

what_an_event_at_zero_costs() {
    local round answer whole=() starts=() own=()
    for round in 1 2 3; do
        eventually 90 "zero pods" is_at_zero
        watch_a_start >"$work/start" &
        # Until the watch has begun; what it misses would be no start.
        sleep 3
        answer=$(send "at-zero-$round" dev.knative.apiserver.resource.update 'Ce-Kind: Kro' \
            'Ce-Apiversion: kro.services.openmcp.cloud/v1alpha1' 'Ce-Name: nobody' 'Ce-Namespace: nowhere')
        wait "$!"
        [[ $answer == 2* ]]
        whole+=("${answer#* }")
        starts+=("$(<"$work/start")")
        eventually 20 "the pod's log" has_answered "at-zero-$round"
        own+=("$(share_of_the_function "at-zero-$round")")
    done
    measured "event sent at zero -> answered (three times)" "$(seconds "${whole[@]}")"
    measured "    pod scheduled -> ready" "$(seconds "${starts[@]}")"
    measured "    the function's own: the event taken -> answered" "$(printf '%.3f s  ' "${own[@]}")"
}
seconds() { printf '%.2f s  ' "$@"; }
has_answered() { [[ $(count_of ".event == \"$1\"") -gt 0 ]]; }

# From the time when a pod is first seen on a node to the time when it is seen ready, to some hundredths of a second.
watch_a_start() {
    local node ready scheduled=''
    while IFS='|' read -r node ready; do
        [[ -n $node ]] || continue
        [[ -n $scheduled ]] || scheduled=$(now)
        [[ $ready != True ]] || break
    done < <(timeout 60 kubectl get pods "${pods_of_function[@]}" --watch-only \
        --output=jsonpath='{.spec.nodeName}|{.status.conditions[?(@.type=="Ready")].status}{"\n"}')
    since "$scheduled"
}

share_of_the_function() { answers | jq --raw-output "select(.event == \"$1\") | .duration_ms / 1000"; }
