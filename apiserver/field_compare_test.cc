#include "apiserver/field_compare.h"

#include <gtest/gtest.h>

#include "apiserver/apply_test_types.h"

namespace mailroom::apiserver {
namespace {

const openapi::Schema* Shapes() {
  static const openapi::Schema* schema = SchemaFrom(R"(
type: object
properties:
  scalar: {type: string}
  number: {type: integer}
  struct:
    type: object
    properties: {a: {type: string}, b: {type: string}}
  atomicStruct:
    type: object
    x-kubernetes-map-type: atomic
    properties: {a: {type: string}, b: {type: string}}
  map: {type: object, additionalProperties: {type: string}}
  atomicMap: {type: object, additionalProperties: {type: string}, x-kubernetes-map-type: atomic}
  list: {type: array, items: {type: string}}
  set: {type: array, items: {type: string}, x-kubernetes-list-type: set}
  ports:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [port, protocol]
    items:
      type: object
      properties:
        port: {type: integer}
        protocol: {type: string, default: TCP}
        name: {type: string}
  open: {type: object, x-kubernetes-preserve-unknown-fields: true}
)");
  return schema;
}

struct FieldsCase {
  const char* value;
  Strings want;
};

TEST(FieldsOf, FollowsTheSchema) {
  const FieldsCase cases[] = {
      {"{}", {}},
      {"{scalar: x, number: 1}", {".number", ".scalar"}},
      {"{struct: {a: x}}", {".struct.a"}},
      {"{struct: {}}", {".struct"}},
      {"{struct: null}", {".struct"}},
      {"{atomicStruct: {a: x}}", {".atomicStruct"}},
      {"{map: {k: v}}", {".map.k"}},
      {"{map: {}}", {".map"}},
      {"{atomicMap: {k: v}}", {".atomicMap"}},
      {"{list: [a, b]}", {".list"}},
      {"{list: []}", {".list"}},
      {"{set: [b, a]}", {R"(.set[="a"])", R"(.set[="b"])"}},
      {"{set: []}", {}},
      {"{set: [a, a, b]}", {R"(.set[="a"])", R"(.set[="b"])"}},
      {"{ports: [{port: 80}]}",
       {R"(.ports[port=80,protocol="TCP"])", R"(.ports[port=80,protocol="TCP"].port)"}},
      {"{ports: [{port: 53, protocol: UDP, name: dns}]}",
       {R"(.ports[port=53,protocol="UDP"])", R"(.ports[port=53,protocol="UDP"].name)",
        R"(.ports[port=53,protocol="UDP"].port)", R"(.ports[port=53,protocol="UDP"].protocol)"}},
      // Items that cannot be told apart are owned as a lump.
      {"{ports: [{port: 80, name: a}, {port: 80, name: b}]}",
       {R"(.ports[port=80,protocol="TCP"])"}},
      {"{open: {x: {'y': [1]}}}", {".open.x", ".open.x.y"}},
  };
  for (const FieldsCase& c : cases)
    EXPECT_EQ(Texts(FieldsOf(Shapes(), Y(c.value))), c.want) << c.value;
}

TEST(FieldsOf, DeducesWithoutSchema) {
  EXPECT_EQ(Texts(FieldsOf(nullptr, Y("{spec: {a: 1, l: [{x: 1}], e: {}}}"))),
            (Strings{".spec", ".spec.a", ".spec.e", ".spec.l"}));
}

struct CompareCase {
  const char* before;
  const char* after;
  Strings added, modified, removed;
};

void ExpectChanges(const openapi::Schema* schema, const CompareCase& c) {
  const FieldChanges changes = CompareFields(schema, Y(c.before), Y(c.after));
  EXPECT_EQ(Texts(changes.added), c.added) << c.before << " -> " << c.after;
  EXPECT_EQ(Texts(changes.modified), c.modified) << c.before << " -> " << c.after;
  EXPECT_EQ(Texts(changes.removed), c.removed) << c.before << " -> " << c.after;
}

TEST(CompareFields, FollowsTheSchema) {
  const CompareCase cases[] = {
      {"{}", "{}", {}, {}, {}},
      {"{scalar: a}", "{scalar: a}", {}, {}, {}},
      {"{scalar: a}", "{scalar: b}", {}, {".scalar"}, {}},
      {"{}", "{scalar: b}", {".scalar"}, {}, {}},
      {"{scalar: b}", "{}", {}, {}, {".scalar"}},
      {"{number: 1}", "{number: 1.0}", {}, {}, {}},
      {"{}", "{struct: {a: x}}", {".struct", ".struct.a"}, {}, {}},
      {"{struct: {a: x}}", "{struct: {a: x, b: 'y'}}", {".struct.b"}, {}, {}},
      {"{struct: {a: x}}", "{}", {}, {}, {".struct", ".struct.a"}},
      {"{struct: {}}", "{struct: {a: x}}", {".struct.a"}, {}, {}},
      {"{struct: null}", "{struct: {}}", {}, {".struct"}, {}},
      {"{}", "{struct: {}}", {".struct"}, {}, {}},
      {"{atomicStruct: {a: x}}", "{atomicStruct: {a: 'y'}}", {}, {".atomicStruct"}, {}},
      {"{map: {k: v}}", "{map: {k: w, l: x}}", {".map.l"}, {".map.k"}, {}},
      {"{atomicMap: {k: v}}", "{atomicMap: {k: v, l: x}}", {}, {".atomicMap"}, {}},
      {"{list: [a]}", "{list: [a, b]}", {}, {".list"}, {}},
      {"{set: [a, b]}", "{set: [b, c]}", {R"(.set[="c"])"}, {}, {R"(.set[="a"])"}},
      {"{set: [a, b]}", "{set: [b, a]}", {}, {}, {}},
      {"{}", "{set: [a]}", {".set", R"(.set[="a"])"}, {}, {}},
      {"{ports: [{port: 80, name: a}]}",
       "{ports: [{port: 80, name: b}]}",
       {},
       {R"(.ports[port=80,protocol="TCP"].name)"},
       {}},
      {"{ports: [{port: 80}]}",
       "{ports: [{port: 80, protocol: TCP}]}",
       {R"(.ports[port=80,protocol="TCP"].protocol)"},
       {},
       {}},
      {"{ports: [{port: 80}]}",
       "{ports: [{port: 81}]}",
       {R"(.ports[port=81,protocol="TCP"])", R"(.ports[port=81,protocol="TCP"].port)"},
       {},
       {R"(.ports[port=80,protocol="TCP"])", R"(.ports[port=80,protocol="TCP"].port)"}},
      {"{set: [a, a]}", "{set: [a]}", {R"(.set[="a"])"}, {}, {R"(.set[="a"])"}},
      {"{set: [a]}", "{set: [a, a]}", {R"(.set[="a"])"}, {}, {R"(.set[="a"])"}},
      {"{set: [a, a]}", "{set: [a, a]}", {}, {}, {}},
      {"{set: [a, a]}", "{set: [a, a, a]}", {}, {R"(.set[="a"])"}, {}},
      {"{open: {x: 1}}", "{open: {x: {'y': 1}}}", {".open.x.y"}, {".open.x"}, {}},
      {"{open: {x: {'y': 1}}}", "{open: {x: 1}}", {}, {".open.x"}, {".open.x.y"}},
  };
  for (const CompareCase& c : cases) ExpectChanges(Shapes(), c);
}

TEST(CompareFields, LongListsAreIndexed) {
  Json before = Json::object();
  Json after = Json::object();
  for (int i = 0; i < 100; ++i) {
    before["set"].push_back("v" + std::to_string(i));
    after["set"].push_back("v" + std::to_string(99 - i));
  }
  after["set"].push_back("new");
  const FieldChanges changes = CompareFields(Shapes(), before, after);
  EXPECT_EQ(Texts(changes.added), (Strings{R"(.set[="new"])"}));
  EXPECT_TRUE(changes.modified.Empty() && changes.removed.Empty());
}

TEST(FieldsOf, BuiltinKinds) {
  const Json config = Y(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: x}, finalizers: [f], ownerReferences: [{uid: u, name: o}]}
spec:
  replicas: 2
  selector: {matchLabels: {app: x}}
  template:
    spec:
      containers:
      - name: c
        image: i
        ports: [{containerPort: 80}]
        env: [{name: E, value: v}]
        resources: {limits: {cpu: 1}}
      tolerations: [{key: k}]
)");
  EXPECT_EQ(
      Texts(FieldsOf(Deployments().schema, config)),
      (Strings{
          ".apiVersion", ".kind", ".metadata.name", R"(.metadata.finalizers[="f"])",
          ".metadata.labels.app", R"(.metadata.ownerReferences[uid="u"])", ".spec.replicas",
          ".spec.selector", ".spec.template.spec.tolerations",
          R"(.spec.template.spec.containers[name="c"])",
          R"(.spec.template.spec.containers[name="c"].image)",
          R"(.spec.template.spec.containers[name="c"].name)",
          R"(.spec.template.spec.containers[name="c"].env[name="E"])",
          R"(.spec.template.spec.containers[name="c"].env[name="E"].name)",
          R"(.spec.template.spec.containers[name="c"].env[name="E"].value)",
          R"(.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"])",
          R"(.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].containerPort)",
          R"(.spec.template.spec.containers[name="c"].resources.limits.cpu)"}));
}

}  // namespace
}  // namespace mailroom::apiserver
