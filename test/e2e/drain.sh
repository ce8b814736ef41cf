#!/usr/bin/env bash
# What becomes of a real WEC when its SyncTarget is deleted: with policy drain the syncer cleans it
# first, by default everything stays. Also what the fleet's objects say meanwhile. Argument: etcd-3.4
# or etcd-3.5 instead of the embedded engine.
. "$(dirname "$0")/lib.sh"

[ -z "${1:-}" ] || start_etcd "${1#etcd-}"
start_hub
sync_target() { # NAME ANNOTATIONS
  k its1 apply -f - <<YAML
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: $1, labels: {widgets-enabled: "true"}, annotations: {${2:-}}}
YAML
}

k wds1 apply -f "$root/deploy/demo/widgets-crd.yaml"
k wds1 apply -f "$root/deploy/demo/widgets.yaml"
k wds1 apply -f "$root/deploy/demo/placement.yaml"
for policy in drain retain; do
  say "policy $policy"
  start_wec "$policy"
  sync_target "$policy" "mailbox.kubestellar.io/deletion-policy: $policy"
  eventually has_mailbox "$policy"
  mailbox=$(mailbox_of "$policy")
  start_syncer "$mailbox" "$wec_kubeconfig"
  eventually w -n widgets get deployment web
  eventually is True k root get mailbox "$mailbox" \
    -o 'jsonpath={.status.conditions[?(@.type=="SyncerConnected")].status}'
  eventually is True k its1 get synctarget "$policy" \
    -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
  eventually says deployments k its1 get synctarget "$policy" -o 'jsonpath={.status.syncedResources[*].resource}'
  generation=$(k "$mailbox" get syncerconfig the-one -o 'jsonpath={.metadata.generation}')
  eventually is "$generation" k "$mailbox" get syncerconfig the-one -o 'jsonpath={.status.observedGeneration}'
  eventually says 'v1\.' k root get mailbox "$mailbox" -o 'jsonpath={.status.wecVersion}'
  # The fleet at a glance: what for, phase, connected, synced, how much of how much, since when, where from,
  # which programs, where to find it.
  eventually says \
    "^$mailbox +$policy +Ready +True +True +[1-9][0-9]* +[1-9][0-9]* +[0-9a-z]+ +[0-9a-z]+ +its1 .* v1\.[0-9].* $hub_url/clusters/$mailbox" \
    k root get mailboxes -o wide
  k its1 delete synctarget "$policy" --wait=false
  eventually gone k its1 get synctarget "$policy"
  eventually gone k root get workspace "$mailbox"
  if [ "$policy" = drain ]; then
    gone w -n widgets get deployment web || fail "the WEC was not cleaned"
  else
    w -n widgets get deployment web || fail "a retained cluster lost something"
  fi
  kill -9 "$syncer_pid"
done
say "only what was asked for was cleaned"
