#!/usr/bin/env bash
# Certificates of somebody else's making: a company's authority vouches for the server and for users,
# the hub's own goes on vouching for the administrator and the syncers.
. "$(dirname "$0")/lib.sh"

authority() {  # authority NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$dir/$1.key" -out "$dir/$1.crt" 2>/dev/null
}
signed() {  # signed AUTHORITY NAME SUBJECT EXTENSIONS [DAYS]
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$3" \
    -keyout "$dir/$2.key" -out "$dir/$2.csr" 2>/dev/null
  openssl x509 -req -in "$dir/$2.csr" -CA "$dir/$1.crt" -CAkey "$dir/$1.key" -CAcreateserial -days "${5:-1}" \
    -extfile <(printf '%s\n' "$4") -out "$dir/$2.crt" 2>/dev/null
}
authority company
authority partner
signed company server /CN=hub 'subjectAltName=DNS:localhost,IP:127.0.0.1'
signed company carol /O=devs/CN=carol extendedKeyUsage=clientAuth
signed partner dave /O=devs/CN=dave extendedKeyUsage=clientAuth
authority proxies
signed proxies proxy /CN=aggregator extendedKeyUsage=clientAuth
signed proxies proxy-old /CN=aggregator extendedKeyUsage=clientAuth -1
signed proxies proxy-other /CN=mallory extendedKeyUsage=clientAuth
signed proxies proxy-server /CN=aggregator extendedKeyUsage=serverAuth
signed company proxy-false /CN=aggregator extendedKeyUsage=clientAuth
cp "$dir/company.crt" "$dir/clients.crt"

as() { curl -sS --cacert "$dir/company.crt" --cert "$dir/$1.crt" --key "$dir/$1.key" "${@:2}"; }
admin() { curl -sS --cacert "$dir/company.crt" --cert "$dir/hub/pki/admin.crt" --key "$dir/hub/pki/admin.key" "$@"; }
code() { "$@" -o /dev/null -w '%{http_code}'; }
field() { python3 -c 'import json,sys
at = json.load(sys.stdin)
for name in sys.argv[1:]: at = at[name]
print(at)' "$@"; }

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
hub_flags=(--client-ca-file "$dir/clients.crt" --tls-cert-file "$dir/server.crt"
  --tls-private-key-file "$dir/server.key" --tls-ca-file "$dir/company.crt"
  --requestheader-client-ca-file "$dir/proxies.crt" --requestheader-allowed-names aggregator
  --advertise-url "https://localhost:$port")
start_hub hub "$port"

say "the administrator's kubeconfig names the advertised URL and the company's authority, and works"
[ "$hub_url" = "https://localhost:$port" ] || fail "kubeconfig: $hub_url"
grep -q "$(base64 -w0 <"$dir/company.crt" | head -c 200)" "$dir/hub.admin" || fail "whose authority"
is 200 code admin "$hub_url/api/v1/secrets" || fail "the hub's own authority is no longer believed"

say "users of the company's authority are known"
as carol "$hub_url/api/v1/secrets" >"$dir/denied"
grep -q 'User \\"carol\\" cannot' "$dir/denied" || fail "$(cat "$dir/denied")"
is 401 code as dave "$hub_url/api/v1/secrets" || fail "a stranger"

say "headers are believed from a front proxy with a good certificate of the right name only"
seen_as() { as "$@" -H 'X-Remote-Group: system:masters' "$hub_url/api/v1/secrets" | field message; }
says 'User "erin" cannot' seen_as proxy -H 'X-Remote-User: erin' || fail "the front proxy"
says 'User "system:anonymous" cannot' seen_as proxy || fail "a front proxy that names nobody"
says 'User "aggregator" cannot' seen_as proxy-false -H 'X-Remote-User: admin' || fail "a user of that name"
says 'User "carol" cannot' seen_as carol -H 'X-Remote-User: admin' || fail "another user"
for bad in proxy-old proxy-other proxy-server dave; do
  is 401 code as $bad -H 'X-Remote-User: admin' "$hub_url/api/v1/secrets" || fail "$bad"
done

say "what is written down names the advertised URL and the authority too"
admin -H 'content-type: application/json' -d '{"apiVersion":"mailbox.kubestellar.io/v1alpha1",
  "kind":"Workspace","metadata":{"name":"team"},"spec":{"type":"cluster"}}' \
  "$hub_url/apis/mailbox.kubestellar.io/v1alpha1/workspaces" >/dev/null
