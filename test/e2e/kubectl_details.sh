#!/usr/bin/env bash
# What kubectl can do besides, with an old and a new kubectl: files of templates, sets of labels,
# histories of rollouts, what was applied last, pruning, rights, proxies.
. "$(dirname "$0")/lib.sh"

start_hub
workspace c1 cluster

cat >"$dir/web.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "registry.example/web:2"}
YAML
printf '{.data.colour}' >"$dir/path"
printf '{{.data.colour}}' >"$dir/template"
printf 'NAME COLOUR\n.metadata.name .data.colour\n' >"$dir/columns"
cat >"$dir/editor" <<'SH'
#!/bin/sh
sed -i 's/"\{0,1\}size"\{0,1\}: "1"/size: "2"/' "$1"
SH
chmod +x "$dir/editor"

reads() {
  "$@" create cm one --from-literal=colour=red
  "$@" create cm two --from-literal=colour=blue
  "$@" label cm one tier=a kind=x
  "$@" label cm two tier=b
  is red "$@" get cm one -o "jsonpath-file=$dir/path" || fail "-o jsonpath-file"
  is red "$@" get cm one -o "go-template-file=$dir/template" || fail "-o go-template-file"
  says '^one +red$' "$@" get cm one -o "custom-columns-file=$dir/columns" || fail "-o custom-columns-file"
  is 'configmap/one configmap/two' echo "$("$@" get cm -l 'tier in (a,b)' -o name | xargs)" || fail "in"
  is configmap/two "$@" get cm -l 'tier,tier notin (a)' -o name || fail "notin"
  is configmap/two "$@" get cm -l 'tier,!kind' -o name || fail "not there"
  is configmap/one "$@" get cm -l 'tier!=b,kind' -o name || fail "!="
  is configmap/one "$@" get cm -l tier --field-selector 'metadata.name!=two' -o name || fail "--field-selector !="
  says '^configmap/one ' "$@" get cm,secret --show-kind || fail "--show-kind"
  says '^one +1 +[0-9]+[smh] +a +x$' "$@" get cm one -L tier,kind || fail "-L"
  is '' "$@" get cm none --ignore-not-found || fail "--ignore-not-found"
  is 'one two' echo "$("$@" get -f - -o 'jsonpath={.items[*].metadata.name}' <<<'{"apiVersion":"v1","kind":"List","items":[
    {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}},
    {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two"}}]}')" || fail "get -f"
  "$@" delete cm -l 'tier in (a,b)'
  is '' "$@" get cm -l tier -o name || fail "delete -l"
}

# Every kind a user makes is described, whatever is not there.
describes() {
  local object
  "$@" create secret generic keys --from-literal=a=b
  "$@" create quota most --hard=pods=9
  "$@" create sa robot
  "$@" create role reader --verb=get --resource=pods
  "$@" create rolebinding readers --role=reader --serviceaccount=ns1:robot
  "$@" create job once --image=registry.example/once
  "$@" create service clusterip front --tcp=80:8080
  "$@" create ingress door --rule='example.com/*=front:80'
  "$@" create priorityclass "high-$round" --value=1000
  "$@" apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: guest}
spec: {containers: [{name: c, image: registry.example/guest, resources: {requests: {cpu: 1m}}}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: shut}
spec: {podSelector: {}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: bounds}
spec: {limits: [{type: Container, max: {cpu: "2"}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: registry.example/db}]}}
YAML
  "$@" create -f - <<YAML
apiVersion: v1
kind: Event
metadata: {name: told}
involvedObject:
  {apiVersion: v1, kind: Pod, name: guest, namespace: ns1, uid: $("$@" get pod guest -o 'jsonpath={.metadata.uid}')}
reason: Tested
message: somebody looked
type: Normal
count: 1
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
source: {component: test}
YAML
  for object in secret/keys quota/most sa/robot role/reader rolebinding/readers job/once service/front \
    ingress/door pod/guest pvc/claim networkpolicy/shut limitrange/bounds statefulset/db \
    "priorityclass/high-$round" ns/ns1 clusterrole/view; do
    says '^Name: +' "$@" describe "$object" || fail "describe $object"
  done
  says 'somebody looked' "$@" describe pod guest || fail "events of a described object"
  is Tested "$@" get events --field-selector involvedObject.name=guest -o 'jsonpath={.items[*].reason}' || fail events
  says 'Tested' "$@" get events --sort-by=.lastTimestamp || fail "events in order"
  [ "$round" = k-old ] || says Tested "$@" events --for pod/guest || fail "events --for"
  "$@" delete pod guest --now
  "$@" delete event told --wait=false
}

# A ReplicaSet as the controller of deployments leaves it behind.
former() {
  local uid=$1
  cat <<YAML
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-$2
  labels: {app: web, pod-template-hash: h$2}
  annotations: {deployment.kubernetes.io/revision: "$2", kubernetes.io/change-cause: "web:$2"}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: $uid, controller: true}]
