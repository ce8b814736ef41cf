#include "apiserver/typed_merge.h"

#include <gtest/gtest.h>

#include "apiserver/apply_test_types.h"

namespace mailroom::apiserver {
namespace {

const openapi::Schema* Shapes() {
  static const openapi::Schema* schema = SchemaFrom(R"(
type: object
properties:
  scalar: {type: string}
  map: {type: object, additionalProperties: {type: string}}
  atomicMap: {type: object, additionalProperties: {type: string}, x-kubernetes-map-type: atomic}
  nested: {type: object, additionalProperties: {type: object, additionalProperties: {type: string}}}
  list: {type: array, items: {type: string}}
  set: {type: array, items: {type: string}, x-kubernetes-list-type: set}
  items:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items:
      type: object
      properties:
        name: {type: string}
        value: {type: string}
        map: {type: object, additionalProperties: {type: string}}
)");
  return schema;
}

struct Case {
  const char* live;
  const char* config;
  const char* want;
};

TEST(MergeConfig, ByShape) {
  const Case cases[] = {
      {"{}", "{scalar: a}", "{scalar: a}"},
      {"{scalar: a}", "{scalar: b}", "{scalar: b}"},
      {"{scalar: a}", "{scalar: null}", "{scalar: null}"},
      {"{scalar: a}", "{}", "{scalar: a}"},
      {"{map: {a: 1}}", "{map: {b: 2}}", "{map: {a: 1, b: 2}}"},
      {"{map: {a: 1}}", "{map: {}}", "{map: {a: 1}}"},
      {"{map: {a: 1}}", "{map: null}", "{map: {a: 1}}"},
      {"{map: null}", "{map: {}}", "{map: {}}"},
      {"{map: null}", "{map: {a: 1}}", "{map: {a: 1}}"},
      {"{}", "{map: {}}", "{map: {}}"},
      {"{atomicMap: {a: 1}}", "{atomicMap: {b: 2}}", "{atomicMap: {b: 2}}"},
      {"{list: [a, b]}", "{list: [c]}", "{list: [c]}"},
      {"{set: [a, b]}", "{set: []}", "{set: [a, b]}"},
      {"{items: [{name: a, value: 1}]}", "{items: [{name: a, map: {k: v}}]}",
       "{items: [{name: a, value: 1, map: {k: v}}]}"},
      {"{items: [{name: a, value: 1}, {name: a, value: 2}]}", "{items: [{name: a, value: 3}]}",
       "{items: [{name: a, value: 3}]}"},
      {"{items: [{name: a, value: 1}, {name: a, value: 2}]}", "{items: [{name: b}]}",
       "{items: [{name: a, value: 1}, {name: a, value: 2}, {name: b}]}"},
  };
  for (const Case& c : cases) {
    Json target = Y(c.live);
    MergeConfig(Shapes(), Y(c.config), {}, target);
    EXPECT_EQ(target, Y(c.want)) << c.live << " + " << c.config;
  }
}

TEST(MergeConfig, OrderOfListItems) {
  // live, config, result
  const Case cases[] = {
      {"[a, b]", "[a, b]", "[a, b]"},
      {"[a, b]", "[b, a]", "[b, a]"},
      {"[a, b]", "[c]", "[a, b, c]"},
      {"[a]", "[b, a]", "[b, a]"},
      {"[a, b, c]", "[c, a]", "[b, c, a]"},
      {"[a, b, c, x, d]", "[d, a, n]", "[b, c, x, d, a, n]"},
      {"[b, c, d]", "[a, b]", "[a, b, c, d]"},
      {"[1, 2, 3]", "[3, 4, 1]", "[2, 3, 4, 1]"},
      {"[1, 2]", "[3, 4]", "[1, 2, 3, 4]"},
      {"[a, b]", "[b, c, a]", "[b, c, a]"},
      {"[a, a, b]", "[b, a]", "[b, a]"},
      {"[a, b, b]", "[c]", "[a, b, b, c]"},
  };
  for (const Case& c : cases) {
    Json target = {{"set", Y(c.live)}};
    MergeConfig(Shapes(), {{"set", Y(c.config)}}, {}, target);
    EXPECT_EQ(target["set"], Y(c.want)) << c.live << " + " << c.config;
  }
}

TEST(MergeConfig, SkipsWhatTheEndpointDoesNotWrite) {
  FieldSet skip;
  skip.Insert({"f:scalar"});
  skip.Insert({"f:nested", "f:x"});
  Json target = Y("{scalar: a}");
  MergeConfig(Shapes(), Y("{scalar: b, nested: {x: {k: v}, 'y': {k: v}}}"), skip, target);
  EXPECT_EQ(target, Y("{scalar: a, nested: {'y': {k: v}}}"));
}

struct RemoveCase {
  const char* value;
  std::vector<FieldPath> fields;
  const char* want;
};

TEST(RemoveFields, TakesOutFieldsAndItems) {
  const RemoveCase cases[] = {
      {"{scalar: a, list: [x]}", {{"f:scalar"}}, "{list: [x]}"},
      {"{map: {a: 1, b: 2}}", {{"f:map", "f:a"}}, "{map: {b: 2}}"},
      {"{map: {a: 1}}", {{"f:map", "f:a"}}, "{map: null}"},
      {"{map: {a: 1}}", {{"f:map"}}, "{}"},
      {"{set: [a]}", {{"f:set"}}, "{}"},
      {"{set: [a]}", {{"f:set", R"(v:"a")"}}, "{set: null}"},
      {"{set: [a, b]}", {{"f:set", R"(v:"a")"}}, "{set: [b]}"},
      {"{items: [{name: a}, {name: b, value: 1}]}",
       {{"f:items", R"(k:{"name":"a"})"}, {"f:items", R"(k:{"name":"b"})", "f:value"}},
       "{items: [{name: b}]}"},
      {"{items: [{name: a, map: {k: v}}]}",
       {{"f:items", R"(k:{"name":"a"})", "f:map", "f:k"}},
       "{items: [{name: a, map: null}]}"},
      {"{list: [a]}", {{"f:list", "i:0"}}, "{list: [a]}"},
      {"{scalar: a}", {{"f:absent", "f:x"}}, "{scalar: a}"},
  };
  for (const RemoveCase& c : cases) {
    FieldSet fields;
    for (const FieldPath& path : c.fields) fields.Insert(path);
    Json value = Y(c.value);
    RemoveFields(Shapes(), fields, value);
    EXPECT_EQ(value, Y(c.want)) << c.value;
  }
}

TEST(AddNamedParents, NamesOnly) {
  FieldSet set;
  set.Insert({"f:nested", "f:x", "f:k"});
  set.Insert({"f:items", R"(k:{"name":"a"})", "f:map", "f:k"});
  AddNamedParents(Shapes(), set);
  EXPECT_EQ(Texts(set), (Strings{".items", ".nested", R"(.items[name="a"].map)",
                                 R"(.items[name="a"].map.k)", ".nested.x.k"}));
}

TEST(DropMissing, KeepsWhatExists) {
  FieldSet set;
  for (const FieldPath& path :
       std::vector<FieldPath>{{"f:scalar"},
                              {"f:map", "f:a"},
                              {"f:map", "f:b"},
                              {"f:set", R"(v:"x")"},
                              {"f:set", R"(v:"y")"},
                              {"f:items", R"(k:{"name":"n"})", "f:value"}}) {
    set.Insert(path);
  }
  EXPECT_TRUE(
      DropMissing(Shapes(), Y("{map: {a: 1}, set: [x], items: [{name: 'n', value: v}]}"), set));
  EXPECT_EQ(Texts(set),
            (Strings{".scalar", R"(.items[name="n"].value)", ".map.a", R"(.set[="x"])"}));
  EXPECT_FALSE(
      DropMissing(Shapes(), Y("{map: {a: 1}, set: [x], items: [{name: 'n', value: v}]}"), set));
}

TEST(FollowAtomic, OwnershipBelowBecomesWhole) {
  FieldSet set;
  set.Insert({"f:atomicMap", "f:a"});
  set.Insert({"f:list", R"(v:"x")"});
  set.Insert({"f:map", "f:a"});
  EXPECT_TRUE(FollowAtomic(Shapes(), set));
  EXPECT_EQ(Texts(set), (Strings{".atomicMap", ".list", ".map.a"}));
  EXPECT_FALSE(FollowAtomic(Shapes(), set));
}

}  // namespace
}  // namespace mailroom::apiserver
