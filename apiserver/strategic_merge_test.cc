#include "apiserver/strategic_merge.h"

#include <gtest/gtest.h>

#include "apiserver/apply_test_types.h"

namespace mailroom::apiserver {
namespace {

struct Case {
  const char* name;
  const char* live;
  const char* patch;
  const char* want;
};

const openapi::Schema* PodSpec() {
  static const openapi::Schema* schema = MemberSchema(Builtin("", "v1", "pods").schema, {"spec"});
  return schema;
}

void Expect(const openapi::Schema* schema, const Case& c) {
  auto result = StrategicMerge(schema, Y(c.live), Y(c.patch));
  ASSERT_TRUE(result.ok()) << c.name << ": " << result.error().message();
  EXPECT_EQ(*result, Y(c.want)) << c.name;
}

TEST(StrategicMerge, MapsAndScalars) {
  const Case cases[] = {
      {"sets and merges", "{nodeName: a, nodeSelector: {x: 1}}", "{nodeSelector: {'y': 2}}",
       "{nodeName: a, nodeSelector: {x: 1, 'y': 2}}"},
      {"null deletes", "{nodeName: a, hostname: h}", "{nodeName: null}", "{hostname: h}"},
      {"null of nothing", "{hostname: h}", "{nodeName: null}", "{hostname: h}"},
      {"nulls of a new map", "{}", "{nodeSelector: {a: null, b: c}}", "{nodeSelector: {b: c}}"},
      {"replace directive", "{nodeSelector: {x: 1}}", "{nodeSelector: {$patch: replace, 'y': 2}}",
       "{nodeSelector: {'y': 2}}"},
      {"delete directive", "{nodeSelector: {x: 1}}", "{nodeSelector: {$patch: delete}}",
       "{nodeSelector: {}}"},
      {"delete directive on nothing", "{}", "{nodeSelector: {$patch: delete}}", "{}"},
      {"type change", "{nodeSelector: {x: 1}}", "{nodeSelector: [1]}", "{nodeSelector: [1]}"},
      {"list without strategy is replaced", "{tolerations: [{key: a}]}",
       "{tolerations: [{key: b}]}", "{tolerations: [{key: b}]}"},
      {"empty patch", "{nodeName: a}", "{}", "{nodeName: a}"},
  };
  for (const Case& c : cases) Expect(PodSpec(), c);
}

TEST(StrategicMerge, KeyedLists) {
  const Case cases[] = {
      {"merges by key", "{containers: [{name: a, image: x}, {name: b, image: 'y'}]}",
       "{containers: [{name: b, image: z}]}",
       "{containers: [{name: a, image: x}, {name: b, image: z}]}"},
      {"appends", "{containers: [{name: a}]}", "{containers: [{name: 'n', image: z}]}",
       "{containers: [{name: 'n', image: z}, {name: a}]}"},
      {"order of the patch", "{containers: [{name: a}, {name: b}, {name: c}]}",
       "{containers: [{name: c}, {name: a}]}", "{containers: [{name: b}, {name: c}, {name: a}]}"},
      {"delete an item", "{containers: [{name: a}, {name: b}]}",
       "{containers: [{name: a, $patch: delete}]}", "{containers: [{name: b}]}"},
      {"delete and add", "{containers: [{name: a}, {name: b}]}",
       "{containers: [{name: a, $patch: delete}, {name: c}]}",
       "{containers: [{name: c}, {name: b}]}"},
      {"replace the list", "{containers: [{name: a}, {name: b}]}",
       "{containers: [{$patch: replace}, {name: c}]}", "{containers: [{name: c}]}"},
      {"replace with nothing", "{containers: [{name: a}]}", "{containers: [{$patch: replace}]}",
       "{containers: []}"},
      {"nested lists", "{containers: [{name: a, env: [{name: E, value: 1}, {name: F}]}]}",
       "{containers: [{name: a, env: [{name: E, value: 2}]}]}",
       "{containers: [{name: a, env: [{name: E, value: 2}, {name: F}]}]}"},
      {"number keys", "{containers: [{name: a, ports: [{containerPort: 80, name: x}]}]}",
       "{containers: [{name: a, ports: [{containerPort: 80, protocol: UDP}]}]}",
       "{containers: [{name: a, ports: [{containerPort: 80, name: x, protocol: UDP}]}]}"},
      {"field of an item deleted", "{containers: [{name: a, image: x}]}",
       "{containers: [{name: a, image: null}]}", "{containers: [{name: a}]}"},
      {"new list", "{}", "{containers: [{name: a, image: null}, {name: b, $patch: delete}]}",
       "{containers: [{name: a}]}"},
      {"null deletes the list", "{containers: [{name: a}], nodeName: 'n'}", "{containers: null}",
       "{nodeName: 'n'}"},
  };
  for (const Case& c : cases) Expect(PodSpec(), c);
}

TEST(StrategicMerge, ElementOrder) {
  const Case cases[] = {
      {"reorders", "{containers: [{name: a}, {name: b}, {name: c}]}",
       "{$setElementOrder/containers: [{name: c}, {name: b}, {name: a}]}",
       "{containers: [{name: c}, {name: b}, {name: a}]}"},
      {"keeps server items in place", "{containers: [{name: a}, {name: s}, {name: b}]}",
       "{$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: b, image: x}]}",
       "{containers: [{name: s}, {name: b, image: x}, {name: a}]}"},
      {"places additions", "{containers: [{name: a}, {name: b}]}",
       "{$setElementOrder/containers: [{name: a}, {name: 'n'}, {name: b}], containers: [{name: 'n'}]}",
       "{containers: [{name: a}, {name: 'n'}, {name: b}]}"},
      {"with deletion", "{containers: [{name: a}, {name: b}]}",
       "{$setElementOrder/containers: [{name: b}], containers: [{name: a, $patch: delete}]}",
       "{containers: [{name: b}]}"},
      {"new list", "{}",
       "{$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: b}, {name: a}]}",
       "{containers: [{name: b}, {name: a}]}"},
      {"of nothing", "{nodeName: 'n'}", "{$setElementOrder/containers: [{name: a}]}",
       "{nodeName: 'n'}"},
      {"inside an item", "{containers: [{name: a, env: [{name: E}, {name: F}]}]}",
       "{containers: [{name: a, $setElementOrder/env: [{name: F}, {name: E}]}]}",
       "{containers: [{name: a, env: [{name: F}, {name: E}]}]}"},
      {"not stored with a new map", "{}",
       "{securityContext: {$setElementOrder/x: [a], $retainKeys: ['y'], fsGroup: 5}}",
       "{securityContext: {fsGroup: 5}}"},
  };
  for (const Case& c : cases) Expect(PodSpec(), c);
}

TEST(StrategicMerge, PrimitiveLists) {
  const openapi::Schema* schema = ConfigMaps().schema;
  const Case cases[] = {
      {"union", "{metadata: {finalizers: [a, b]}}", "{metadata: {finalizers: [c, a]}}",
       "{metadata: {finalizers: [c, a, b]}}"},
      {"delete", "{metadata: {finalizers: [a, b, c]}}",
       "{metadata: {$deleteFromPrimitiveList/finalizers: [b]}}",
       "{metadata: {finalizers: [a, c]}}"},
      {"delete from nothing", "{metadata: {name: 'n'}}",
       "{metadata: {$deleteFromPrimitiveList/finalizers: [b]}}", "{metadata: {name: 'n'}}"},
      {"order and delete", "{metadata: {finalizers: [a, b, c]}}",
       "{metadata: {$deleteFromPrimitiveList/finalizers: [b], $setElementOrder/finalizers: [c, "
       "a]}}",
       "{metadata: {finalizers: [c, a]}}"},
      {"order and add", "{metadata: {finalizers: [a]}}",
       "{metadata: {finalizers: ['n'], $setElementOrder/finalizers: ['n', a]}}",
       "{metadata: {finalizers: ['n', a]}}"},
      {"owner references", "{metadata: {ownerReferences: [{uid: u, name: a}]}}",
       "{metadata: {ownerReferences: [{uid: u, controller: true}, {uid: v, name: b}]}}",
       "{metadata: {ownerReferences: [{uid: u, name: a, controller: true}, {uid: v, name: b}]}}"},
  };
  for (const Case& c : cases) Expect(schema, c);
}

TEST(StrategicMerge, RetainKeys) {
  const openapi::Schema* schema = Deployments().schema;
  const Case cases[] = {
      {"drops the rest", "{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}",
       "{spec: {strategy: {$retainKeys: [type], type: Recreate}}}",
       "{spec: {strategy: {type: Recreate}}}"},
      {"keeps the listed",
       "{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}",
       "{spec: {strategy: {$retainKeys: [type, rollingUpdate], rollingUpdate: {maxSurge: 2}}}}",
       "{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2}}}}"},
      {"volumes", "{spec: {template: {spec: {volumes: [{name: v, emptyDir: {}}]}}}}",
       "{spec: {template: {spec: {volumes: "
       "[{name: v, $retainKeys: [name, hostPath], hostPath: {path: /x}}]}}}}",
       "{spec: {template: {spec: {volumes: [{name: v, hostPath: {path: /x}}]}}}}"},
  };
  for (const Case& c : cases) Expect(schema, c);
}

struct BadCase {
  const char* live;
  const char* patch;
  int code;
  const char* message;
};

TEST(StrategicMerge, Errors) {
  const BadCase cases[] = {
      {"{containers: [{name: a}]}", "{containers: [{image: x}]}", 500,
       "map: map[image:x] does not contain declared merge key: name"},
      {"{containers: [{name: a}]}", "{containers: [{$patch: delete}]}", 500,
       "map: map[$patch:delete] does not contain declared merge key: name"},
      {"{containers: [{name: a}]}", "{containers: [{$patch: merge, name: a}]}", 500,
       "merging lists cannot yet be specified in the patch"},
      {"{containers: [{name: a}]}", "{containers: [{$patch: frob, name: a}]}", 500,
       "unknown patch type: frob in map: map[$patch:frob name:a]"},
      {"{nodeSelector: {a: b}}", "{nodeSelector: {$patch: frob}}", 500,
       "unknown patch type: frob in map: map[$patch:frob]"},
      {"{containers: [{name: a}]}", "{containers: [[1]]}", 422,
       "the server rejected our request due to an error in our request"},
      {"{containers: [{name: a}]}", "{containers: [x]}", 500,
       "list element types are not identical: [[map[name:a]] [x]]"},
      {"{nodeSelector: {a: b}}", "{nodeSelector: {$retainKeys: a}}", 400,
       "invalid patch format of retainKeys"},
      {"{nodeSelector: {a: b}}", "{nodeSelector: {$retainKeys: [a], c: d}}", 400,
       "invalid patch format of retainKeys"},
      {"{containers: [{name: a}]}", "{$setElementOrder: [{name: a}]}", 400,
       "invalid patch format of setElementOrder list"},
      {"{containers: [{name: a}]}", "{$setElementOrder/containers: 5}", 500,
       "expected a []interface {}, but received a int64"},
      {"{containers: [{name: a}]}", "{$deleteFromPrimitiveList: [a]}", 400,
       "invalid patch format of primitive list"},
      {"{containers: [{name: a}]}",
       "{$setElementOrder/containers: [{name: a}], containers: [{name: b}]}", 500,
       "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n"
       "[map[name:a]]\n"},
  };
  for (const BadCase& c : cases) {
    auto result = StrategicMerge(PodSpec(), Y(c.live), Y(c.patch));
    ASSERT_FALSE(result.ok()) << c.patch;
    EXPECT_EQ(result.error().code(), c.code) << c.patch;
    EXPECT_EQ(result.error().message(), c.message) << c.patch;
  }
  auto scalar = StrategicMerge(PodSpec(), Y("{}"), Y("[1]"));
  ASSERT_FALSE(scalar.ok());
  EXPECT_EQ(scalar.error().code(), 400);
}

TEST(StrategicMerge, WithoutSchemaListsAreReplaced) {
  Expect(nullptr, {"open", "{a: {b: [1], c: 1}}", "{a: {b: [2]}}", "{a: {b: [2], c: 1}}"});
}

}  // namespace
}  // namespace mailroom::apiserver
