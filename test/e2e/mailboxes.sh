#!/usr/bin/env bash
# Mailboxes and their successors, with syncers at work: one that is deleted is made and filled again
# for the same syncer, and its cluster keeps what it has; that of a new inventory entry is opened by
# no credential of the one before; ManagedClusters are entries like SyncTargets. Argument: etcd-3.4
# or etcd-3.5 instead of the embedded engine.
. "$(dirname "$0")/lib.sh"

[ -z "${1:-}" ] || start_etcd "${1#etcd-}"
start_hub
# Workspaces that behave like clusters are the edge.
for edge in near far; do
  workspace "$edge" cluster
  sed "s#\(server: \"\?\)$hub_url[^\" ]*#\1$hub_url/clusters/$edge#" "$dir/hub.admin" >"$dir/$edge.kubeconfig"
done
for file in widgets-crd widgets placement; do k wds1 apply -f "$root/deploy/demo/$file.yaml"; done
florin() {
  k its1 apply -f - <<'YAML'
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: florin, labels: {widgets-enabled: "true"}}
YAML
}
uid_of() { k "$1" get "$2" "$3" -o 'jsonpath={.metadata.uid}'; }
is_another() { # UID WORKSPACE RESOURCE NAME: there is one, and not the one of that UID.
  local now
  now=$(uid_of "${@:2}") && [ "$now" != "$1" ]
}
connected() { k root get mailbox "$1" -o 'jsonpath={.status.conditions[?(@.type=="SyncerConnected")].status}'; }
size() { k near -n widgets get widget widget-demo -o 'jsonpath={.spec.size}'; }

florin
eventually has_mailbox florin
mailbox=$(mailbox_of florin)
start_syncer "$mailbox" "$dir/near.kubeconfig"
eventually k near -n widgets get deployment web
eventually is small size
eventually is True connected "$mailbox"
delivered() {
  k near get namespace/widgets crd/widgets.example.com -o 'jsonpath={.items[*].metadata.uid}'
  k near -n widgets get deployment/web widget/widget-demo -o 'jsonpath={.items[*].metadata.uid}'
}
before=$(delivered)

say "a mailbox that is deleted is made and filled again for the same syncer"
first=$(uid_of root workspace "$mailbox")
k root delete workspace "$mailbox"
eventually is_another "$first" root workspace "$mailbox"
eventually k "$mailbox" -n widgets get deployment web
eventually k "$mailbox" -n widgets get widget widget-demo
eventually grep -q 'the mailbox was replaced' "$dir/syncer.log"
k wds1 -n widgets patch widget widget-demo --type merge -p '{"spec":{"size":"large"}}'
eventually is large size
eventually is True connected "$mailbox"
say "the cluster has kept what it had, and what it no longer shall have goes"
is "$before" delivered || fail "the cluster lost something meanwhile"
! grep -q 'deleted in the WEC' "$dir/syncer.log" || fail "a deletion nobody asked for"
k wds1 -n widgets delete widget widget-demo
eventually gone k near -n widgets get widget widget-demo
k near -n widgets get deployment web >/dev/null || fail "a deletion nobody asked for"

say "a Mailbox object that is deleted is made again over the same workspace"
second=$(uid_of root workspace "$mailbox")
shown=$(uid_of root mailbox "$mailbox")
k root delete mailbox "$mailbox"
eventually is_another "$shown" root mailbox "$mailbox"
eventually is True connected "$mailbox"
is "$second" uid_of root workspace "$mailbox" || fail "the workspace went along"

say "a new entry of the same name gets a mailbox that old credentials do not open"
old() {
  "$kubectl_new" --cache-dir "$dir/cache-old" --kubeconfig "$dir/$mailbox.kubeconfig" "$@"
}
old get namespace widgets >/dev/null || fail "the credential is of no use at all"
join=$("$MAILROOM_BUILD/mailroom" join-command --kubeconfig "$dir/hub.admin" --mailbox "$mailbox")
read -r -a words <<<"$join"
k its1 delete synctarget florin
eventually gone k root get workspace "$mailbox"
florin
eventually has_mailbox florin
fresh=$(mailbox_of florin)
[ "$fresh" != "$mailbox" ] || fail "the new SyncTarget got the old mailbox"
eventually k "$fresh" -n widgets get deployment web
! old --server "$hub_url/clusters/$fresh" get namespaces 2>"$dir/refused" || fail "the old credential opens it"
grep -q '(Forbidden)' "$dir/refused" || fail "$(cat "$dir/refused")"
! old get namespaces 2>/dev/null || fail "the old mailbox still answers"
(cd "$dir" && ! "$MAILROOM_BUILD/${words[0]}" "${words[@]:1}" 2>/dev/null) ||
  fail "a token of the old mailbox still joins"
k near -n widgets get deployment web >/dev/null || fail "what a cluster has stays when its entry goes"
kill -9 "$syncer_pid"

say "a ManagedCluster is an entry, too"
k its1 apply -f - <<'YAML'
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: guilder
  labels: {widgets-enabled: "true"}
  annotations: {mailbox.kubestellar.io/deletion-policy: drain}
spec: {hubAcceptsClient: true}
YAML
eventually has_mailbox guilder
other=$(mailbox_of guilder)
start_syncer "$other" "$dir/far.kubeconfig"
eventually k far -n widgets get deployment web
# Accepted, at no address, joined, available.
eventually says '^guilder +true +True +True ' k its1 get mcl
eventually says '^v1\.' k its1 get mcl guilder -o 'jsonpath={.status.version.kubernetes}'
eventually is True connected "$other"

say "a drain waits for what a syncer that begins anew has still to find"
k far -n widgets create configmap foreign  # keeps the namespace from going
k its1 delete managedcluster guilder --wait=false
config() { k "$other" get syncerconfig the-one -o "jsonpath=$1"; }
# Nothing is selected any more, and of all that was counted under these instructions one is left.
all_but_one() {
  is "0 1 $(config '{.metadata.generation}')" \
    config '{.status.selectedResources} {.status.objectCount} {.status.observedGeneration}'
}
eventually all_but_one
kill -9 "$syncer_pid"
k far -n widgets delete configmap foreign
rm -r "$dir/syncer-$other"  # what it knew of its work
start_syncer "$other" "$dir/far.kubeconfig"
eventually gone k its1 get managedcluster guilder
eventually gone k far get namespace widgets
eventually gone k root get mailbox "$other"
eventually gone k root get workspace "$other"
says '^florin ' k root get mailboxes -o 'jsonpath={.items[*].spec.syncTargetName} ' || fail "another entry's mailbox went"
say "successors inherit nothing but their work"
