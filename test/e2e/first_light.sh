#!/usr/bin/env bash
# The whole line: objects and a placement in a WDS reach a real kube-apiserver through a mailbox
# and its syncer, changes and deletions follow, status comes home, and killing the hub and the
# syncer at any point loses nothing.
. "$(dirname "$0")/lib.sh"

say "starting the hub (engine: ${1:-embedded}) and a real WEC"
[ -z "${1:-}" ] || start_etcd "${1#etcd-}"
start_hub
start_wec wec

say "an inventory entry gets a mailbox and a syncer"
k its1 apply -f - <<'YAML'
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: florin, labels: {widgets-enabled: "true"}}
YAML
eventually has_mailbox florin
mailbox=$(mailbox_of florin)
start_syncer "$mailbox" "$wec_kubeconfig"

say "the workload and its placement"
k wds1 apply -f "$root/deploy/demo/widgets-crd.yaml"
k wds1 apply -f "$root/deploy/demo/widgets.yaml"
k wds1 apply -f "$root/deploy/demo/placement.yaml"

say "copies arrive in the mailbox, then in the WEC, definitions first"
eventually k "$mailbox" get syncerconfig the-one
eventually k "$mailbox" -n widgets get widget widget-demo
eventually w -n widgets get widget widget-demo
eventually w -n widgets get deployment web
is small w -n widgets get widget widget-demo -o 'jsonpath={.spec.size}' || fail "spec.size"
crd_at=$(w get crd widgets.example.com -o 'jsonpath={.metadata.creationTimestamp}')
widget_at=$(w -n widgets get widget widget-demo -o 'jsonpath={.metadata.creationTimestamp}')
[[ $crd_at < $widget_at || $crd_at == "$widget_at" ]] || fail "the CRD came after its object"

say "a change follows"
k wds1 -n widgets patch widget widget-demo --type merge -p '{"spec":{"size":"large"}}'
eventually is large w -n widgets get widget widget-demo -o 'jsonpath={.spec.size}'
k wds1 -n widgets label widget widget-demo colour=green
eventually is green w -n widgets get widget widget-demo -o 'jsonpath={.metadata.labels.colour}'
k wds1 -n widgets label widget widget-demo colour-
eventually is "" w -n widgets get widget widget-demo -o 'jsonpath={.metadata.labels.colour}'

say "status set in the WEC appears in the WDS"
w -n widgets patch widget widget-demo --subresource=status --type merge -p '{"status":{"phase":"Polished"}}'
eventually is Polished k wds1 -n widgets get widget widget-demo -o 'jsonpath={.status.phase}'
w -n widgets patch deployment web --subresource=status --type merge -p '{"status":{"replicas":2,"readyReplicas":2}}'
eventually is 2 k wds1 -n widgets get deployment web -o 'jsonpath={.status.readyReplicas}'

say "what others write in the WEC is left alone"
w -n widgets annotate widget widget-demo local=kept
k wds1 -n widgets patch widget widget-demo --type merge -p '{"spec":{"size":"huge"}}'
eventually is huge w -n widgets get widget widget-demo -o 'jsonpath={.spec.size}'
is kept w -n widgets get widget widget-demo -o 'jsonpath={.metadata.annotations.local}' || fail "annotation lost"

say "kill -9 of hub and syncer loses nothing"
kill -9 "$hub_pid"
wait "$hub_pid" 2>/dev/null || true  # its lock goes with it
w -n widgets patch widget widget-demo --subresource=status --type merge -p '{"status":{"phase":"Alone"}}'
start_hub hub "$hub_port"
eventually is Alone k wds1 -n widgets get widget widget-demo -o 'jsonpath={.status.phase}'
kill -9 "$syncer_pid"
k wds1 -n widgets patch widget widget-demo --type merge -p '{"spec":{"size":"tiny"}}'
k wds1 -n widgets apply -f - <<'YAML'
apiVersion: example.com/v1
kind: Widget
metadata: {name: second, namespace: widgets, labels: {app.kubernetes.io/part-of: widgets}}
spec: {size: medium}
YAML
kill -9 "$hub_pid"
wait "$hub_pid" 2>/dev/null || true  # its lock goes with it
start_hub hub "$hub_port"
start_syncer "$mailbox" "$wec_kubeconfig"
eventually is tiny w -n widgets get widget widget-demo -o 'jsonpath={.spec.size}'
eventually is medium w -n widgets get widget second -o 'jsonpath={.spec.size}'

say "deletion follows, also one made while the syncer was down"
k wds1 -n widgets delete widget second
eventually gone w -n widgets get widget second
kill -9 "$syncer_pid"
k wds1 -n widgets delete widget widget-demo
eventually gone k "$mailbox" -n widgets get widget widget-demo
start_syncer "$mailbox" "$wec_kubeconfig"
eventually gone w -n widgets get widget widget-demo
w -n widgets get deployment web >/dev/null || fail "a deletion nobody asked for"

say "removing the placement removes the rest"
k wds1 delete bindingpolicy --all
eventually gone w -n widgets get deployment web
eventually gone w get crd widgets.example.com
k wds1 -n widgets get deployment web >/dev/null || fail "the source must stay"

say "a deleted inventory entry takes its mailbox with it"
k its1 delete synctarget florin
eventually gone k root get workspace "$mailbox"
say "first light holds"
