#!/usr/bin/env bash
# A definition whose versions a webhook converts, as operators with several versions have them.
. "$(dirname "$0")/lib.sh"

start_hub
start_webhook
k root apply -f - <<'YAML'
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: c1}
spec: {type: cluster}
YAML
k c1 apply -f - <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ends.net.example.com}
spec:
  group: net.example.com
  scope: Namespaced
  names: {plural: ends, kind: End}
  conversion:
    strategy: Webhook
    webhook:
      clientConfig: {url: "$hook_url/convert", caBundle: $hook_ca}
      conversionReviewVersions: [v1, v1beta1]
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {hostPort: {type: string}}}}
  - name: v2
    served: true
    storage: false
    additionalPrinterColumns: [{name: Host, type: string, jsonPath: .spec.host}]
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {host: {type: string}, port: {type: string}}}}
YAML
k c1 wait --for=condition=Established crd/ends.net.example.com --timeout=20s

for kc in k k_old; do
  name=end-${kc/_/-}
  say "$kc: written in one version, read in another"
  printf 'apiVersion: net.example.com/v1\nkind: End\nmetadata: {name: %s}\nspec: {hostPort: "h:1"}\n' "$name" |
    "$kc" c1 -n default apply -f -
  is h:1 "$kc" c1 -n default get ends.v1.net.example.com "$name" -o 'jsonpath={.spec.hostPort}' || fail "v1"
  is h "$kc" c1 -n default get ends.v2.net.example.com "$name" -o 'jsonpath={.spec.host}' || fail "v2"
  says "^$name +h" "$kc" c1 -n default get ends.v2.net.example.com || fail "columns of v2"
  "$kc" c1 -n default patch ends.v2.net.example.com "$name" --type merge -p '{"spec":{"port":"2"}}'
  is h:2 "$kc" c1 -n default get ends.v1.net.example.com "$name" -o 'jsonpath={.spec.hostPort}' || fail "patched"
done
k c1 apply --server-side -f - <<'YAML'
apiVersion: net.example.com/v2
kind: End
metadata: {name: applied, namespace: default}
spec: {host: a, port: "9"}
YAML
is a:9 k c1 -n default get ends.v1.net.example.com applied -o 'jsonpath={.spec.hostPort}' || fail "applied"

say "a watch in the converted version"
k c1 -n default get ends.v2.net.example.com --watch -o 'jsonpath={.metadata.name}={.spec.host}{"\n"}' >"$dir/watched" &
pids+=($!)
eventually grep -q 'applied=a' "$dir/watched"
k c1 -n default patch ends.v1.net.example.com applied --type merge -p '{"spec":{"hostPort":"b:9"}}'
eventually grep -q 'applied=b' "$dir/watched"

say "without the webhook the stored version goes on"
kill "$hook_pid"
wait "$hook_pid" 2>/dev/null || true
is b:9 k c1 -n default get ends.v1.net.example.com applied -o 'jsonpath={.spec.hostPort}' || fail "v1 alone"
if k c1 -n default get ends.v2.net.example.com applied >"$dir/out" 2>"$dir/err"; then fail "v2 without webhook"; fi
grep -q 'conversion webhook for net.example.com/v1, Kind=End failed: Post "'"$hook_url"'/convert?timeout=30s"' "$dir/err" ||
  fail "$(cat "$dir/err")"
k c1 delete crd ends.net.example.com --timeout=60s
say "done"
