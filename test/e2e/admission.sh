#!/usr/bin/env bash
# Admission as people meet it: a real webhook over HTTPS, policies, quotas and limit ranges in a
# workspace that behaves like a cluster; and all of them inert in one that only carries them.
. "$(dirname "$0")/lib.sh"

start_hub
workspace c1 cluster

start_webhook

# hooks KIND PATH: a configuration for ConfigMaps of namespace default.
hooks() {
  cat <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: $1
metadata: {name: e2e}
webhooks:
- name: e2e.example.com
  clientConfig: {url: "$hook_url/$2", caBundle: $hook_ca}
  rules:
  - {operations: [CREATE, UPDATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}
  sideEffects: None
  admissionReviewVersions: [v1]
  timeoutSeconds: ${3:-10}
YAML
}

refused() {
  local pattern=$1
  shift
  ! "$@" >"$dir/refused" 2>&1 || fail "not refused: $*"
  grep -qE -- "$pattern" "$dir/refused" || fail "$(cat "$dir/refused")"
}

hooks ValidatingWebhookConfiguration validate | k c1 apply -f -
hooks MutatingWebhookConfiguration mutate | k c1 apply -f -
for kc in k k_old; do
  say "$kc: the webhook's words, its change and its warning"
  refused 'admission webhook "e2e.example.com" denied the request: this data is denied: because' \
    "$kc" c1 create configmap "bad-${kc/_/-}" --from-literal=deny=because
  "$kc" c1 create configmap "good-${kc/_/-}" --from-literal=warn='mind the gap' 2>"$dir/warned"
  grep -q 'Warning: mind the gap' "$dir/warned" || fail "no warning: $(cat "$dir/warned")"
  is webhook "$kc" c1 get configmap "good-${kc/_/-}" -o 'jsonpath={.metadata.labels.seen-by}' || fail "not mutated"
done

say "a webhook that hangs harms only those it is asked about, and only for its time"
hooks ValidatingWebhookConfiguration hang 1 | k c1 apply -f -
refused 'failed calling webhook "e2e.example.com": failed to call webhook: Post ".*/hang\?timeout=1s": context deadline exceeded' \
  k c1 create configmap late
k c1 create secret generic untouched --from-literal=a=b
k c1 delete validatingwebhookconfiguration,mutatingwebhookconfiguration e2e
k c1 create configmap late

say "a policy with parameters, variables and a message of its own"
k c1 create configmap limit --from-literal=max=3
k c1 apply -f - <<'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas.example.com}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {operations: [CREATE, UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}
  variables:
  - {name: most, expression: int(params.data.max)}
  validations:
  - expression: object.spec.replicas <= variables.most
    messageExpression: "'at most ' + string(variables.most) + ' replicas in ' + namespaceObject.metadata.name"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec:
  policyName: replicas.example.com
  paramRef: {name: limit, namespace: default, parameterNotFoundAction: Deny}
  validationActions: [Deny]
YAML
for kc in k k_old; do
  refused "ValidatingAdmissionPolicy 'replicas.example.com' with binding 'replicas' denied request: at most 3 replicas in default" \
    "$kc" c1 create deployment web --image=registry.example/web:1 --replicas=4
done
k c1 create deployment web --image=registry.example/web:1 --replicas=3
refused 'undeclared reference' k c1 apply -f - <<'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: bad.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}
  validations: [{expression: nonsense > 1}]
YAML

say "a policy that changes objects"
k c1 apply -f - <<'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label.example.com}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [secrets]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'by': 'policy'}}}"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: label}
spec: {policyName: label.example.com}
YAML
k c1 create secret generic labelled --from-literal=a=b
is policy k c1 get secret labelled -o 'jsonpath={.metadata.labels.by}' || fail "policy did not change the secret"

say "quotas and limit ranges"
k c1 create namespace bounded
k c1 -n bounded create quota q --hard=configmaps=2,pods=2  # one is kube-root-ca.crt
k c1 -n bounded apply -f - <<'YAML'
apiVersion: v1
kind: LimitRange
metadata: {name: l}
spec:
  limits:
  - {type: Container, max: {cpu: 500m}, default: {cpu: 200m}}
YAML
eventually says 'configmaps: 1/2' k c1 -n bounded get quota
k c1 -n bounded create configmap one
for kc in k k_old; do
  refused 'configmaps "two" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2' \
    "$kc" c1 -n bounded create configmap two
done
k c1 -n bounded delete configmap one
eventually k c1 -n bounded create configmap two
k c1 -n bounded run p --image=registry.example/p:1
is 200m k c1 -n bounded get pod p -o 'jsonpath={.spec.containers[0].resources.limits.cpu}' || fail "no default"

say "the same objects only lie in a workload workspace"
hooks ValidatingWebhookConfiguration validate | k wds1 apply -f -
k wds1 create quota q --hard=configmaps=0
k wds1 create configmap carried --from-literal=deny=because
say "admission holds"