workspace_url() { admin "$hub_url/apis/mailbox.kubestellar.io/v1alpha1/workspaces/team" | field status url; }
eventually is "$hub_url/clusters/team" workspace_url
root_ca() { admin "$hub_url/clusters/team/api/v1/namespaces/default/configmaps/kube-root-ca.crt" | field data ca.crt; }
eventually is "$(cat "$dir/company.crt")" root_ca
issuer() { admin "$hub_url/clusters/team/.well-known/openid-configuration" | field issuer; }
says "^$hub_url" issuer || fail "issuer: $(issuer)"
trust=configmaps/extension-apiserver-authentication
client_ca() { admin "$hub_url$1/api/v1/namespaces/kube-system/$trust" | field data client-ca-file; }
for place in "" /clusters/team; do
  eventually is "$(cat "$dir/hub/pki/ca.crt" "$dir/company.crt")" client_ca "$place"
done

say "a syncer's kubeconfig is good for a day"
mkdir "$dir/syncer"
"$MAILROOM_BUILD/mailroom" syncer-kubeconfig --data-dir "$dir/hub" --server "$hub_url" --mailbox its1-mb-m1 \
  --tls-ca-file "$dir/company.crt" --out "$dir/syncer/kubeconfig"
is 600 stat -c %a "$dir/syncer/kubeconfig" || fail "mode"
sed -nE 's/.*client-certificate-data: "?([A-Za-z0-9+\/=]+)"?.*/\1/p' "$dir/syncer/kubeconfig" | base64 -d >"$dir/m1.crt"
sed -nE 's/.*client-key-data: "?([A-Za-z0-9+\/=]+)"?.*/\1/p' "$dir/syncer/kubeconfig" | base64 -d >"$dir/m1.key"
openssl x509 -in "$dir/m1.crt" -noout -checkend 82800 >/dev/null || fail "it ends too early"
! openssl x509 -in "$dir/m1.crt" -noout -checkend 90000 >/dev/null || fail "it ends too late"
as m1 "$hub_url/api/v1/secrets" >"$dir/denied"
grep -q 'User \\"system:syncer:its1-mb-m1\\" cannot' "$dir/denied" || fail "$(cat "$dir/denied")"
! "$MAILROOM_BUILD/mailroom" syncer-kubeconfig --data-dir "$dir/hub" --server "$hub_url" --mailbox its1-mb-m1 \
  --out "$dir/x" --validity 1s 2>/dev/null || fail "a second is too short"

say "another authority of users takes effect without a restart; a bad file changes nothing"
echo nonsense >"$dir/clients.crt"
kill -HUP "$hub_pid"
eventually says 'keeping the certificates' cat "$dir/hub.log"
is 403 code as carol "$hub_url/api/v1/secrets" || fail "carol"
cp "$dir/partner.crt" "$dir/clients.crt"
kill -HUP "$hub_pid"
eventually is 403 code as dave "$hub_url/api/v1/secrets"
is 401 code as carol "$hub_url/api/v1/secrets" || fail "carol is no longer vouched for"
for place in "" /clusters/team; do
  eventually is "$(cat "$dir/hub/pki/ca.crt" "$dir/partner.crt")" client_ca "$place"
done
is 200 code admin "$hub_url/api/v1/secrets" || fail "the administrator"
say "ok"
