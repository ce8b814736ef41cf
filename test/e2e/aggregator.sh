#!/usr/bin/env bash
# The hub as extension API server of a real kube-apiserver: mailboxes and everything in them through
# the host cluster, with the host's users.
. "$(dirname "$0")/lib.sh"

start_wec host
host_kubeconfig=$wec_kubeconfig
pki=$(dirname "$host_kubeconfig")/pki
host_url=$(sed -nE 's#^server (.*)#\1#p' "$(dirname "$host_kubeconfig")/endpoints")
hub_flags=(--requestheader-client-ca-file "$pki/front-proxy-ca.crt"
  --requestheader-allowed-names front-proxy-client --tls-san mailroom.mailroom.svc
  --audit-log-path "$dir/audit.json")
start_hub

say "a mailbox in the hub"
k its1 apply -f "$root/deploy/demo/synctargets.yaml" >/dev/null
target=$(k its1 get synctargets -o 'jsonpath={.items[0].metadata.name}')
eventually has_mailbox "$target"
box=$(mailbox_of "$target")

say "registering the hub with the host"
render() {
  sed -e "s#HUB_HOST#localhost#; s#HUB_PORT#$hub_port#; s#HUB_CA#$(base64 -w 0 "$dir/hub/pki/ca.crt")#" \
    "$root/deploy/apiservice/apiservice.yaml"
}
render | w apply -f - >/dev/null
w apply -f "$root/deploy/apiservice/access.yaml" >/dev/null
available() {
  is True w get apiservice v1alpha1.mailbox.kubestellar.io \
    -o 'jsonpath={.status.conditions[?(@.type=="Available")].status}'
}
eventually available
eventually w get --raw /apis/mailbox.kubestellar.io/v1alpha1  # the host serves it a little later

say "the hub's own rules hold for the host's users"
! w get mailboxes >"$dir/denied" 2>&1 || fail "the host's admin is nobody in the hub"
grep -q 'User "admin" cannot list resource "mailboxes"' "$dir/denied" || fail "$(cat "$dir/denied")"
k root create clusterrolebinding host-admin --clusterrole=cluster-admin --user=admin >/dev/null
says "$box" w get mailboxes -o name || fail "get mailboxes"
says "^$target|$target" w get mailboxes || fail "table through the host"
says 'mailboxes +mbx' w api-resources --api-group=mailbox.kubestellar.io || fail "discovery"
explained() { says 'The workspace of one edge cluster' "$kubectl_old" --cache-dir "$dir/cache-old" --kubeconfig "$host_kubeconfig" explain mailbox; }
eventually explained

say "a whole mailbox through the host"
for kubectl in "$kubectl_old" "$kubectl_new"; do
  p() {
    "$kubectl" --cache-dir "$dir/cache-proxy" --kubeconfig "$host_kubeconfig" \
      --server "$host_url/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/$box/proxy" "$@"
  }
  says '^namespace/default' p get namespaces -o name || fail "get through the proxy"
  p get configmaps -w -o name >"$dir/watched" 2>"$dir/watch.err" &
  watch=$!
  pids+=("$watch")
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: through, namespace: default}\ndata: {a: b}\n' >"$dir/cm.yaml"
  says 'configmap/through created' p apply -f "$dir/cm.yaml" || fail "apply through the proxy"
  eventually grep -q configmap/through "$dir/watched"
  kill "$watch"
  is b k "$box" get configmap through -o 'jsonpath={.data.a}' || fail "it is in the mailbox"
  says 'unchanged' p apply -f "$dir/cm.yaml" || fail "apply twice"
  p delete configmap through >/dev/null
  gone k "$box" get configmap through || fail "delete through the proxy"
done

say "identity comes from the headers, and only rights of its own count"
k root create clusterrolebinding reader --clusterrole=system:mailroom:mailbox-viewer --user=reader >/dev/null
w create clusterrolebinding reader --clusterrole=mailroom-mailbox-viewer --user=reader >/dev/null
reader() { p --as reader "$@"; }
eventually says '^namespace/default' reader get namespaces -o name  # the host hears of its rights a little later
! reader create configmap x >"$dir/denied" 2>&1 || fail "reader writes"
! p --as stranger get namespaces >"$dir/denied" 2>&1 || fail "stranger reads"
# Allowed by the host, not by the hub.
w create clusterrolebinding half --clusterrole=mailroom-mailbox-user --user=half >/dev/null
! p --as half get namespaces >"$dir/denied" 2>&1 || fail "the hub does not ask the host"
grep -q 'User "half" cannot get resource "mailboxes/proxy"' "$dir/denied" || fail "$(cat "$dir/denied")"

