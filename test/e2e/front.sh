# The front door of a real process: certificates that change under it, a stop that loses nothing,
# clients of several ages and languages, peers that speak HTTP/2 badly.
. "$(dirname "$0")/lib.sh"

hub_flags=(--access-log true --max-connections 2000)
start_hub
ca=$dir/hub/pki/ca.crt
admin=(--cert "$dir/hub/pki/admin.crt" --key "$dir/hub/pki/admin.key" --cacert "$ca")
curl_hub() { curl -sS "${admin[@]}" "$@"; }
serial() {
  openssl s_client -connect "localhost:$hub_port" </dev/null 2>/dev/null | openssl x509 -noout -serial
}
differs() { local now; now=$("${@:2}") && [ -n "$now" ] && [ "$now" != "$1" ]; }
days_left() {
  local end
  end=$(openssl s_client -connect "localhost:$hub_port" </dev/null 2>/dev/null |
    openssl x509 -noout -enddate | cut -d= -f2)
  echo $((($(date -d "$end" +%s) - $(date +%s)) / 86400))
}

sign_server() { # DAYS KEY: a certificate for the server's key
  openssl req -new -key "$dir/hub/pki/server.key" -subj /CN=mailroom -out "$dir/s.csr"
  openssl x509 -in "$dir/hub/pki/server.crt" -noout -ext subjectAltName |
    sed -n 's/IP Address/IP/g; 2s/^ */subjectAltName=/p' >"$dir/s.ext"
  openssl x509 -req -in "$dir/s.csr" -CA "$ca" -CAkey "$2" -CAcreateserial -days "$1" \
    -extfile "$dir/s.ext" -out "$dir/hub/pki/server.crt" 2>/dev/null
}

say "bad certificate files change nothing"
first=$(serial)
cp "$dir/hub/pki/ca.key" "$dir/ca.key.good"
echo broken >"$dir/hub/pki/ca.key"
kill -HUP "$hub_pid"
eventually says 'keeping the certificates' cat "$dir/hub.log"
is "$first" serial
curl_hub -o /dev/null "$hub_url/version"

say "good ones are taken though ours could not be renewed"
sign_server 365 "$dir/ca.key.good"
kill -HUP "$hub_pid"
eventually differs "$first" serial
first=$(serial)
cp "$dir/ca.key.good" "$dir/hub/pki/ca.key"

say "a certificate near its end is renewed without a restart"
sign_server 5 "$dir/hub/pki/ca.key"
kill -HUP "$hub_pid"
eventually differs "$first" serial
[ "$(days_left)" -gt 300 ] || fail "not renewed: $(days_left) days"
curl_hub -o /dev/null "$hub_url/version"

say "requests under way at a stop are answered, watches end cleanly"
base=$hub_url/clusters/wds1/api/v1/namespaces/default/configmaps
for version in --http1.1 --http2; do
  curl_hub -N "$version" "$base?watch=1" >"$dir/watch$version" &
  pids+=($!)
  watches+=($!)
