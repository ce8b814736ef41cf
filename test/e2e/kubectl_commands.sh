#!/usr/bin/env bash
# The commands of kubectl that kubectl.sh does not use, each once, with an old and a new kubectl.
. "$(dirname "$0")/lib.sh"

start_hub
workspace c1 cluster

mkdir -p "$dir/kustomize"
cat >"$dir/kustomize/kustomization.yaml" <<'YAML'
namePrefix: from-
commonLabels: {made: kustomize}
resources: [map.yaml]
configMapGenerator:
- name: drawn
  literals: [a=b]
generatorOptions: {disableNameSuffixHash: true}
YAML
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: file}\ndata: {x: "1"}\n' >"$dir/kustomize/map.yaml"
cat >"$dir/editor" <<'SH'
#!/bin/sh
sed -i 's/colour: red/colour: blue/' "$1"
SH
chmod +x "$dir/editor"

creators() {
  "$@" create configmap palette --from-literal=colour=red
  "$@" create secret generic keys --from-literal=a=b
  "$@" create secret docker-registry pull --docker-server=x --docker-username=u --docker-password=p
  "$@" create serviceaccount robot
  "$@" create role reader --verb=get,list --resource=pods,configmaps
  "$@" create rolebinding readers --role=reader --serviceaccount=ns1:robot
  "$@" create clusterrole "reader-$round" --verb=get --resource=nodes
  "$@" create clusterrolebinding "readers-$round" --clusterrole="reader-$round" --user=alice
  "$@" create quota most --hard=pods=2,cpu=1
  "$@" create deployment web --image=registry.example/web:1
  "$@" create job once --image=registry.example/once -- do it
  "$@" create service clusterip front --tcp=80:8080
  "$@" create service externalname away --external-name=example.com
  "$@" create priorityclass "high-$round" --value=1000
  "$@" create ingress door --rule='example.com/*=front:80'
}

# What an old kubectl would create in versions that are gone.
new_creators() {
  "$@" create cronjob nightly --image=registry.example/nightly --schedule='0 1 * * *' -- do it
  "$@" create poddisruptionbudget some --selector=app=web --min-available=1
}

outputs() {
  says '"kind": "ConfigMap"' "$@" get cm palette -o json || fail "-o json"
  says '^kind: ConfigMap' "$@" get cm palette -o yaml || fail "-o yaml"
  is configmap/palette "$@" get cm palette -o name || fail "-o name"
  is red "$@" get cm palette -o 'jsonpath={.data.colour}' || fail "-o jsonpath"
  is red "$@" get cm palette -o 'go-template={{.data.colour}}' || fail "-o go-template"
  says '^N +C$' "$@" get cm palette -o 'custom-columns=N:.metadata.name,C:.data.colour' || fail "-o custom-columns"
  says 'registry.example/web:1' "$@" get deploy web -o wide || fail "-o wide"
  says '^web +0/1' "$@" get deploy web --no-headers || fail "--no-headers"
  says 'app=web' "$@" get deploy --show-labels || fail "--show-labels"
  is 'web' "$@" get deploy -l app=web -o 'jsonpath={.items[*].metadata.name}' || fail "-l"
  is 'palette' "$@" get cm --field-selector metadata.name=palette -o 'jsonpath={.items[*].metadata.name}' || fail "--field-selector"
  says '^NAMESPACE +NAME' "$@" get cm -A || fail "-A"
  "$@" create cm zz >/dev/null
  "$@" create cm aa >/dev/null
  says 'aa' "$@" get cm --sort-by=.metadata.name || fail "--sort-by"
  is "$("$@" get cm --sort-by=.metadata.name -o name | sort)" "$@" get cm --sort-by=.metadata.name -o name || fail "order of --sort-by"
  says 'deployment.apps/web' "$@" get all || fail "get all"
  says 'job.batch/once' "$@" get all || fail "get all"
  says '{"app":"web"}|app=web' "$@" describe deployment web || fail "describe"
  says 'colour' "$@" describe cm palette || fail "describe"
  says '^Verbs|\[get list\]' "$@" describe role reader || fail "describe role"
  says '^Name: +most' "$@" describe quota most || fail "describe quota"
}

