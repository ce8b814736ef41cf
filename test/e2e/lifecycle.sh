#!/usr/bin/env bash
# Workspaces from beginning to end with real kubectl: made, furnished, cleaned, deleted, made
# again; garbage collection in its three ways; the mailbox controller's scenario; a workspace to a
# file and back. Argument: etcd-3.4 or etcd-3.5 instead of the embedded engine.
. "$(dirname "$0")/lib.sh"

say "starting the hub (engine: ${1:-embedded})"
[ -z "${1:-}" ] || start_etcd "${1#etcd-}"
start_hub

say "a workspace answers at once and is furnished"
workspace team cluster
k team get namespaces default kube-system
is Ready k root get workspace team -o 'jsonpath={.status.phase}' || fail "phase"
is "$hub_url/clusters/team" k root get workspace team -o 'jsonpath={.status.url}' || fail "url"
k team create namespace apps
eventually k team -n apps get serviceaccount default
eventually k team -n apps get configmap kube-root-ca.crt
eventually k team get service kubernetes
at_hub() { is "127.0.0.1 $hub_port" k team get "$1" kubernetes -o "jsonpath=$2"; }
eventually at_hub endpoints '{.subsets[*].addresses[*].ip} {.subsets[*].ports[*].port}'
eventually at_hub endpointslice '{.endpoints[*].addresses[*]} {.ports[*].port}'
gone k root delete workspace root || fail "root can be deleted"
k root get namespace kube-system >/dev/null || fail "root survives"
! workspace 'Bad_Name' cluster 2>"$dir/bad" || fail "a bad name was taken"

owned() { # NAME OWNER-NAME OWNER-UID
  k team -n apps apply -f - <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: $1
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: $2, uid: $3, blockOwnerDeletion: true}]
YAML
}
owner() { # NAME: makes it and prints its UID
  k team -n apps create configmap "$1" >/dev/null
  k team -n apps get configmap "$1" -o 'jsonpath={.metadata.uid}'
}

say "garbage collection: background, foreground, orphan"
uid=$(owner back) && owned back-child back "$uid"
k team -n apps delete configmap back --cascade=background
eventually gone k team -n apps get configmap back-child
uid=$(owner front) && owned front-child front "$uid"
k team -n apps delete configmap front --cascade=foreground
gone k team -n apps get configmap front-child || fail "the owner went before its dependent"
uid=$(owner lone) && owned lone-child lone "$uid"
k team -n apps delete configmap lone --cascade=orphan
gone k team -n apps get configmap lone || fail "orphan"
is "" k team -n apps get configmap lone-child -o 'jsonpath={.metadata.ownerReferences}' ||
  fail "the reference stayed"
uid=$(owner old) && owned old-child old "$uid"
k_old team -n apps delete configmap old
eventually gone k team -n apps get configmap old-child

say "a namespace says what holds it, then goes"
k team -n apps create configmap held
k team -n apps patch configmap held --type merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
k team delete namespace apps --wait=false
eventually says 'example.com/hold in 1' k team get namespace apps \
  -o 'jsonpath={.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].message}'
k team -n apps patch configmap held --type merge -p '{"metadata":{"finalizers":null}}'
eventually gone k team get namespace apps

say "a workspace made again shares nothing with the one before"
k team create namespace mine
k team apply -f "$root/deploy/demo/widgets-crd.yaml"
before=$(k team get namespace kube-system -o 'jsonpath={.metadata.uid}')
k team -n default create serviceaccount robot
k team create clusterrolebinding robot --clusterrole=view --serviceaccount=default:robot
token=$(k team -n default create token robot)
as_robot() {
  "$kubectl_new" --cache-dir "$dir/cache" --kubeconfig /dev/null --server "$hub_url/clusters/team" \
    --certificate-authority "$dir/hub/pki/ca.crt" --token "$token" "$@"
}
as_robot get configmaps >/dev/null || fail "the token is of no use at all"
pki=$dir/hub/pki
curl -fsN --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" \
  "$hub_url/clusters/team/api/v1/configmaps?watch=1" >"$dir/watched" &
watcher=$!
pids+=("$watcher")
eventually grep -q kube-root-ca.crt "$dir/watched"
# What is counted, each series by its name and labels.
series() { k root get --raw /metrics | sed -nE 's/^([^#].*) [^ ]+$/\1/p' | sort; }
counted=$(series)
k root delete workspace team
! k team get namespace mine 2>/dev/null || fail "a deleted workspace answers"
ended() { ! kill -0 "$watcher" 2>/dev/null; }
eventually ended
is "$counted" series || fail "a series comes or goes with a workspace"
! grep -qw team <<<"$counted" || fail "a series names a workspace"
workspace team cluster
gone k team get namespace mine || fail "content survived"
gone k team get widgets || fail "a definition survived"
k team -n default create serviceaccount robot
k team create clusterrolebinding robot --clusterrole=view --serviceaccount=default:robot
! as_robot get configmaps 2>"$dir/refused" || fail "a token survived"
grep -qiE 'unauthorized|logged in|credentials' "$dir/refused" || fail "$(cat "$dir/refused")"
! is "$before" k team get namespace kube-system -o 'jsonpath={.metadata.uid}' 2>/dev/null ||
  fail "the identity survived"

say "a workspace holds what it may and lets in whom it names"
k root apply -f - <<'YAML'
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: small}
spec:
  type: wds
  limits: {objects: 4}
  access: [{subjects: [{kind: User, name: alice}], role: edit}]
