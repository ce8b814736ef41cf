#!/usr/bin/env bash
# Real client libraries in a workspace, while the server is restarted under them.
. "$(dirname "$0")/lib.sh"

start_hub
workspace c1 cluster

# restarted_under COMMAND...: runs it in the background with a folder for its wishes, and restarts
# the hub on the same port when it asks for that.
restarted_under() {
  local folder=$dir/wishes pid
  mkdir "$folder"
  "$@" "$folder" >"$dir/client.log" 2>&1 &
  pid=$!
  pids+=("$pid")
  while [ ! -e "$folder/restart" ]; do
    kill -0 "$pid" 2>/dev/null || fail "$1 ended early"
    sleep 0.1
  done
  kill -9 "$hub_pid"
  wait "$hub_pid" 2>/dev/null || true
  start_hub hub "$hub_port"
  touch "$folder/restarted"
  wait "$pid" || fail "$1"
  cat "$dir/client.log"
  rm -r "$folder"
}

say "Python"
restarted_under /usr/bin/python3 "$root/test/e2e/client_python.py" "$dir/hub.admin" "$hub_url/clusters/c1"
say "JavaScript"
library=$("$root/hack/clients" node)
restarted_under node "$root/test/e2e/client_node.mjs" "$library" "$dir/hub.admin" "$hub_url/clusters/c1"
say "client libraries hold"