changes() {
  EDITOR="$dir/editor" "$@" edit cm palette
  is blue "$@" get cm palette -o 'jsonpath={.data.colour}' || fail "edit"
  "$@" get cm palette -o yaml | sed 's/colour: blue/colour: green/' | "$@" replace -f -
  is green "$@" get cm palette -o 'jsonpath={.data.colour}' || fail "replace"
  "$@" get cm palette -o yaml | sed 's/colour: green/colour: grey/' | "$@" replace --force -f -
  is grey "$@" get cm palette -o 'jsonpath={.data.colour}' || fail "replace --force"
  "$@" patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.example/web:2"}]}}}}'
  "$@" patch deploy web --type merge -p '{"spec":{"replicas":2}}'
  "$@" patch deploy web --type json -p '[{"op":"add","path":"/metadata/labels/tier","value":"1"}]'
  is 'registry.example/web:2 2 1' "$@" get deploy web -o \
    'jsonpath={.spec.template.spec.containers[*].image} {.spec.replicas} {.metadata.labels.tier}' || fail "patch"
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: palette}\ndata: {size: "9"}\n' |
    "$@" apply --server-side -f -
  is 'grey 9' "$@" get cm palette -o 'jsonpath={.data.colour} {.data.size}' || fail "apply --server-side"
  "$@" set image deploy/web '*=registry.example/web:3'
  says 'deployment.apps/web ' "$@" rollout history deploy/web || fail "rollout history"
  says 'Waiting for deployment' "$@" rollout status deploy/web --watch=false || fail "rollout status"
  "$@" rollout pause deploy/web
  is true "$@" get deploy web -o 'jsonpath={.spec.paused}' || fail "rollout pause"
  "$@" autoscale deploy web --min=1 --max=3
  is 3 "$@" get hpa web -o 'jsonpath={.spec.maxReplicas}' || fail "autoscale"
  "$@" scale deploy web --replicas=4 --current-replicas=2
  ! "$@" scale deploy web --replicas=5 --current-replicas=2 2>/dev/null || fail "scale precondition"
  "$@" label cm palette a=b c=d
  "$@" label cm palette a-
  is '{"c":"d"}' "$@" get cm palette -o 'jsonpath={.metadata.labels}' || fail "label"
  "$@" annotate --overwrite cm palette note=x
}

waits() {
  "$@" create --dry-run=server -o name -f "$dir/kustomize/map.yaml" >/dev/null
  gone "$@" get cm file || fail "--dry-run=server stored something"
  "$@" apply -k "$dir/kustomize"
  is 'from-drawn from-file' "$@" get cm -l made=kustomize -o 'jsonpath={.items[*].metadata.name}' || fail "kustomize"
  sed -i 's/x: "1"/x: "2"/' "$dir/kustomize/map.yaml"
  ! "$@" diff -k "$dir/kustomize" >"$dir/diff" || fail "no difference seen"
  grep -q 'x: "2"' "$dir/diff" || fail "diff: $(cat "$dir/diff")"
  sed -i 's/x: "2"/x: "1"/' "$dir/kustomize/map.yaml"
  "$@" delete -k "$dir/kustomize"
  "$@" wait --for=delete cm/from-file --timeout=30s 2>/dev/null || gone "$@" get cm from-file || fail "wait --for=delete"
  "$@" patch cm palette --type merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
  "$@" delete cm palette --wait=false
  ! "$@" wait --for=delete cm/palette --timeout=1s 2>/dev/null || fail "waited for what is held"
  "$@" patch cm palette --type merge -p '{"metadata":{"finalizers":null}}'
  gone "$@" get cm palette || fail "finalizer"
  "$@" delete deploy web --cascade=orphan 2>/dev/null || "$@" delete deploy web --cascade=false
  gone "$@" get deploy web || fail "delete --cascade"
  "$@" delete cm --all
  is '' "$@" get cm -o 'jsonpath={.items[?(@.metadata.name!="kube-root-ca.crt")].metadata.name}' || fail "delete --all"
}

# A watch in tables: the head once, then a row for each change.
watches() {
  local pid
  "$@" create cm seen --from-literal=a=b
  "$@" get cm seen -w >"$dir/table" 2>"$dir/watch.err" &
  pid=$!
  pids+=("$pid")
  eventually grep -qE '^seen +1 +[0-9]+' "$dir/table"
  "$@" get cm seen -w --output-watch-events >"$dir/events" 2>"$dir/watch.err" &
  pids+=("$!")
  eventually grep -qE '^ADDED +seen +1 ' "$dir/events"
  "$@" patch cm seen --type merge -p '{"data":{"c":"d"}}'
  eventually grep -qE '^seen +2 +[0-9]+' "$dir/table"
  eventually grep -qE '^MODIFIED +seen +2 ' "$dir/events"
  "$@" delete cm seen
  eventually grep -qE '^DELETED +seen +2 ' "$dir/events"
  kill "$pid" "${pids[-1]}"
  is 1 grep -cE '^NAME +DATA +AGE' "$dir/table" || fail "head of a watched table: $(cat "$dir/table")"
  is 1 grep -cE '^EVENT +NAME +DATA +AGE' "$dir/events" || fail "head of watched events: $(cat "$dir/events")"
}

