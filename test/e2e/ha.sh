#!/usr/bin/env bash
# Two hubs on one etcd: each shows at once what the other wrote, controllers run in one of them, and
# killing that one, or only stopping it for a while, moves them, with nothing lost and nothing done twice.
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
  if ((i % 2)); then from=$one_url to=$two_url; else from=$two_url to=$one_url; fi
  at "$from" wds1 create configmap "m$i" --from-literal=k=v >/dev/null
  at "$to" wds1 get configmap "m$i" >/dev/null || fail "read of an acknowledged write"
  at "$from" wds1 create secret generic "s$i" --from-literal=k=v >/dev/null
  says "^secret/s$i\$" at "$to" wds1 get secrets -o name || fail "list after an acknowledged write"
done
maps=/clusters/wds1/api/v1/namespaces/default/configmaps
rv=$(at "$one_url" wds1 create configmap marker -o 'jsonpath={.metadata.resourceVersion}')
at "$two_url" root get --raw "$maps/marker?resourceVersion=$rv" >/dev/null || fail "read at a resourceVersion"
at "$one_url" wds1 create configmap after >/dev/null
eventually says '"name":"after"' at "$two_url" root get --raw "$maps?watch=1&resourceVersion=$rv&timeoutSeconds=1"

left=$two_url  # a hub that answers
holder() {
  at "$left" root -n kube-system get lease mailroom-controllers -o 'jsonpath={.spec.holderIdentity}'
}
led() { [ -n "$(holder)" ]; }
moved() { local now; now=$(holder) && [ -n "$now" ] && [ "$now" != "$leader" ]; }
eventually led
leader=$(holder)
log_of() { if grep -q "$leader" "$dir/one.log"; then echo one; else echo two; fi; }
first=$(log_of)
say "controllers run in $first"
! grep -q ' "leading" ' "$dir/one.log" || ! grep -q ' "leading" ' "$dir/two.log" || fail "they run in both"

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

# For the controllers to do while nobody leads.
for i in 1 2 3; do
  at "$one_url" team create namespace "n$i" >/dev/null
  at "$one_url" team -n "n$i" create configmap held >/dev/null
done
uid=$(at "$one_url" team create configmap owner -o 'jsonpath={.metadata.uid}')
at "$one_url" team apply -f - >/dev/null <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: child
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $uid}]
YAML

declare -A pid_of=([one]=$one_pid [two]=$two_pid) url_of=([one]=$one_url [two]=$two_url)
declare -A other=([one]=two [two]=one)
victim=${pid_of[$first]} left=${url_of[${other[$first]}]}
say "a leader that sleeps is relieved, and does no harm when it wakes"
kill -STOP "$victim"
eventually moved
sync_target "$left" a0
eventually has "$left" 4
made() { at "$left" root get workspaces,mailboxes -o 'jsonpath={range .items[*]}{.kind} {.metadata.uid}{"\n"}{end}' | sort; }
asleep=$(made)
kill -CONT "$victim"
eventually grep -q '"no longer leading"' "$dir/$first.log"
is "$asleep" made || fail "it made or deleted something"
leader=$(holder)
first=${other[$first]}

say "killing the leader under load moves the controllers"
victim=${pid_of[$first]} left=${url_of[${other[$first]}]}
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
for i in 1 2 3; do at "$left" team delete namespace "n$i" --wait=false >/dev/null; done
at "$left" team delete configmap owner >/dev/null
at "$left" team create namespace later >/dev/null
eventually moved
since() { echo $((($1 - killed) / 1000000)); }
acquired() {
  date -d "$(at "$left" root -n kube-system get lease mailroom-controllers -o 'jsonpath={.spec.acquireTime}')" +%s%N
}
# By the lease itself: a loaded machine takes its time to ask for it.
took=$(since "$(acquired)")
say "another leads after $took ms"
[ "$took" -lt 15000 ] || fail "the controllers took $took ms to move"
want=$(for i in 0 $(seq 2 16); do echo "a$i"; done | sort)
done_right() { [ "$(mailboxes "$left")" = "$want" ]; }
eventually done_right
for i in 1 2 3; do eventually gone at "$left" team get namespace "n$i"; done
eventually gone at "$left" team get configmap child
eventually at "$left" team -n later get serviceaccount default
say "all work is done after $(since "$(date +%s%N)") ms"
touch "$stop"
wait "${loads[@]}" || fail "load"
# A workspace goes after its mailbox.
eventually is 16 eval 'at "$left" root get workspaces -o name | grep -c -- -mb-'

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
