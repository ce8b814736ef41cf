#!/usr/bin/env bash
# Two hubs on one etcd: each shows at once what the other wrote, controllers run in one of them, and
# killing that one moves them, with nothing lost and nothing done twice.
. "$(dirname "$0")/lib.sh"

start_etcd 3.5
say "two hubs of one authority"
start_hub one
one_pid=$hub_pid one_url=$hub_url
mkdir -p "$dir/two"
cp -r "$dir/one/pki" "$dir/two/pki"
start_hub two
two_pid=$hub_pid two_url=$hub_url
# at URL WORKSPACE ARGS...
at() {
  local url=$1 workspace=$2
  shift 2
  "$kubectl_new" --cache-dir "$dir/cache" --kubeconfig "$dir/one.admin" \
    --server "$url/clusters/$workspace" "$@"
}

say "a write through one is read through the other, every time"
for i in $(seq 20); do
  at "$one_url" wds1 create configmap "m$i" --from-literal=k=v >/dev/null
  at "$two_url" wds1 get configmap "m$i" >/dev/null || fail "read of an acknowledged write"
done
rv=$(at "$one_url" wds1 create configmap marker -o 'jsonpath={.metadata.resourceVersion}')
at "$two_url" root get --raw \
  "/clusters/wds1/api/v1/namespaces/default/configmaps/marker?resourceVersion=$rv" >/dev/null ||
  fail "read at a resourceVersion"

holder() {
  at "$two_url" root -n kube-system get lease mailroom-controllers -o 'jsonpath={.spec.holderIdentity}'
}
led() { [ -n "$(holder)" ]; }
eventually led
leader=$(holder)
log_of() { if grep -q "$leader" "$dir/one.log"; then echo one; else echo two; fi; }
first=$(log_of)
say "controllers run in $first"

sync_target() {
  at "$1" its1 apply -f - >/dev/null <<YAML
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: $2}
YAML
}
mailboxes() {
  at "$1" root get mailboxes -o 'jsonpath={range .items[*]}{.spec.syncTargetName}{"\n"}{end}' | sort
}
has() { [ "$(mailboxes "$1" | wc -l)" = "$2" ]; }
for i in 1 2 3; do sync_target "$one_url" "a$i"; done
eventually has "$two_url" 3

say "quotas are kept in step by whichever hub frees something, and written once"
at "$one_url" root apply -f - >/dev/null <<'YAML'
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: team}
spec: {type: cluster}
YAML
at "$one_url" team create namespace q >/dev/null
at "$one_url" team -n q create quota few --hard=count/secrets=5 >/dev/null
used() { at "$1" team -n q get quota few -o 'jsonpath={.status.used.count/secrets}'; }
eventually is 0 used "$two_url"
for i in 1 2 3; do at "$two_url" team -n q create secret generic "s$i" >/dev/null; done
is 3 used "$one_url" || fail "charged through one, seen through the other"
at "$one_url" team -n q delete secret s1 >/dev/null
at "$two_url" team -n q delete secret s2 >/dev/null
eventually is 1 used "$one_url"
eventually is 1 used "$two_url"
revision() { at "$one_url" team -n q get quota few -o 'jsonpath={.metadata.resourceVersion}'; }
settled=$(revision)

say "killing the leader under load moves the controllers"
if [ "$first" = one ]; then
  victim=$one_pid left=$two_url
else
  victim=$two_pid left=$one_url
fi
admin=$dir/one.admin
stop=$dir/stop
loads=()
for url in "$one_url" "$two_url"; do
  python3 "$(dirname "$0")/load.py" "$admin" "$url" wds1 "load-${url##*:}" "$stop" "$dir/acknowledged.${url##*:}" &
  loads+=("$!")
  pids+=("$!")
done
at "$left" root get workspaces -w --output-watch-events \
  >"$dir/workspaces.events" 2>"$dir/workspaces.err" &
pids+=("$!")
eventually grep -q wds1 "$dir/workspaces.events"
for i in $(seq 4 13); do sync_target "$left" "a$i"; done
is "$settled" revision || fail "a quota was written though nothing changed"
kill -9 "$victim"
killed=$(date +%s%N)
for i in 14 15 16; do sync_target "$left" "a$i"; done
at "$left" its1 delete synctarget a1 >/dev/null
moved() { local now; now=$(at "$left" root -n kube-system get lease mailroom-controllers -o 'jsonpath={.spec.holderIdentity}') && [ -n "$now" ] && [ "$now" != "$leader" ]; }
eventually moved
since() { echo $((($1 - killed) / 1000000)); }
acquired() {
  date -d "$(at "$left" root -n kube-system get lease mailroom-controllers -o 'jsonpath={.spec.acquireTime}')" +%s%N
}
# By the lease itself: a loaded machine takes its time to ask for it.
took=$(since "$(acquired)")
say "another leads after $took ms"
[ "$took" -lt 15000 ] || fail "the controllers took $took ms to move"
want=$(for i in $(seq 2 16); do echo "a$i"; done | sort)
done_right() { [ "$(mailboxes "$left")" = "$want" ]; }
eventually done_right
say "all work is done after $(since "$(date +%s%N)") ms"
touch "$stop"
wait "${loads[@]}" || fail "load"
# A workspace goes after its mailbox.
eventually is 15 eval 'at "$left" root get workspaces -o name | grep -c -- -mb-'

say "nothing was done twice"
twice=$(awk '$1 == "ADDED" && /-mb-/ { print $2 }' "$dir/workspaces.events" | sort | uniq -d)
[ -z "$twice" ] || fail "made twice: $twice"
eventually is 1 eval 'grep -c "^DELETED.*-mb-" "$dir/workspaces.events"'

say "nothing that was acknowledged is lost"
cat "$dir"/acknowledged.* | sort >"$dir/acknowledged"
at "$left" wds1 get configmaps -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' | sort >"$dir/present"
lost=$(comm -23 "$dir/acknowledged" "$dir/present")
[ -z "$lost" ] || fail "lost: $lost"
say "$(wc -l <"$dir/acknowledged") writes were acknowledged meanwhile"
[ "$(wc -l <"$dir/acknowledged")" -gt 100 ] || fail "that was no load"
at "$left" wds1 get configmap m1 m20 >/dev/null || fail "lost"
say "two hubs are as good as one"