chunks() {
  local i
  for i in 1 2 3 4 5 6 7; do "$@" create cm "page$i"; done
  "$@" get cm --chunk-size=2 -v=6 >"$dir/pages" 2>"$dir/asked"
  for i in 1 2 3 4 5 6 7; do
    is 1 grep -cE "^page$i " "$dir/pages" || fail "--chunk-size: $(cat "$dir/pages")"
  done
  is 1 grep -cE '^NAME +DATA +AGE' "$dir/pages" || fail "head of pages: $(cat "$dir/pages")"
  [ "$(grep -c 'continue=' "$dir/asked")" -ge 3 ] || fail "pages were not asked for: $(cat "$dir/asked")"
  "$@" delete cm page1 page2 page3 page4 page5 page6 page7
}

# What becomes of what belongs to a deleted object.
cascades() {
  local how uid
  for how in background foreground orphan; do
    "$@" create cm owner
    uid=$("$@" get cm owner -o 'jsonpath={.metadata.uid}')
    "$@" create -f - <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $uid, blockOwnerDeletion: true}]
YAML
    "$@" delete cm owner --cascade=$how
    gone "$@" get cm owner || fail "--cascade=$how"
    case $how in
      background) eventually gone "$@" get cm owned ;;
      foreground) gone "$@" get cm owned || fail "the owner went first" ;;
      orphan)
        is owned "$@" get cm owned -o 'jsonpath={.metadata.name}{.metadata.ownerReferences}' || fail "--cascade=orphan"
        "$@" delete cm owned
        ;;
    esac
  done
}

documents() {
  says '^pods +po +v1 +true +Pod' "$@" api-resources || fail "api-resources"
  says '^deployments +deploy +apps/v1' "$@" api-resources --api-group=apps || fail "api-resources --api-group"
  says 'horizontalpodautoscalers' "$@" api-resources --categories=all -o name 2>/dev/null ||
    says 'horizontalpodautoscalers' "$@" api-resources -o name || fail "api-resources -o name"
  says '^apps/v1$' "$@" api-versions || fail "api-versions"
  says 'merged by port and protocol' "$@" explain service.spec.ports || fail "explain in words"
  says 'readOnlyRootFilesystem' "$@" explain pod.spec.containers.securityContext || fail "explain"
  says 'containers' "$@" explain --recursive deployment.spec || fail "explain --recursive"
  says '"gitVersion"' "$@" get --raw "/clusters/c1/version" || fail "get --raw"
  says 'GitVersion|Server Version' "$@" version || fail "version"
}

nodes() {
  "$@" apply -f - <<YAML
apiVersion: v1
kind: Node
metadata: {name: node-$round}
---
apiVersion: v1
kind: Pod
metadata: {name: guest}
spec:
  nodeName: node-$round
  containers: [{name: c, image: registry.example/guest, resources: {requests: {cpu: 100m}}}]
YAML
  "$@" drain "node-$round" --force --grace-period=0 --timeout=30s
  says 'SchedulingDisabled' "$@" get node "node-$round" || fail "cordon"
  gone "$@" get pod guest || fail "drain"
  "$@" uncordon "node-$round"
  "$@" delete node "node-$round"
}

# Containers that look into a pod; an old kubectl asks for them by a kind that is gone.
looks() {
  "$@" run watched --image=registry.example/watched --overrides='{"spec": {"containers": [{"name": "watched", "image": "registry.example/watched", "resources": {"requests": {"cpu": "100m"}}}]}}'
  "$@" debug watched --image=registry.example/tools --profile=general -c eye
  is eye "$@" get pod watched -o 'jsonpath={.spec.ephemeralContainers[*].name}' || fail "debug"
  "$@" patch pod watched --subresource resize -p '{"spec": {"containers": [{"name": "watched", "resources": {"requests": {"cpu": "200m"}}}]}}'
  is 200m "$@" get pod watched -o 'jsonpath={.spec.containers[0].resources.requests.cpu}' || fail "resize"
  "$@" delete pod watched --now
}

# all FUNCTION: every part of this test with that kubectl.
all() {
  local kc=("$1" c1 -n ns1)
  round=${1/_/-}
  say "$1: creators"
  "${kc[@]}" create namespace ns1
  creators "${kc[@]}" >"$dir/created"
  is 15 wc -l <"$dir/created" || fail "creators: $(cat "$dir/created")"
  [ "$1" = k_old ] || new_creators "${kc[@]}"
  say "$1: outputs"
  outputs "${kc[@]}"
  say "$1: changes"
  changes "${kc[@]}"
  say "$1: waits and deletes"
  waits "${kc[@]}"
  say "$1: watches, pages and cascades"
  watches "${kc[@]}"
  chunks "${kc[@]}"
  cascades "${kc[@]}"
  say "$1: documents"
  documents "${kc[@]}"
  say "$1: nodes and what looks into pods"
  nodes "${kc[@]}"
  [ "$1" = k_old ] || looks "${kc[@]}"
  "${kc[@]}" delete namespace ns1
  gone "$1" c1 get namespace ns1 || fail "namespace"
}

all k
all k_old
say "every command holds"