YAML
k small create configmap one
k small --as alice create configmap two
! k small create configmap three 2>"$dir/full" || fail "more objects than the workspace may hold"
grep -q 'forbidden: the workspace is limited to 4 objects' "$dir/full" || fail "$(cat "$dir/full")"
k small delete configmap one
k small create configmap three
! k small --as bob get configmaps 2>"$dir/denied" || fail "bob is let in"
grep -q 'User "bob" cannot list resource "configmaps"' "$dir/denied" || fail "$(cat "$dir/denied")"
! k team --as alice get configmaps 2>/dev/null || fail "alice is let in elsewhere"
k root patch workspace small --type merge -p '{"spec":{"limits":{"objects":5},"access":null}}'
k small create configmap four
! k small --as alice get configmaps 2>/dev/null || fail "alice is still let in"
k root delete workspace small

say "kubectl proxy serves a workspace"
"$kubectl_new" --cache-dir "$dir/cache" --kubeconfig "$dir/hub.admin" --server "$hub_url/clusters/team" \
  proxy --append-server-path --port 0 >"$dir/proxy.log" 2>&1 &
pids+=("$!")
eventually grep -q 'Starting to serve on' "$dir/proxy.log"
proxy=http://$(sed -n 's/^Starting to serve on //p' "$dir/proxy.log")
says '"kind": *"NamespaceList"' curl -fs "$proxy/api/v1/namespaces" || fail "a list by proxy"
curl -fsN "$proxy/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=60" >"$dir/proxied" &
pids+=("$!")
k team create configmap proxied
eventually grep -q '"name":"proxied"' "$dir/proxied"
k team delete configmap proxied

say "the mailbox controller: made with its SyncTarget, made again when deleted, gone with it"
sync_target() { # NAME ANNOTATIONS
  k its1 apply -f - <<YAML
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: $1, labels: {env: prod, widgets-enabled: "true"}, annotations: {${2:-}}}
YAML
}
for file in widgets-crd widgets placement; do k wds1 apply -f "$root/deploy/demo/$file.yaml"; done
sync_target florin
eventually has_mailbox florin
mailbox=$(mailbox_of florin)
eventually k "$mailbox" -n widgets get deployment web
[ "$mailbox" = "its1-mb-$(k its1 get synctarget florin -o 'jsonpath={.metadata.uid}')" ] ||
  fail "the mailbox's name"
is florin k root get workspace "$mailbox" \
  -o 'jsonpath={.metadata.annotations.edge\.kubestellar\.io/sync-target-name}' || fail "annotation"
eventually k "$mailbox" get syncerconfigs
eventually k "$mailbox" get edgesyncconfigs
uid=$(k root get workspace "$mailbox" -o 'jsonpath={.metadata.uid}')
k root delete workspace "$mailbox"
again() { local now; now=$(k root get workspace "$mailbox" -o 'jsonpath={.metadata.uid}') && [ "$now" != "$uid" ]; }
eventually again
eventually k "$mailbox" -n widgets get deployment web
eventually k "$mailbox" get widgets -A
k its1 delete synctarget florin
eventually gone k root get mailbox "$mailbox"
eventually gone k root get workspace "$mailbox"
sync_target florin
eventually has_mailbox florin
[ "$(mailbox_of florin)" != "$mailbox" ] || fail "a new SyncTarget got the old mailbox"
says 'CONNECTED.*SYNCED.*HEARTBEAT.*URL' k root get mailboxes -o wide || fail "fleet overview"

say "several inventories, each with its own entries of the same name"
workspace its2 inventory
k its2 apply -f - <<'YAML'
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: florin}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: guilder}
spec: {hubAcceptsClient: true}
YAML
two() { [ "$(k root get mailboxes -o 'jsonpath={range .items[?(@.spec.syncTargetName=="florin")]}{.spec.inventory}{"\n"}{end}' | sort | tr '\n' ' ')" = "its1 its2 " ]; }
eventually two
eventually has_mailbox guilder
k root delete workspace its2
left() { [ "$(k root get mailboxes -o 'jsonpath={range .items[*]}{.spec.inventory}{"\n"}{end}' | sort -u)" = its1 ]; }
eventually left

say "one workspace to a file and back"
k team create namespace kept
k team -n kept create configmap precious --from-literal=a=b
k team apply -f "$root/deploy/demo/widgets-crd.yaml"
eventually k team -n kept get configmap kube-root-ca.crt  # the last of what it is furnished with
# Everything that is stored there, but for the revisions, which are new.
contents() {
  local kind
  for kind in namespaces configmaps secrets serviceaccounts clusterroles clusterrolebindings roles customresourcedefinitions; do
    k team get "$kind" -A -o json | grep -v '"resourceVersion"'
  done | sha256sum
}
sum=$(contents)
store=(--data-dir "$dir/hub")
[ -z "${1:-}" ] || store=("${hub_flags[@]}")
archive() { "$MAILROOM_BUILD/mailroom" workspace "$1" team "${store[@]}" --file "$dir/team.export"; }
stop_hub() { kill "$hub_pid" && wait "$hub_pid" || true; }
stop_hub
archive export
! archive import 2>"$dir/refused" || fail "an import overwrote a workspace"
start_hub hub
is "$sum" contents || fail "the refused import changed something"
k root delete workspace team
stop_hub
archive import  # which takes place only where no key is left
start_hub hub
eventually is "$sum" contents
k team -n kept get configmap precious >/dev/null || fail "the import does not answer"
say "workspaces live and die well"
