#!/usr/bin/env bash
# A group of a workspace's API that another server serves, with an old and a new kubectl: the other
# server is a second hub, which believes the first one's front proxy and serves its own workspaces.
. "$(dirname "$0")/lib.sh"

start_hub
front_url=$hub_url
workspace c cluster
say "a server that believes this one, by what the workspace says"
trust() { k c -n kube-system get configmap extension-apiserver-authentication -o "jsonpath={.data.$1}"; }
eventually trust requestheader-client-ca-file
trust requestheader-client-ca-file >"$dir/front-proxy.crt"
name=$(trust requestheader-allowed-names | tr -d '[]"')
[ "$name" = mailroom-aggregator:c ] || fail "the name of the front proxy: $name"
hub_flags=(--tls-san api.default.svc --requestheader-client-ca-file "$dir/front-proxy.crt"
  --requestheader-allowed-names "$name")
start_hub ext
hub_data=ext k root create clusterrolebinding guests --clusterrole cluster-admin --user admin
ext_port=$hub_port
hub_url=$front_url

say "a Service and an APIService that lead to it"
k c apply -f - <<YAML
apiVersion: v1
kind: Service
metadata: {name: api, namespace: default}
spec: {ports: [{port: 443}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: api, namespace: default}
subsets: [{addresses: [{ip: 127.0.0.1}], ports: [{port: $ext_port}]}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1alpha1.mailbox.kubestellar.io}
spec:
  group: mailbox.kubestellar.io
  version: v1alpha1
  groupPriorityMinimum: 2000
  versionPriority: 10
  caBundle: $(base64 -w0 "$dir/ext/pki/ca.crt")
  service: {namespace: default, name: api}
YAML
eventually says 'default/api +True' k c get apiservices
k c wait --for=condition=Available --timeout=60s apiservice v1alpha1.mailbox.kubestellar.io

for kc in k k_old; do
  say "$kc: discovered, read, written and watched there"
  eventually says 'workspaces .*mailbox.kubestellar.io' "$kc" c api-resources
  says '^wds1 ' "$kc" c get workspaces || fail "no table of the other server's workspaces"
  "$kc" c apply -f - <<YAML
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: made-by-${kc//_/-}}
spec: {type: wds}
YAML
  hub_url=https://127.0.0.1:$ext_port hub_data=ext k root get workspace "made-by-${kc//_/-}" ||
    fail "it is not there"
  "$kc" c get workspaces -w -o name >"$dir/$kc.watched" 2>&1 &
  pids+=($!)
  eventually grep -q "made-by-${kc//_/-}" "$dir/$kc.watched"
  "$kc" c label workspace "made-by-${kc//_/-}" seen=yes
  twice() { [ "$(grep -c "made-by-${kc//_/-}" "$dir/$kc.watched")" -ge 2 ]; }
  eventually twice
done
says 'Workspace' k c explain workspaces || fail "explain by its own document"
says '/apis/mailbox.kubestellar.io/v1alpha1/workspaces/' k c get --raw /clusters/c/openapi/v2 ||
  fail "clients that know no newer form"

say "away, it is said to be"
kill -9 "$hub_pid"
eventually says 'default/api +False \(FailedDiscoveryCheck\)' k c get apiservices
! k c get --raw /clusters/c/apis/mailbox.kubestellar.io/v1alpha1 2>"$dir/away" || fail "nobody can have answered"
grep -q ServiceUnavailable "$dir/away" || fail "$(cat "$dir/away")"
k c get configmaps >/dev/null || fail "what is served here does not depend on it"
say "groups are served where they are"
