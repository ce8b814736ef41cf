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

say "killing the leader moves the controllers"
if [ "$first" = one ]; then
  victim=$one_pid left=$two_url
else
  victim=$two_pid left=$one_url
fi
kill -9 "$victim"
killed=$SECONDS
for i in 4 5 6; do sync_target "$left" "a$i"; done
at "$left" its1 delete synctarget a1 >/dev/null
moved() { local now; now=$(at "$left" root -n kube-system get lease mailroom-controllers -o 'jsonpath={.spec.holderIdentity}') && [ -n "$now" ] && [ "$now" != "$leader" ]; }
eventually moved
say "moved after $((SECONDS - killed)) s"
done_right() { [ "$(mailboxes "$left" | tr '\n' ' ')" = "a2 a3 a4 a5 a6 " ]; }
eventually done_right
is 5 eval 'at "$left" root get workspaces -o name | grep -c -- -mb-' || fail "workspaces made twice or left"

say "the survivor's writes are all there"
at "$left" wds1 get configmap m1 m20 >/dev/null || fail "lost"
say "two hubs are as good as one"
