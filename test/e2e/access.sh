#!/usr/bin/env bash
# Who may enter: kubectl's questions about rights, tokens, a join from beginning to end, and what is
# left on disk and in logs.
. "$(dirname "$0")/lib.sh"

canary=canary$RANDOM$RANDOM
cat >"$dir/keys.yaml" <<YAML
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
- resources: [secrets]
  providers:
  - aesgcm: {keys: [{name: first, secret: $(head -c 32 /dev/urandom | base64)}]}
YAML
cat >"$dir/policy.yaml" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ["/healthz*"]
- level: RequestResponse
YAML
say "encryption is turned on over what lies open"
start_hub
k wds1 -n default create secret generic early --from-literal=c="early$canary" >/dev/null
k wds1 -n default annotate secret early changed=once >/dev/null
early=$(printf %s "early$canary" | base64)
kill "$hub_pid" && wait "$hub_pid" || true
grep -rqF -- "$early" "$dir/hub/store" || fail "what is not encrypted can be read here"
hub_flags=(--encryption-keys-file "$dir/keys.yaml")
start_hub hub "$hub_port"
grep -q 'stored values sealed anew' "$dir/hub.log" || fail "nothing was sealed"
is "$early" k wds1 -n default get secret early -o 'jsonpath={.data.c}' || fail "early secret"
! grep -rqF -- "$early" "$dir/hub/store" || fail "it still lies open while the hub runs"
kill "$hub_pid" && wait "$hub_pid" || true
! grep -rqF -- "$early" "$dir/hub/store" || fail "it still lies open in the store"

say "an exported workspace is its owner's"
export_to() { "$MAILROOM_BUILD/mailroom" workspace export wds1 --data-dir "$dir/hub" --file "$@"; }
! export_to "$dir/sealed.export" 2>"$dir/refused" || fail "sealed values were exported as they lie"
grep -q -- --encryption-keys-file "$dir/refused" || fail "$(cat "$dir/refused")"
[ ! -e "$dir/sealed.export" ] && [ ! -e "$dir/sealed.export.part" ] || fail "half a file was left"
(umask 022 && export_to "$dir/wds1.export" --encryption-keys-file "$dir/keys.yaml" >/dev/null)
is 600 stat -c %a "$dir/wds1.export" || fail "the export is for its owner"
grep -qF -- "$early" "$dir/wds1.export" || fail "the export holds what was encrypted"

hub_flags=(--encryption-keys-file "$dir/keys.yaml" --audit-log-path "$dir/audit.json"
  --audit-policy-file "$dir/policy.yaml" --log-level debug)
start_hub hub "$hub_port"
is 600 stat -c %a "$dir/hub.admin" || fail "the admin's kubeconfig is for the admin"

cat >"$dir/ws.yaml" <<'YAML'
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: team}
spec: {type: cluster}
YAML
k root apply -f "$dir/ws.yaml" >/dev/null

