#!/usr/bin/env bash
# What people type every day, with an old and a new kubectl, in a workspace.
. "$(dirname "$0")/lib.sh"

start_hub

# everyday FUNCTION WORKSPACE: FUNCTION is kubectl in a workspace.
everyday() {
  local kc=$1 ws=$2 out pid
  say "$kc: apply, get, describe, change, delete in $ws"
  "$kc" "$ws" version >/dev/null
  says '^deployments ' "$kc" "$ws" api-resources || fail "api-resources"
  "$kc" "$ws" apply -f "$root/deploy/demo/widgets-crd.yaml"
  "$kc" "$ws" apply -f "$root/deploy/demo/widgets.yaml"
  says 'deployment.apps/web unchanged' "$kc" "$ws" apply -f "$root/deploy/demo/widgets.yaml" ||
    fail "applying the same twice must change nothing"

  out=$("$kc" "$ws" -n widgets get deployments)
  grep -qE '^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$' <<<"$out" || fail "table head: $out"
  grep -qE '^web +0/2 +0 +0 +[0-9]+' <<<"$out" || fail "table row: $out"
  says 'registry.example/web:1' "$kc" "$ws" -n widgets get deployment web -o wide || fail "wide"
  is 2 "$kc" "$ws" -n widgets get deploy web -o 'jsonpath={.spec.replicas}' || fail "jsonpath"
  says 'RollingUpdateStrategy:  25% max unavailable' "$kc" "$ws" -n widgets describe deployment web ||
    fail "describe deployment"
  says 'Size: +small' "$kc" "$ws" -n widgets describe widget widget-demo || fail "describe widget"
  says 'Status: +Active' "$kc" "$ws" describe namespace widgets || fail "describe namespace"

  "$kc" "$ws" -n widgets get widgets -w -o name >"$dir/watched" 2>"$dir/watch.err" &
  pid=$!
  pids+=("$pid")
  eventually grep -q widget-demo "$dir/watched"
  sed 's/widget-demo/second/; s/small/big/' "$root/deploy/demo/widgets.yaml" | "$kc" "$ws" apply -f - >/dev/null
  eventually grep -q second "$dir/watched"
  kill "$pid"

  sed 's/replicas: 2/replicas: 5/; s/web:1/web:2/' "$root/deploy/demo/widgets.yaml" >"$dir/changed.yaml"
  says 'deployment.apps/web configured' "$kc" "$ws" apply -f "$dir/changed.yaml" || fail "apply a change"
  is 'registry.example/web:2' "$kc" "$ws" -n widgets get deploy web \
    -o 'jsonpath={.spec.template.spec.containers[0].image}' || fail "strategic merge"
  "$kc" "$ws" -n widgets scale deployment web --replicas=3
  is 3 "$kc" "$ws" -n widgets get deploy web -o 'jsonpath={.spec.replicas}' || fail "scale"
  "$kc" "$ws" -n widgets label widget second tier=1
  "$kc" "$ws" -n widgets annotate widget second note=x
  is second "$kc" "$ws" -n widgets get widgets -l tier=1 -o 'jsonpath={.items[*].metadata.name}' || fail "selector"
  "$kc" "$ws" -n widgets patch widget second --type json -p '[{"op":"replace","path":"/spec/size","value":"xl"}]'
  is xl "$kc" "$ws" -n widgets get widget second -o 'jsonpath={.spec.size}' || fail "json patch"
  "$kc" "$ws" create namespace made-by-hand
  "$kc" "$ws" -n made-by-hand create configmap c --from-literal=a=b
  "$kc" "$ws" -n made-by-hand create secret generic s --from-literal=a=b
  is b "$kc" "$ws" -n made-by-hand get configmap c -o 'jsonpath={.data.a}' || fail "configmap"
  is Yg== "$kc" "$ws" -n made-by-hand get secret s -o 'jsonpath={.data.a}' || fail "secret"
  says rollingUpdate "$kc" "$ws" explain deployment.spec.strategy || fail "explain"
  ! printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nnonsense: 1\n' |
    "$kc" "$ws" -n made-by-hand create -f - 2>"$dir/bad" || fail "unknown field accepted"
  grep -qE 'unknown field "nonsense"' "$dir/bad" || fail "$(cat "$dir/bad")"

  "$kc" "$ws" -n widgets delete widget widget-demo
  gone "$kc" "$ws" -n widgets get widget widget-demo || fail "delete"
  "$kc" "$ws" delete namespace widgets made-by-hand
  gone "$kc" "$ws" get namespace widgets || fail "namespace deletion"
  "$kc" "$ws" delete crd widgets.example.com
  gone "$kc" "$ws" get widgets || fail "crd deletion"
}

everyday k wds1
everyday k_old wds1
workspace c1 cluster
everyday k c1

say "server-side apply, diff, wait and dry run"
k c1 apply --server-side -f "$root/deploy/demo/widgets-crd.yaml"
k c1 wait --for=condition=Established crd/widgets.example.com --timeout=10s
k c1 apply --server-side -f "$root/deploy/demo/widgets.yaml"
k c1 diff -f "$root/deploy/demo/widgets.yaml" || fail "no difference expected"
sed 's/replicas: 2/replicas: 4/' "$root/deploy/demo/widgets.yaml" | k c1 apply --server-side --dry-run=server -f - >/dev/null
is 2 k c1 -n widgets get deploy web -o 'jsonpath={.spec.replicas}' || fail "dry run changed something"
! sed 's/replicas: 2/replicas: 4/' "$root/deploy/demo/widgets.yaml" |
  k c1 apply --server-side --field-manager=other -f - 2>"$dir/conflict" || fail "no conflict"
grep -q 'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas' "$dir/conflict" || fail "$(cat "$dir/conflict")"

say "lists page and stay sorted"
for i in 1 2 3 4 5 6 7; do k c1 create configmap "m$i" >/dev/null; done
is 'kube-root-ca.crt m1 m2 m3 m4 m5 m6 m7' k c1 get configmaps --chunk-size=2 -o 'jsonpath={.items[*].metadata.name}' || fail "chunks"
say "everyday kubectl holds"