done
cat >"$dir/writer.py" <<'PY'
# Creates ConfigMaps on one connection after the other until the server is gone; prints the names
# that were acknowledged.
import http.client, json, ssl, sys
host, port, ca, cert, key, who = sys.argv[1:7]
context = ssl.create_default_context(cafile=ca)
context.load_cert_chain(cert, key)
n, connection = 0, None
while True:
    name = "w%s-%d" % (who, n)
    try:
        if connection is None:
            connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=30)
        connection.request("POST", "/clusters/wds1/api/v1/namespaces/default/configmaps",
                           json.dumps({"metadata": {"name": name}}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            print(name, flush=True)
        elif answer.status == 429:
            assert answer.getheader("Retry-After"), "429 without Retry-After"
            sys.exit(0)
        else:
            sys.exit("unexpected status %d" % answer.status)
        n += 1
    except ConnectionRefusedError:
        sys.exit(0)
    except (http.client.RemoteDisconnected, ConnectionError, ssl.SSLError, OSError):
        # Closed between two requests, or before this one was read: it must not have been done.
        print("unsure", name, flush=True)
        sys.exit(0)
PY
for who in 1 2 3 4; do
  /usr/bin/python3 "$dir/writer.py" localhost "$hub_port" "$ca" "$dir/hub/pki/admin.crt" \
    "$dir/hub/pki/admin.key" "$who" >"$dir/written.$who" 2>"$dir/writer.$who.log" &
  writers+=($!)
  pids+=($!)
done
eventually test -s "$dir/written.1"
eventually test -s "$dir/written.4"
eventually grep -q '"ADDED"' "$dir/watch--http1.1"
eventually grep -q '"ADDED"' "$dir/watch--http2"
kill -TERM "$hub_pid"
wait "$hub_pid" || fail "the hub ended with $?"
for writer in "${writers[@]}"; do wait "$writer" || fail "a writer failed: $(cat "$dir"/writer.*.log)"; done
for watch in "${watches[@]}"; do wait "$watch" || fail "a watch did not end cleanly: $?"; done

say "what was acknowledged is there after the restart"
start_hub hub "$hub_port"
curl_hub "$base?limit=100000" | jq -r '.items[].metadata.name' | sort >"$dir/found"
cat "$dir"/written.? | grep -v unsure | sort >"$dir/acknowledged"
[ -s "$dir/acknowledged" ] || fail "nothing was written"
lost=$(comm -23 "$dir/acknowledged" "$dir/found")
[ -z "$lost" ] || fail "acknowledged but lost: $lost"
sed -n 's/^unsure //p' "$dir"/written.? | sort >"$dir/unsure"
done=$(comm -12 "$dir/unsure" "$dir/found")
[ -z "$done" ] || fail "done, and the connection closed without an answer: $done"

say "kubectl old and new, nghttp and h2load"
for kubectl in "$kubectl_old" "$kubectl_new"; do
  says '"major"' "$kubectl" --kubeconfig "$dir/hub.admin" get --raw /version
  says wds1 "$kubectl" --kubeconfig "$dir/hub.admin" get workspaces
done
nghttp --cert="$dir/hub/pki/admin.crt" --key="$dir/hub/pki/admin.key" "$hub_url/version" >"$dir/nghttp"
grep -q '"major"' "$dir/nghttp" || fail "nghttp: $(cat "$dir/nghttp")"
says '2000 succeeded' h2load -n 2000 -c 4 -m 10 "$hub_url/version"
says '2000 succeeded' h2load --h1 -n 2000 -c 4 "$hub_url/version"

say "a list of many megabytes"
/usr/bin/python3 - "$hub_port" "$ca" "$dir/hub/pki/admin.crt" "$dir/hub/pki/admin.key" <<'PY'
import http.client, json, ssl, sys
port, ca, cert, key = sys.argv[1:5]
context = ssl.create_default_context(cafile=ca)
context.load_cert_chain(cert, key)
connection = http.client.HTTPSConnection("localhost", int(port), context=context, timeout=60)
for i in range(60):
    body = json.dumps({"metadata": {"name": "big%d" % i}, "data": {"x": "y" * 200000}})
    connection.request("POST", "/clusters/its1/api/v1/namespaces/default/configmaps", body,
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 201, (answer.status, answer.read())
    answer.read()
PY
big=$hub_url/clusters/its1/api/v1/namespaces/default/configmaps
for version in --http1.1 --http2; do
  for accept in application/json 'application/json;as=Table;v=v1;g=meta.k8s.io' \
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'; do
    plain=$(curl_hub "$version" -H "accept: $accept" "$big" | jq -c '[(.kind), ((.items // .rows) | length)]')
    zipped=$(curl_hub "$version" --compressed -H "accept: $accept" "$big" |
      jq -c '[(.kind), ((.items // .rows) | length)]')
    [ "$plain" = "$zipped" ] || fail "$version $accept: $plain plain, $zipped compressed"
    case $plain in *,60* | *,61*) ;; *) fail "$version $accept: $plain" ;; esac
  done
done
says '^content-encoding: gzip' curl_hub -H 'accept-encoding: gzip' -D - -o /dev/null "$big"

say "lists of many megabytes in other media types"
for version in --http1.1 --http2; do
  yaml=$(curl_hub "$version" --compressed -H 'accept: application/yaml' "$big" | grep -c '^- data:\|^- apiVersion:')
  [ "$yaml" -ge 60 ] || fail "$version: $yaml items of YAML"
  curl_hub "$version" -H 'accept: application/vnd.kubernetes.protobuf' "$big" >"$dir/list.pb"
  cmp -s <(head -c 4 "$dir/list.pb") <(printf 'k8s\0') || fail "$version: no protobuf"
  [ "$(grep -aoc 'yyyyyyyyyy' "$dir/list.pb")" -ge 1 ] && [ "$(stat -c %s "$dir/list.pb")" -gt 12000000 ] ||
    fail "$version: protobuf of $(stat -c %s "$dir/list.pb") bytes"
done

say "compressed requests are taken as they are, as by kube-apiserver"
echo '{"metadata":{"name":"zipped"}}' | gzip -n >"$dir/zipped"
for version in --http1.1 --http2; do
  curl_hub "$version" -H 'content-type: application/json' -H 'content-encoding: gzip' \
    --data-binary "@$dir/zipped" "$big" >"$dir/refused"
  jq -e '.code == 400 and (.message | contains("invalid character '"'\\\\x1f'"' looking for beginning of value (1f8b08"))' \
    "$dir/refused" >/dev/null || fail "a compressed body: $(cat "$dir/refused")"
done

say "more writes than the queue holds are refused, and only those"
/usr/bin/python3 "$root/test/e2e/burst.py" "$hub_port" "$ca" "$dir/hub/pki/admin.crt" "$dir/hub/pki/admin.key" \
  >"$dir/burst" || fail "burst: $(cat "$dir/burst")"
cat "$dir/burst"
made=$(curl_hub "$hub_url/clusters/its1/api/v1/namespaces/default/secrets?limit=100000" |
  jq '[.items[] | select(.metadata.name | startswith("burst-"))] | length')
grep -qx "made $made" "$dir/burst" || fail "of the burst there are $made"

say "the access log names requests, not the values of their queries"
curl_hub -o /dev/null "$hub_url/version?token=s3cret" -H 'Authorization: Bearer s3cret'
eventually says 'request="GET /version"' cat "$dir/hub.log"
says s3cret cat "$dir/hub.log" && fail "a secret is in the log"

say "a certificate of strangers is 401, not a broken handshake"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=system:masters/CN=admin -days 2 \
  -keyout "$dir/stranger.key" -out "$dir/stranger.crt" 2>/dev/null
for version in --http1.1 --http2; do
  is 401 curl -s "$version" --cacert "$ca" --cert "$dir/stranger.crt" --key "$dir/stranger.key" -o /dev/null \
    -w '%{http_code}' "$base" || fail "$version: a stranger's certificate"
done

say "connections are counted"
curl_hub "$hub_url/metrics" >"$dir/metrics"
grep -qE '^mailroom_connections [1-9]' "$dir/metrics" || fail "metrics: $(grep mailroom_conn "$dir/metrics")"
grep -qE '^mailroom_requests_http2 [1-9]' "$dir/metrics" || fail "no HTTP/2 requests were counted"

say "ten thousand connections against a limit of two thousand, and against few descriptors"
cat >"$dir/crowd.py" <<'PY'
# Opens as many silent connections as it is told, holds them, and asks on a connection that was
# there before; then goes, and asks on a new one. Given the server's limit and an administrator's
# certificate and key, looks that no more were taken in.
import http.client, resource, socket, ssl, sys, time
port, ca, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
limit = int(sys.argv[4]) if len(sys.argv) > 4 else None
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
if hard > 0:
    count = min(count, hard - 100)
context = ssl.create_default_context(cafile=ca)
def ask(connection):
    connection.request("GET", "/version")
    answer = connection.getresponse()
    answer.read()
    assert answer.status in (200, 401, 403), answer.status
def counts(connection):
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("mailroom_")
            and "{" not in line}
