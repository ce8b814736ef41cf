#!/usr/bin/env bash
# The client kit over HTTPS against a real kube-apiserver, whose etcd forgets its history on demand,
# and against a workspace of the hub.
. "$(dirname "$0")/lib.sh"

start_wec kit
etcd=$(sed -n 's/^etcd //p' "$(dirname "$wec_kubeconfig")/endpoints")
cat >"$dir/compact" <<SH
set -e
revision=\$(curl -fs $etcd/v3/kv/range -d '{"key":"AA=="}' | sed -E 's/.*"revision":"?([0-9]+).*/\\1/')
curl -fs $etcd/v3/kv/compaction -d "{\"revision\":\"\$revision\",\"physical\":true}" >/dev/null
SH
say "against kube-apiserver"
MAILROOM_PEER_KUBECONFIG=$wec_kubeconfig MAILROOM_PEER_COMPACT="bash $dir/compact" \
  "$MAILROOM_BUILD/client_peer_test" || fail "the kit and kube-apiserver"

say "against the hub"
start_hub
workspace team cluster
sed "s#\(server: \"\?\)$hub_url[^\" ]*#\1$hub_url/clusters/team#" "$dir/hub.admin" >"$dir/team.kubeconfig"
MAILROOM_PEER_KUBECONFIG=$dir/team.kubeconfig "$MAILROOM_BUILD/client_peer_test" ||
  fail "the kit and the hub"
say "the kit speaks to both"
