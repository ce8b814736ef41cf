#!/usr/bin/env bash
# Definitions as operators use them, with an old and a new kubectl: create, explain, strict
# validation, columns, selectable fields, rules, several versions, deletion with objects.
. "$(dirname "$0")/lib.sh"

start_hub
workspace c1 cluster

cat >"$dir/crd.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: gears, kind: Gear, shortNames: [gr], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
    additionalPrinterColumns:
    - {name: Teeth, type: integer, jsonPath: .spec.teeth}
    - {name: Colour, type: string, jsonPath: .spec.colour, priority: 1}
    selectableFields: [{jsonPath: .spec.colour}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            description: What the gear is to be.
            type: object
            required: [teeth]
            x-kubernetes-validations:
            - rule: self.teeth >= self.count
              message: a gear needs as many teeth as it has wheels
            properties:
              teeth: {type: integer, minimum: 1}
              count: {type: integer, default: 1}
              colour: {type: string, default: grey, enum: [grey, red]}
              serial:
                type: string
                maxLength: 20
                x-kubernetes-validations: [{rule: self == oldSelf, message: serial is immutable}]
          status:
            type: object
            properties: {count: {type: integer}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    deprecationWarning: gears v1beta1 is old
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
YAML

gear() { # gear NAME SPEC
  printf 'apiVersion: shop.example.com/v1\nkind: Gear\nmetadata: {name: %s, namespace: default}\nspec: %s\n' "$1" "$2"
}
# refused PATTERN KUBECTL WORKSPACE ARGS...: it fails and says why.
refused() {
  local pattern=$1
  shift
  if "$@" >"$dir/out" 2>"$dir/err"; then fail "accepted: $*"; fi
  grep -qE -- "$pattern" "$dir/err" || fail "wanted $pattern, got $(cat "$dir/err")"
}

lifecycle() {
  local kc=$1 ws=$2
  say "$kc: definitions in $ws"
  "$kc" "$ws" create -f "$dir/crd.yaml"
  "$kc" "$ws" wait --for=condition=Established crd/gears.shop.example.com --timeout=20s
  says '^gears +gr +shop.example.com/v1 ' "$kc" "$ws" api-resources || fail "api-resources"
  says 'What the gear is to be' "$kc" "$ws" explain gear.spec || fail "explain"
  gear good '{teeth: 8, serial: a1}' | "$kc" "$ws" create -f -
  says '^NAME +TEETH$' "$kc" "$ws" -n default get gears || fail "columns"
  says '^good +8 +grey' "$kc" "$ws" -n default get gears -o wide || fail "wide columns"
  is 'gear.shop.example.com/good' "$kc" "$ws" -n default get gr --field-selector spec.colour=grey -o name ||
    fail "selectable field"
  is '' "$kc" "$ws" -n default get gr --field-selector spec.colour=red -o name || fail "selectable field"

  gear bad '{teeth: 1, count: 2}' >"$dir/bad.yaml"
  refused 'spec: Invalid value: a gear needs as many teeth as it has wheels' "$kc" "$ws" create -f "$dir/bad.yaml"
  gear bad '{teeth: 0}' >"$dir/bad.yaml"
  refused 'spec.teeth.*greater than or equal to 1' "$kc" "$ws" create -f "$dir/bad.yaml"
  gear bad '{teeth: 8, shine: yes}' >"$dir/bad.yaml"
  refused 'unknown field "(spec.)?shine"' "$kc" "$ws" create --validate=true -f "$dir/bad.yaml"
  gear good '{teeth: 8, serial: a2}' >"$dir/bad.yaml"
  refused 'spec.serial: Invalid value: "a2": serial is immutable' "$kc" "$ws" replace -f "$dir/bad.yaml"
  refused 'serial is immutable' "$kc" "$ws" -n default patch gear good --type merge -p '{"spec":{"serial":"a3"}}'
  "$kc" "$ws" -n default scale gear good --replicas=3
  is 3 "$kc" "$ws" -n default get gear good -o 'jsonpath={.spec.count}' || fail "scale"
  "$kc" "$ws" -n default get gears.v1beta1.shop.example.com good -o name 2>"$dir/warned" >/dev/null
  grep -q 'gears v1beta1 is old' "$dir/warned" || fail "deprecation: $(cat "$dir/warned")"

  sed 's/self.teeth >= self.count/self.tooth >= self.count/' "$dir/crd.yaml" >"$dir/broken.yaml"
  refused "undefined field 'tooth'" "$kc" "$ws" replace -f "$dir/broken.yaml"
  "$kc" "$ws" delete crd gears.shop.example.com --timeout=60s
  gone "$kc" "$ws" -n default get gears || fail "objects went with their definition"
  "$kc" "$ws" create -f "$dir/crd.yaml"
  eventually "$kc" "$ws" -n default get gears
  is '' "$kc" "$ws" -n default get gears -o name || fail "nothing was left behind"
  "$kc" "$ws" delete crd gears.shop.example.com --timeout=60s
}

lifecycle k c1
lifecycle k_old c1

say "server-side apply and status writes are checked by rules"
k c1 apply --server-side -f "$dir/crd.yaml"
eventually k c1 -n default get gears
gear applied '{teeth: 2}' | k c1 apply --server-side -f -
gear applied '{teeth: 2, count: 3}' >"$dir/bad.yaml"
refused 'as many teeth' k c1 apply --server-side -f "$dir/bad.yaml"
k c1 -n default patch gear applied --subresource=status --type merge -p '{"status":{"count":2}}'
say "done"