for kc in k_old k; do
  say "$kc: auth can-i and --as"
  ns=for-${kc//_/-}
  "$kc" team create namespace "$ns" >/dev/null
  is yes "$kc" team auth can-i '*' '*' || fail "the admin may"
  "$kc" team -n "$ns" create rolebinding alice --clusterrole=edit --user=alice >/dev/null
  is yes "$kc" team -n "$ns" auth can-i create configmaps --as alice || fail "alice edits"
  is yes "$kc" team -n "$ns" auth can-i get deployments.apps --subresource=scale --as alice || fail "alice scales"
  no() { [ "$("$@" 2>/dev/null)" = no ]; }
  no "$kc" team auth can-i create configmaps --as alice || fail "elsewhere she does not"
  no "$kc" team -n "$ns" auth can-i create rolebindings --as alice || fail "nor give rights away"
  ! "$kc" wds1 -n default get configmaps --as alice 2>/dev/null || fail "nor enter other workspaces"
  says 'configmaps' "$kc" team -n "$ns" auth can-i --list --as alice || fail "can-i --list"
  "$kc" team -n "$ns" --as alice create configmap hers --from-literal=a=b >/dev/null
  ! "$kc" team -n default --as alice get configmaps 2>"$dir/denied" || fail "alice reads default"
  grep -q 'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"' \
    "$dir/denied" || fail "$(cat "$dir/denied")"
  is yes "$kc" team -n "$ns" auth can-i get secrets --as bob --as-group system:masters || fail "groups"
done
says 'Username +alice' k team auth whoami --as alice --as-group devs || fail whoami
says devs k team auth whoami --as alice --as-group devs || fail whoami

say "a service account's token"
k team -n for-k create serviceaccount robot >/dev/null
k team -n for-k create rolebinding robot --clusterrole=view --serviceaccount=for-k:robot >/dev/null
token=$(k team -n for-k create token robot)
as_robot() { "$kubectl_new" --cache-dir "$dir/cache" --kubeconfig /dev/null --server "$hub_url/clusters/$1" --certificate-authority "$dir/hub/pki/ca.crt" --token "$token" "${@:2}"; }
says configmap/hers as_robot team -n for-k get configmaps -o name || fail "robot reads"
! as_robot team -n for-k get secrets 2>/dev/null || fail "robot reads secrets"
! as_robot wds1 get configmaps 2>/dev/null || fail "robot reads another workspace"

say "a syncer joins with a token and works with its certificate"
k its1 apply -f "$root/deploy/demo/synctargets.yaml" >/dev/null
target=$(k its1 get synctargets -o 'jsonpath={.items[0].metadata.name}')
other=$(k its1 get synctargets -o 'jsonpath={.items[1].metadata.name}')
eventually has_mailbox "$target"
eventually has_mailbox "$other"
box=$(mailbox_of "$target") foreign=$(mailbox_of "$other")
join=$("$MAILROOM_BUILD/mailroom" join-command --kubeconfig "$dir/hub.admin" --mailbox "$box")
read -r -a words <<<"$join"
(cd "$dir" && "$MAILROOM_BUILD/${words[0]}" "${words[@]:1}") || fail "join"
is 600 stat -c %a "$dir/mailbox.kubeconfig" || fail "the credential is for its owner"
m() { "$kubectl_new" --cache-dir "$dir/cache-mailbox" --kubeconfig "$dir/mailbox.kubeconfig" "$@"; }
says namespace/default m get namespaces -o name || fail "the syncer reads its mailbox"
! m --server "$hub_url/clusters/$foreign" get namespaces 2>/dev/null || fail "the syncer reads another mailbox"
! m create configmap x 2>/dev/null || fail "the syncer writes workload"
(cd "$dir" && ! "$MAILROOM_BUILD/${words[0]}" "${words[@]:1}" 2>"$dir/again") || fail "the token worked twice"
join=$("$MAILROOM_BUILD/mailroom" join-command --kubeconfig "$dir/hub.admin" --mailbox "$box")
read -r -a words <<<"$join"

say "secrets are nowhere but where they belong"
k team -n for-k create secret generic s --from-literal=c="$canary" >/dev/null
is "$(printf %s "$canary" | base64)" k team -n for-k get secret s -o 'jsonpath={.data.c}' || fail "secret"
k team -n for-k create configmap plain --from-literal=c="plain$canary" >/dev/null
encoded=$(printf %s "$canary" | base64)
grep -q '"name":"plain"' "$dir/audit.json" || eventually grep -q '"name":"plain"' "$dir/audit.json"
grep -q "plain$canary" "$dir/audit.json" || fail "the body of other objects is recorded as asked"
for word in "$encoded" "$token" "${words[7]}"; do
  ! grep -rqF -- "$word" "$dir/audit.json" "$dir/hub.log" || fail "a secret in a log"
done
grep -q '"workspace":"team"\|mailbox.kubestellar.io/workspace":"team"' "$dir/audit.json" || fail "workspace"
! grep -qF -- "plain$canary" "$dir/hub.log" || fail "an object's body in the log"
kill "$hub_pid" && wait "$hub_pid" || true
grep -rqF "plain$canary" "$dir/hub/store" || fail "the raw store can be read here"
! grep -rqF -- "$encoded" "$dir/hub/store" || fail "the secret lies open in the store"

say "keys rotate"
second=$(head -c 32 /dev/urandom | base64)
sed -i "s#keys: \[#keys: [{name: second, secret: $second}, #" "$dir/keys.yaml"
start_hub hub "$hub_port"
is "$encoded" k team -n for-k get secret s -o 'jsonpath={.data.c}' || fail "after rotation"
is 2 grep -c 'stored values sealed anew' "$dir/hub.log" || fail "nothing was sealed anew"
kill "$hub_pid" && wait "$hub_pid" || true
sed -i 's#, {name: first[^}]*}##' "$dir/keys.yaml"
start_hub hub "$hub_port"
is "$encoded" k team -n for-k get secret s -o 'jsonpath={.data.c}' || fail "without the first key"
say "ok"
