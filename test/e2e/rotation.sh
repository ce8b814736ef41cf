#!/usr/bin/env bash
# A syncer whose certificate is good for seconds: it gets a new one in time, again and again, goes on
# with it without being started anew, and the old ones are worth nothing afterwards. Argument:
# etcd-3.4 or etcd-3.5 instead of the embedded engine.
. "$(dirname "$0")/lib.sh"

hub_flags=(--syncer-certificate-duration 30s)  # ten of them for a loaded machine to renew it
[ -z "${1:-}" ] || start_etcd "${1#etcd-}"
start_hub
k root apply -f - >/dev/null <<'YAML'
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: edge}
spec: {type: cluster}
YAML
k its1 apply -f - >/dev/null <<'YAML'
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: florin, labels: {id: florin}}
---
apiVersion: edge.kubestellar.io/v2alpha1
kind: Location
metadata: {name: florin}
spec:
  resource: {group: edge.kubestellar.io, version: v2alpha1, resource: synctargets}
  instanceSelector: {matchLabels: {id: florin}}
YAML
eventually has_mailbox florin
box=$(mailbox_of florin)
eventually is '1 0' k its1 get location florin -o 'jsonpath={.status.instances} {.status.availableInstances}'

say "a syncer joins"
join=$("$MAILROOM_BUILD/mailroom" join-command --kubeconfig "$dir/hub.admin" --mailbox "$box")
read -r -a words <<<"$join"
(cd "$dir" && "$MAILROOM_BUILD/${words[0]}" "${words[@]:1}") || fail "join"
cp "$dir/mailbox.kubeconfig" "$dir/first.kubeconfig"
sed "s#\(server: \"\?\)$hub_url[^\" ]*#\1$hub_url/clusters/edge#" "$dir/hub.admin" >"$dir/edge.kubeconfig"
"$MAILROOM_BUILD/mailroom-syncer" --mailbox-kubeconfig "$dir/mailbox.kubeconfig" \
  --wec-kubeconfig "$dir/edge.kubeconfig" --state-dir "$dir/state" >>"$dir/syncer.log" 2>&1 &
syncer=$!
pids+=("$syncer")
k "$box" create namespace n >/dev/null
k "$box" apply -f - >/dev/null <<'YAML'
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncerConfig
metadata: {name: mine}
spec:
  namespaceScope: {namespaces: ["n"], resources: [{resource: configmaps, apiVersion: v1}]}
  clusterScope: [{resource: namespaces, apiVersion: v1, objects: ["n"]}]
YAML
k "$box" -n n create configmap before --from-literal=k=v >/dev/null
eventually k edge -n n get configmap before

say "it renews in time, more than once"
certificate() { sed -nE 's/.*client-certificate-data: "?([^" ]*).*/\1/p' "$dir/$1.kubeconfig"; }
first=$(certificate first)
renewed() { [ "$(certificate mailbox)" != "$first" ]; }
eventually renewed
second=$(certificate mailbox)
renewed_again() { ! grep -qF "$second" "$dir/mailbox.kubeconfig"; }
eventually renewed_again
is 600 stat -c %a "$dir/mailbox.kubeconfig" || fail "the credential is for its owner"
kill -0 "$syncer" || fail "the syncer ended"
[ "$(grep -c 'certificate renewed' "$dir/syncer.log")" -ge 2 ] ||
  fail "no renewals in the log"

say "and goes on, while the first certificate is over"
with() { "$kubectl_new" --cache-dir "$dir/cache-$1" --kubeconfig "$dir/$1.kubeconfig" get namespaces -o name; }
over() { ! with first >"$dir/over" 2>&1 && grep -qiE 'unauthorized|logged in|credentials' "$dir/over"; }
eventually over
says namespace/n with mailbox || fail "the present one does not work"
k "$box" -n n create configmap after --from-literal=k=v >/dev/null
eventually k edge -n n get configmap after
k "$box" -n n delete configmap before >/dev/null
eventually gone k edge -n n get configmap before
eventually is '1 1' k its1 get location florin -o 'jsonpath={.status.instances} {.status.availableInstances}'
! grep -q 'not renewed' "$dir/syncer.log" || fail "a renewal failed"
say "ok"