say "a matrix of users and mailboxes through the host: only the diagonal is open"
many=4
for i in $(seq $many); do
  k its1 apply -f - >/dev/null <<YAML
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: matrix$i}
YAML
  eventually has_mailbox "matrix$i"
  boxes[i]=$(mailbox_of "matrix$i")
  k "${boxes[i]}" create secret generic canary --from-literal=c="canary-of-$i-" >/dev/null
  k root create clusterrole "user$i" --verb='*' --resource=mailboxes.mailbox.kubestellar.io/proxy \
    --resource-name="${boxes[i]}" >/dev/null
  k root create clusterrolebinding "user$i" --clusterrole="user$i" --user="user$i" >/dev/null
  w create clusterrolebinding "user$i" --clusterrole=mailroom-mailbox-user --user="user$i" >/dev/null
done
# as USER MAILBOX METHOD PATH: the code; the body is in $dir/body.
as() {
  curl -s -o "$dir/body" -w '%{http_code}' --max-time 30 --cacert "$pki/ca.crt" --cert "$pki/admin.crt" \
    --key "$pki/admin.key" -H "Impersonate-User: user$1" -H 'Content-Type: application/json' -X "$3" \
    "$host_url/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/${boxes[$2]}/proxy$4"
}
secrets=/api/v1/namespaces/default/secrets
# The host hears of its own bindings a little later.
for i in $(seq $many); do eventually is 200 as "$i" "$i" GET "$secrets/canary"; done
asked=0
for user in $(seq $many); do
  for other in $(seq $many); do
    while read -r method path; do
      got=$(as "$user" "$other" "$method" "$path") || true
      asked=$((asked + 1))
      if [ "$user" = "$other" ]; then
        [ "$got" != 403 ] || fail "user$user may not $method $path in their own mailbox: $(cat "$dir/body")"
      else
        [ "$got" = 403 ] || fail "user$user got $got for $method $path in the mailbox of user$other"
        ! grep -q "$(printf 'canary-of-%s-' "$other" | base64)" "$dir/body" || fail "a canary was seen"
      fi
    done <<PROBES
GET $secrets/canary
GET $secrets
GET $secrets?watch=1&timeoutSeconds=1
POST $secrets
PUT $secrets/canary
PATCH $secrets/canary
DELETE $secrets/none
GET /apis
GET /openapi/v3
GET /nowhere
DELETE $secrets?labelSelector=none
PROBES
  done
done
say "$asked requests"

say "headers without the front proxy's certificate are nothing"
code() { curl -sk -o "$dir/body" -w '%{http_code}' "$@"; }
is 403 code -H 'X-Remote-User: admin' -H 'X-Remote-Group: system:masters' "$hub_url/apis/mailbox.kubestellar.io/v1alpha1/mailboxes" || fail "403"
is 401 code --cert "$pki/admin.crt" --key "$pki/admin.key" -H 'X-Remote-User: admin' "$hub_url/api/v1/secrets" || fail "401"
is 403 code --cert "$pki/front-proxy.crt" --key "$pki/front-proxy.key" "$hub_url/api/v1/secrets" || fail "403"
is 200 code --cert "$pki/front-proxy.crt" --key "$pki/front-proxy.key" -H 'X-Remote-User: admin' "$hub_url/api/v1/secrets" || fail "200"

say "the record names user and workspace"
grep -q '"username":"reader"' "$dir/audit.json" || fail "audit: user"
grep -q "\"mailbox.kubestellar.io/workspace\":\"$box\"" "$dir/audit.json" || fail "audit: workspace"

say "the host decides too, when told to"
kill "$hub_pid" && wait "$hub_pid" || true
hub_flags+=(--authorization-kubeconfig "$host_kubeconfig")
start_hub hub "$hub_port"
eventually available
eventually w get --raw /apis/mailbox.kubestellar.io/v1alpha1  # the host serves it a little later
eventually says '^namespace/default' p --as half get namespaces -o name
! p --as stranger get namespaces >"$dir/denied" 2>&1 || fail "stranger reads"
say "ok"