if limit:
    context.load_cert_chain(sys.argv[5], sys.argv[6])
before = http.client.HTTPSConnection("localhost", port, context=context, timeout=60)
ask(before)
crowd = []
for i in range(count):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", port))
    crowd.append(one)
    if i % 200 == 0:
        ask(before)
        if limit:
            assert counts(before)["mailroom_connections"] <= limit, counts(before)
ask(before)
if limit and count > limit:
    assert counts(before)["mailroom_connections_refused"] > 0, counts(before)
for one in crowd:
    one.close()
deadline = time.time() + 60
while True:
    try:
        ask(http.client.HTTPSConnection("localhost", port, context=context, timeout=60))
        break
    except (OSError, http.client.HTTPException):
        if time.time() > deadline:
            raise
        time.sleep(0.1)
print("held", count)
PY
says '^held' /usr/bin/python3 "$dir/crowd.py" "$hub_port" "$ca" 10000 2000 "$dir/hub/pki/admin.crt" \
  "$dir/hub/pki/admin.key"
(ulimit -n 500 && exec "$MAILROOM_BUILD/mailroom" serve --data-dir "$dir/poor" --listen 127.0.0.1:0 \
  --kubeconfig-out "$dir/poor.admin") >"$dir/poor.log" 2>&1 &
pids+=($!)
poor=$!
eventually test -s "$dir/poor.admin"
poor_port=$(sed -nE 's#.*server: "?https://[^:]*:([0-9]+).*#\1#p' "$dir/poor.admin" | head -n 1)
says '^held' /usr/bin/python3 "$dir/crowd.py" "$poor_port" "$dir/poor/pki/ca.crt" 2000
kill "$poor"
wait "$poor" || fail "the hub with few descriptors ended with $?"

say "plain HTTP by flag, and on loopback only"
"$MAILROOM_BUILD/mailroom" serve --data-dir "$dir/plain" --listen 127.0.0.1:0 --plain-http true \
  --kubeconfig-out "$dir/plain.admin" >"$dir/plain.log" 2>&1 &
pids+=($!)
plain=$!
eventually test -s "$dir/plain.admin"
plain_url=$(sed -nE 's#.*server: "?(http://[^/" ]*).*#\1#p' "$dir/plain.admin" | head -n 1)
is ok curl -sS "$plain_url/healthz"
says '"reason": "Unauthorized"' curl -sS -H 'Authorization: Bearer x' "$plain_url/api/v1/namespaces"
kill "$plain"
wait "$plain" || fail "the hub without TLS ended with $?"
if "$MAILROOM_BUILD/mailroom" serve --data-dir "$dir/plain" --listen 0.0.0.0:0 --plain-http true \
  >"$dir/open.log" 2>&1; then
  fail "plain HTTP was served beyond loopback"
fi
says 'loopback addresses only' cat "$dir/open.log"

say "bad HTTP/2"
/usr/bin/python3 "$root/test/e2e/bad_http2.py" "$hub_port" "$ca"
curl_hub -o /dev/null "$hub_url/version"
kill -0 "$hub_pid" || fail "the hub died"
say done
