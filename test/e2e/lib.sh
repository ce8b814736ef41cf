# Shell functions for the end-to-end tests: real processes, real kubectl, waiting on conditions.
# A test sources this file; everything it starts ends with it. Expects MAILROOM_BUILD, the
# directory of the binaries.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${MAILROOM_BUILD:?directory of the mailroom binaries}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/mailroom-e2e.XXXXXX")
pids=()
peers=()
hub_flags=()  # further flags of mailroom serve
kubectl_new=$("$root/hack/peer" path kubectl-1.32)
kubectl_old=$("$root/hack/peer" path kubectl-1.20)

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  for log in "$dir"/*.log; do
    [ -e "$log" ] && { printf -- '--- %s\n' "${log##*/}"; tail -n 40 "$log"; } >&2
  done
  exit 1
}

cleanup() {
  local pid peer
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  for peer in "${peers[@]}"; do
    "$root/hack/peer" stop "$peer" --dir "$dir/$peer" >/dev/null 2>&1 || true
  done
  rm -rf "$dir"
}
trap cleanup EXIT

# eventually COMMAND...: runs it until it succeeds, for at most a minute.
eventually() {
  local end=$((SECONDS + 60))
  until "$@" >"$dir/last" 2>&1; do
    [ $SECONDS -lt $end ] || { cat "$dir/last" >&2; fail "never succeeded: $*"; }
    sleep 0.1
  done
}
# is WANT COMMAND...: its output is exactly WANT.
is() {
  local want=$1 got
  shift
  got=$("$@") || return 1
  [ "$got" = "$want" ] || { printf 'got %q, want %q\n' "$got" "$want" >&2; return 1; }
}
# says PATTERN COMMAND...: its output matches. Not a pipe: grep -q would end it early, and the
# command would fail on writing.
says() {
  local pattern=$1 out
  shift
  out=$("$@") || return 1
  grep -qE -- "$pattern" <<<"$out"
}
gone() { ! "$@" 2>"$dir/gone" && grep -qE 'NotFound|not found|doesn.t have a resource type' "$dir/gone"; }

# start_hub [DATA [PORT]]: hub_pid, hub_url; admin kubeconfig at $dir/admin.
start_hub() {
  local data=${1:-hub} port=${2:-0}
  rm -f "$dir/$data.admin"
  "$MAILROOM_BUILD/mailroom" serve --data-dir "$dir/$data" --listen "127.0.0.1:$port" \
    --kubeconfig-out "$dir/$data.admin" "${hub_flags[@]}" >>"$dir/$data.log" 2>&1 &
  hub_pid=$!
  pids+=("$hub_pid")
  eventually test -s "$dir/$data.admin"
  hub_url=$(sed -nE 's#.*server: "?(https://[^/" ]*).*#\1#p' "$dir/$data.admin" | head -n 1)
  hub_port=${hub_url##*:}
}
# start_etcd VERSION: a real etcd on loopback; its client URL goes into hub_flags.
start_etcd() {
  local binary port peer_port
  binary=$("$root/hack/peer" path "etcd-$1")
  read -r port peer_port < <(python3 -c '
import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
  "$binary" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$port" \
    --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$peer_port" \
    >"$dir/etcd.log" 2>&1 &
  etcd_pid=$!
  pids+=("$etcd_pid")
  hub_flags+=(--etcd-servers "http://127.0.0.1:$port")
  eventually curl -fs "http://127.0.0.1:$port/health"
}
# In a workspace of the hub: k WORKSPACE ARGS...
k() {
  local workspace=$1
  shift
  "$kubectl_new" --cache-dir "$dir/cache" --kubeconfig "$dir/${hub_data:-hub}.admin" --server "$hub_url/clusters/$workspace" "$@"
}
# workspace NAME TYPE: makes one.
workspace() {
  k root apply -f - <<YAML
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: $1}
spec: {type: $2}
YAML
}
k_old() {
  local workspace=$1
  shift
  "$kubectl_old" --cache-dir "$dir/cache-old" --kubeconfig "$dir/${hub_data:-hub}.admin" --server "$hub_url/clusters/$workspace" "$@"
}

# start_wec NAME: a real kube-apiserver; w ARGS... is kubectl there.
start_wec() {
  local name=e2e-$1-$$
  wec_kubeconfig=$("$root/hack/peer" start "$name" --dir "$dir/$name" 2>>"$dir/peer.log" | tail -n 1)
  peers+=("$name")
}
w() { "$kubectl_new" --cache-dir "$dir/cache" --kubeconfig "$wec_kubeconfig" "$@"; }

# mailbox_of SYNCTARGET: prints the name of its mailbox.
mailbox_of() {
  k root get mailboxes -o "jsonpath={range .items[?(@.spec.syncTargetName=='$1')]}{.metadata.name}{end}"
}
has_mailbox() { [ -n "$(mailbox_of "$1")" ]; }

# start_syncer MAILBOX WEC-KUBECONFIG: syncer_pid.
start_syncer() {
  "$MAILROOM_BUILD/mailroom" syncer-kubeconfig --data-dir "$dir/hub" --server "$hub_url" \
    --mailbox "$1" --out "$dir/$1.kubeconfig"
  "$MAILROOM_BUILD/mailroom-syncer" --mailbox-kubeconfig "$dir/$1.kubeconfig" \
    --wec-kubeconfig "$2" --state-dir "$dir/syncer-$1" >>"$dir/syncer.log" 2>&1 &
  syncer_pid=$!
  pids+=("$syncer_pid")
}

# start_webhook: a webhook server of ours; hook_url, its CA as hook_ca and its hook_pid.
start_webhook() {
  say "a webhook server"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=webhook \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/hook.key" -out "$dir/hook.crt" 2>/dev/null
  python3 "$root/test/e2e/webhook.py" "$dir/hook.crt" "$dir/hook.key" "$dir/hook.port" >"$dir/hook.log" 2>&1 &
  hook_pid=$!
  pids+=("$hook_pid")
  eventually test -s "$dir/hook.port"
  hook_url=https://127.0.0.1:$(cat "$dir/hook.port")
  hook_ca=$(base64 -w0 "$dir/hook.crt")
}