spec:
  replicas: 0
  selector: {matchLabels: {app: web, pod-template-hash: h$2}}
  template:
    metadata: {labels: {app: web, pod-template-hash: h$2}}
    spec: {containers: [{name: web, image: "registry.example/web:$2"}]}
YAML
}

rollouts() {
  local uid
  "$@" apply -f "$dir/web.yaml"
  uid=$("$@" get deploy web -o 'jsonpath={.metadata.uid}')
  { former "$uid" 1; echo ---; former "$uid" 2; } | "$@" create -f -
  says '^1 +web:1' "$@" rollout history deploy/web || fail "rollout history"
  says '^2 +web:2' "$@" rollout history deploy/web || fail "rollout history"
  says 'registry.example/web:1' "$@" rollout history deploy/web --revision=1 || fail "one revision"
  says 'Waiting for deployment' "$@" rollout status deploy/web --watch=false || fail "rollout status"
  # What a controller would tell; only a new kubectl can.
  k c1 -n ns1 patch deploy web --subresource=status --type merge -p '{"status":{"observedGeneration":1,
    "replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,
    "conditions":[{"type":"Available","status":"True","reason":"R","message":"m"}]}}'
  says 'successfully rolled out' "$@" rollout status deploy/web --timeout=30s || fail "rollout status at its end"
  "$@" wait --for=condition=Available deploy/web --timeout=30s
  ! "$@" wait --for=condition=Progressing deploy/web --timeout=1s 2>/dev/null || fail "waited for nothing"
  says '^web +1/1 +1 +1' "$@" get deploy web || fail "what the status says in a table"
  "$@" rollout undo deploy/web
  is 'registry.example/web:1' "$@" get deploy web -o 'jsonpath={.spec.template.spec.containers[0].image}' ||
    fail "rollout undo"
  "$@" rollout pause deploy/web
  "$@" rollout resume deploy/web
  is '' "$@" get deploy web -o 'jsonpath={.spec.paused}' || fail "rollout resume"
  "$@" rollout restart deploy/web
  says restartedAt "$@" get deploy web -o yaml || fail "rollout restart"
}

sets() {
  "$@" set env deploy/web SHADE=dark
  "$@" set resources deploy web --limits=cpu=200m,memory=64Mi
  "$@" set serviceaccount deploy web robot
  is 'dark 200m robot' "$@" get deploy web -o \
    'jsonpath={.spec.template.spec.containers[0].env[0].value} {.spec.template.spec.containers[0].resources.limits.cpu} {.spec.template.spec.serviceAccountName}' || fail "set"
  "$@" set env deploy/web SHADE-
  is '' "$@" get deploy web -o 'jsonpath={.spec.template.spec.containers[0].env}' || fail "set env VAR-"
  "$@" set selector service front app=web
  is '{"app":"web"}' "$@" get service front -o 'jsonpath={.spec.selector}' || fail "set selector"
  "$@" set subject rolebinding readers --user=bob
  says bob "$@" describe rolebinding readers || fail "set subject"
  "$@" expose deploy web --port=80 --name=shown
  is 80 "$@" get service shown -o 'jsonpath={.spec.ports[0].port}' || fail expose
  "$@" annotate deploy web note=x
  is x "$@" get deploy web -o 'jsonpath={.metadata.annotations.note}' || fail annotate
  ! "$@" annotate deploy web note=y 2>/dev/null || fail "overwritten without leave"
  "$@" create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-$round\"}}"
  "$@" taint node "node-$round" use=special:NoSchedule
  is special "$@" get node "node-$round" -o 'jsonpath={.spec.taints[?(@.key=="use")].value}' || fail taint
  "$@" taint node "node-$round" use-
  is '' "$@" get node "node-$round" -o 'jsonpath={.spec.taints[?(@.key=="use")].value}' || fail "taint key-"
  "$@" delete node "node-$round"
}

applies() {
  local prune=$1 left='{"size":"1"}'
  shift
  map() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {set: pruned}}\ndata: {size: "1"}\n---\n' "$@"; }
  map a | "$@" create --save-config -f -
  says 'size: "1"' "$@" apply view-last-applied cm/a || fail "view-last-applied"
  EDITOR="$dir/editor" "$@" apply edit-last-applied cm/a
  says 'size: "2"' "$@" apply view-last-applied cm/a || fail "edit-last-applied"
  map a >"$dir/a.yaml"
  "$@" apply set-last-applied -f "$dir/a.yaml"
  says 'size: "1"' "$@" apply view-last-applied cm/a || fail "set-last-applied"
  map a b c | "$@" apply -f -
  map a | sed 's/"1"/"3"/' | "$@" apply --dry-run=server -f -
  is 1 "$@" get cm a -o 'jsonpath={.data.size}' || fail "apply --dry-run=server wrote"
  map a b | "$@" apply --prune -l set=pruned $prune -f -
  is 'configmap/a configmap/b' echo "$("$@" get cm -l set=pruned -o name | xargs)" || fail "apply --prune"
  ! map a | sed 's/"1"/"3"/' | "$@" diff -f - >"$dir/diff" || fail "no difference seen"
  grep -qE '^\+ +size: "3"' "$dir/diff" || fail "diff: $(cat "$dir/diff")"
  map a | "$@" diff -f - || fail "a difference to what is there"
  # Only a new kubectl gives up what it applied as a client; neither meets a conflict with itself.
  [ "$round" = k-old ] && left='{"colour":"red","size":"1"}'
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: moved}\ndata: {size: "1", colour: red}\n' >"$dir/moved.yaml"
  "$@" apply -f "$dir/moved.yaml"
  sed -i 's/, colour: red//' "$dir/moved.yaml"
  "$@" apply --server-side -f "$dir/moved.yaml"
  is "$left" "$@" get cm moved -o 'jsonpath={.data}' || fail "from apply to apply --server-side"
  map b | "$@" apply --server-side --field-manager=other --force-conflicts -f -
  ! map b | sed 's/"1"/"4"/' | "$@" apply --server-side --field-manager=third -f - 2>"$dir/conflict" || fail "no conflict"
  grep -qE 'conflicts? with "other"' "$dir/conflict" || fail "$(cat "$dir/conflict")"
  map a b | "$@" delete -f - --ignore-not-found
}

