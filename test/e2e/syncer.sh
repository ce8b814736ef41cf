#!/usr/bin/env bash
# The syncer alone, between two real kube-apiservers: one plays the mailbox, one is the WEC. Whose
# objects it touches, what it reverts, what it leaves alone, and what it never deletes.
. "$(dirname "$0")/lib.sh"

say "two real servers"
start_wec mailbox
mailbox_kubeconfig=$wec_kubeconfig
start_wec wec
m() { "$kubectl_new" --cache-dir "$dir/cache-m" --kubeconfig "$mailbox_kubeconfig" "$@"; }
begin() {
  "$MAILROOM_BUILD/mailroom-syncer" --mailbox-kubeconfig "$mailbox_kubeconfig" \
    --wec-kubeconfig "$wec_kubeconfig" "$@" >>"$dir/syncer.log" 2>&1 &
  syncer_pid=$!
  pids+=("$syncer_pid")
}
end() { kill -9 "$syncer_pid"; wait "$syncer_pid" 2>/dev/null || true; }
# configure SPEC: the mailbox's one SyncerConfig.
configure() {
  m apply -f - <<YAML
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncerConfig
metadata: {name: the-one}
spec: $1
YAML
}
maps='{"clusterScope": [{"resource": "namespaces", "apiVersion": "v1", "objects": ["n"]}],
  "namespaceScope": {"namespaces": ["n", "bare"],
    "resources": [{"resource": "configmaps", "apiVersion": "v1"}]}}'
data() { "$1" -n n get configmap "$2" -o "jsonpath={.data.k}"; }
reported() { says "$1" m get syncerconfig the-one -o 'jsonpath={.status.errors[*].message}'; }
heard() { [ -n "$(m get syncerconfig the-one -o 'jsonpath={.status.lastSyncerHeartbeatTime}')" ]; }

m apply -f "$root/openapi/edge/syncerconfigs.yaml"
eventually m get syncerconfigs
m create namespace n
m label namespace n team=blue
w create namespace bare
w label namespace bare theirs=yes
configure "$maps"
m -n n create configmap plain --from-literal=k=one
m -n n create configmap once --from-literal=k=one
m -n n annotate configmap once edge.kubestellar.io/downsync-overwrite=false
m -n n create configmap taken --from-literal=k=mine
begin

say "objects arrive; a namespace that was there is used and left alone"
eventually is one data w plain
eventually is one data w once
eventually is blue w get namespace n -o 'jsonpath={.metadata.labels.team}'
is yes w get namespace bare -o 'jsonpath={.metadata.labels.theirs}' || fail "label of a namespace"
is "" w get namespace bare -o 'jsonpath={.metadata.labels.mailbox\.kubestellar\.io/synced}' ||
  fail "a namespace was taken over"
eventually heard

say "edits in the WEC are reverted, except where only the creation was asked for"
w -n n patch configmap once --type merge -p '{"data":{"k":"edited"}}'
w -n n patch configmap plain --type merge -p '{"data":{"k":"edited","more":"stays"}}'
eventually is one data w plain
is stays w -n n get configmap plain -o 'jsonpath={.data.more}' || fail "a foreign field was lost"
is edited data w once || fail "a create-only object was overwritten"
m -n n annotate --overwrite configmap once edge.kubestellar.io/downsync-overwrite=true
eventually is one data w once
m -n n annotate --overwrite configmap once edge.kubestellar.io/downsync-overwrite=false
eventually is false w -n n get configmap once \
  -o 'jsonpath={.metadata.annotations.edge\.kubestellar\.io/downsync-overwrite}'
w -n n patch configmap once --type merge -p '{"data":{"k":"again"}}'

say "what was removed at the source is removed"
m -n n patch configmap plain --type merge -p '{"data":{"extra":"x"}}'
eventually is x w -n n get configmap plain -o 'jsonpath={.data.extra}'
m -n n patch configmap plain --type merge -p '{"data":{"extra":null}}'
eventually is "" w -n n get configmap plain -o 'jsonpath={.data.extra}'

say "somebody else's object is reported, and taken over only when asked to"
w -n n create configmap foreign --from-literal=k=theirs
m -n n create configmap foreign --from-literal=k=mine
eventually reported "did not make"
is theirs data w foreign || fail "a foreign object was overwritten"
m -n n annotate configmap foreign mailbox.kubestellar.io/adopt=true
eventually is mine data w foreign

say "the WEC's wording of quantities and defaults does not cause endless writing"
configure '{"namespacedObjects": [
  {"resource": "configmaps", "apiVersion": "v1", "objectsByNamespace":
    [{"namespace": "n", "names": ["plain", "once", "taken", "foreign"]}]},
  {"group": "apps", "resource": "deployments", "apiVersion": "v1", "objectsByNamespace":
    [{"namespace": "n", "names": ["web"]}]}],
  "clusterScope": [{"resource": "namespaces", "apiVersion": "v1", "objects": ["n"]}]}'
m apply -f - <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: "n"}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: i, resources: {requests: {cpu: 1000m, memory: 1024Mi}}}
YAML
eventually w -n n get deployment web
w -n n patch deployment web --subresource=status --type merge -p '{"status":{"replicas":1}}'
eventually is 1 m -n n get deployment web -o 'jsonpath={.status.replicas}'
w -n n patch deployment web --subresource=status --type merge -p '{"status":{"replicas":2}}'
eventually is 2 m -n n get deployment web -o 'jsonpath={.status.replicas}'
writes=$(grep -c 'applied in the WEC.*name="web"' "$dir/syncer.log")
[ "$writes" -le 2 ] || fail "$writes writes of one Deployment"

say "deletions made while the syncer was down are found, with and without a memory"
end
m -n n delete configmap taken
begin --state-dir "$dir/state"
eventually gone w -n n get configmap taken
end
m -n n delete configmap foreign
begin --state-dir "$dir/state"
eventually gone w -n n get configmap foreign
is again data w once || fail "a create-only object changed"

say "a resource that is no longer mentioned at all is cleaned up after a restart"
end
configure "$maps"
begin --state-dir "$dir/state"
eventually gone w -n n get deployment web
is one data w plain || fail "a deletion nobody asked for"

say "without any SyncerConfig nothing is deleted"
m delete syncerconfig the-one
m -n n create configmap marker --from-literal=k=v
end
begin --state-dir "$dir/state"
configure "$maps"
eventually is v data w marker
is one data w plain || fail "a deletion nobody asked for"

say "deleting in the mailbox deletes what was made here, but not create-only objects"
m -n n delete configmap plain once
eventually gone w -n n get configmap plain
is again data w once || fail "a create-only object was deleted"

say "a namespace goes only when nothing of others is in it"
w -n n create configmap others --from-literal=k=v
configure '{}'
eventually reported "would take configmaps"
w get namespace n >/dev/null
w get namespace bare >/dev/null

say "a mailbox that was replaced deletes nothing"
end
w -n n delete configmap others once
"$root/hack/peer" stop "${peers[0]}" --dir "$dir/${peers[0]}" >/dev/null 2>&1
start_wec fresh
mailbox_kubeconfig=$wec_kubeconfig
wec_kubeconfig=$dir/${peers[1]}/kubeconfig
m apply -f "$root/openapi/edge/syncerconfigs.yaml"
eventually m get syncerconfigs
configure '{"namespaceScope": {"namespaces": ["fresh"],
  "resources": [{"resource": "configmaps", "apiVersion": "v1"}]}}'
begin --state-dir "$dir/state"
eventually w get namespace fresh
eventually heard
w get namespace n >/dev/null || fail "another mailbox's object was deleted"
say "the syncer keeps its rules"
