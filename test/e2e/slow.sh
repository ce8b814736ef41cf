#!/usr/bin/env bash
# Peers that take their time are cut in the end, and hold up nobody meanwhile.
. "$(dirname "$0")/lib.sh"

start_hub
say "slow peers beside an ordinary client"
python3 "$root/test/e2e/slow.py" localhost "$hub_port" "$dir/hub/pki/ca.crt" \
  "$dir/hub/pki/admin.crt" "$dir/hub/pki/admin.key" || fail "slow.py"
curl -sS --cert "$dir/hub/pki/admin.crt" --key "$dir/hub/pki/admin.key" \
  --cacert "$dir/hub/pki/ca.crt" "$hub_url/metrics" >"$dir/metrics"
grep -qE '^mailroom_connections_cut [1-9]' "$dir/metrics" || fail "nothing was cut"
kill "$hub_pid" && wait "$hub_pid" || fail "the hub did not end well"

say "a hub out of descriptors for strangers still serves whom it knows"
ulimit -n 400
start_hub
cat >"$dir/crowd.py" <<'PY'
import http.client, json, socket, ssl, sys
host, port, ca, cert, key = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
context = ssl.create_default_context(cafile=ca)
context.load_cert_chain(cert, key)
known = http.client.HTTPSConnection(host, port, context=context, timeout=60)
def ask(method, path, body=None):
    known.request(method, path, body, {"Content-Type": "application/json"})
    answer = known.getresponse()
    text = answer.read().decode()
    assert answer.status in (200, 201), (answer.status, text)
    return text
ask("GET", "/version")
crowd = []
for n in range(370):
    crowd.append(socket.create_connection((host, port), timeout=60))
for n in range(50):
    ask("POST", "/clusters/wds1/api/v1/namespaces/default/configmaps", json.dumps({"metadata": {"name": "m%d" % n}}))
refused = [line for line in ask("GET", "/metrics").splitlines() if line.startswith("mailroom_connections_refused ")]
assert int(refused[0].split()[1]) > 0, refused
PY
python3 "$dir/crowd.py" localhost "$hub_port" "$dir/hub/pki/ca.crt" \
  "$dir/hub/pki/admin.crt" "$dir/hub/pki/admin.key" || fail "crowd.py"
again() { curl -fsS --cert "$dir/hub/pki/admin.crt" --key "$dir/hub/pki/admin.key" --cacert "$dir/hub/pki/ca.crt" "$hub_url/version"; }
eventually again
say "ok"