rights() {
  "$@" auth reconcile -f - <<YAML
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: ns1}
rules:
- {apiGroups: [""], resources: [pods, configmaps], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reconciled, namespace: ns1}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: carol}]
YAML
  is yes "$@" auth can-i list configmaps --as carol || fail "auth can-i"
  is 'configmaps configmaps pods pods' echo "$("$@" get role reader -o 'jsonpath={.rules[*].resources[*]}' |
    xargs -n 1 | sort | xargs)" || fail "auth reconcile"
  says '^configmaps +\[\] +\[\] +\[(get list|list get)\]' "$@" auth can-i --list --as carol || fail "auth can-i --list"
}

# A proxy of kubectl's own before the workspace.
proxies() {
  local shell pid port path=$1
  shift
  : >"$dir/proxy"
  "$@" proxy --port=0 >"$dir/proxy" 2>&1 &
  shell=$!
  eventually grep -q 'Starting to serve' "$dir/proxy"
  pid=$(cat "/proc/$shell/task/$shell/children")
  pids+=($pid)
  port=$(sed -nE 's/.*127.0.0.1:([0-9]+).*/\1/p' "$dir/proxy")
  is '"ns1"' jq .metadata.name <(curl -fsS "http://127.0.0.1:$port$path/api/v1/namespaces/ns1") || fail "proxy"
  kill $pid
  wait "$shell" || true
}

# What an old kubectl does not know.
news() {
  is 1 "$@" get deploy web --subresource=scale -o 'jsonpath={.spec.replicas}' || fail "get --subresource"
  is 1 "$@" get deploy web --subresource=status -o 'jsonpath={.status.replicas}' || fail "get --subresource"
  "$@" patch deploy web --subresource=scale --type merge -p '{"spec":{"replicas":2}}'
  "$@" wait --for=jsonpath='{.spec.replicas}'=2 deploy/web --timeout=30s
  ! "$@" wait --for=jsonpath='{.spec.replicas}'=3 deploy/web --timeout=1s 2>/dev/null || fail "waited for nothing"
  "$@" create cm waited --from-literal=a=b
  "$@" wait --for=create cm/waited --timeout=30s
  says '"red"' "$@" create cm json --from-literal=colour=red --dry-run=server -o 'jsonpath-as-json={.data.colour}' ||
    fail "-o jsonpath-as-json"
  says 'managedFields' "$@" get cm waited -o yaml --show-managed-fields || fail "--show-managed-fields"
  "$@" diff --server-side --force-conflicts -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"waited"}}' ||
    fail "diff --server-side"
  says 'FIELD: replicas' "$@" explain deployment.spec.replicas --api-version=apps/v1 || fail "explain --api-version"
  says '^[a-z.]+ ' "$@" api-resources --sort-by=kind --verbs=list,get -o wide || fail "api-resources -o wide"
}

# all FUNCTION PRUNE: every part of this test with that kubectl.
all() {
  local kc=("$1" c1 -n ns1)
  round=${1/_/-}
  say "$1: reads"
  "${kc[@]}" create namespace ns1
  reads "${kc[@]}"
  say "$1: describes"
  describes "${kc[@]}"
  say "$1: rollouts"
  rollouts "${kc[@]}"
  say "$1: sets"
  sets "${kc[@]}"
  say "$1: applies"
  applies "$2" "${kc[@]}"
  say "$1: rights, proxies"
  rights "${kc[@]}"
  proxies /clusters/c1 "${kc[@]}"
  says 'is running at' "${kc[@]}" cluster-info || fail "cluster-info"
  [ "$1" = k_old ] || news "${kc[@]}"
  "${kc[@]}" delete namespace ns1
  gone "$1" c1 get namespace ns1 || fail "namespace"
}

all k ''
all k_old --prune-whitelist=core/v1/ConfigMap
say "every detail holds"
