#include "openapi/normalize.h"

#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "openapi/crd.h"
#include "openapi/normalize_quantity.h"
#include "storage/object/limits.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

Json Yaml(const std::string& text) { return *ParseYaml(text); }

ResourceType CustomType(const std::string& spec_schema) {
  auto set = std::make_shared<SchemaSet>();
  const Json tree = {{"type", "object"}, {"properties", {{"spec", Yaml(spec_schema)}}}};
  ResourceType type;
  type.builtin = false;
  type.schema = *RootSchemaFromOpenApi(tree, *set);
  type.schema_owner = std::move(set);
  return type;
}

ResourceType BuiltinResource(const GroupVersionKind& gvk) {
  ResourceType type;
  type.gvk = gvk;
  type.schema = BuiltinKind(gvk);
  return type;
}

struct PruneCase {
  const char* schema;  // of spec
  const char* spec;
  const char* kept;
  std::vector<std::string> dropped;
};

TEST(Normalize, PrunesCustomResources) {
  const PruneCase cases[] = {
      {"{type: object, properties: {a: {type: string}}}",
       "{a: x, b: 'y', c: {d: 1}}",
       "{a: x}",
       {"spec.b", "spec.c"}},
      {"{type: object, properties: {a: {type: object}}}",
       "{a: {b: 1, c: 2}}",
       "{a: {}}",
       {"spec.a.b", "spec.a.c"}},
      {"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: "
       "object}}}",
       "{z: {'y': 1}, a: {b: 1}}",
       "{z: {'y': 1}, a: {}}",
       {"spec.a.b"}},
      {"{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}",
       "{k: {a: x, b: 'y'}}",
       "{k: {a: x}}",
       {"spec.k.b"}},
      {"{type: object, properties: {l: {type: array, items: {type: object, properties: {a: {type: "
       "string}}}}}}",
       "{l: [{a: x}, {a: 'y', b: z}]}",
       "{l: [{a: x}, {a: 'y'}]}",
       {"spec.l[1].b"}},
      {"{type: object, properties: {r: {type: object, x-kubernetes-embedded-resource: true, "
       "x-kubernetes-preserve-unknown-fields: true}}}",
       "{r: {apiVersion: v1, kind: Pod, metadata: {name: a, nope: 1}, data: {x: 1}}}",
       "{r: {apiVersion: v1, kind: Pod, metadata: {name: a}, data: {x: 1}}}",
       {"spec.r.metadata.nope"}},
  };
  for (const PruneCase& c : cases) {
    const ResourceType type = CustomType(c.schema);
    Json object = {{"apiVersion", "e.com/v1"}, {"kind", "E"}, {"spec", Yaml(c.spec)}};
    EXPECT_EQ(PruneUnknown(type, object), c.dropped) << c.schema;
    EXPECT_EQ(object["spec"], Yaml(c.kept)) << c.schema;
    EXPECT_EQ(object["kind"], "E");
  }
}

TEST(Normalize, ReportsUnknownMembersOfBuiltins) {
  const ResourceType type = BuiltinResource({"apps", "v1", "Deployment"});
  Json object = Yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, labels: {any: thing}, foo: 1}
spec:
  replica: 3
  template: {spec: {containers: [{name: a, foo: b}], nodeSelector: {x: 'y'}}}
)");
  EXPECT_EQ(PruneUnknown(type, object),
            (std::vector<std::string>{"metadata.foo", "spec.replica",
                                      "spec.template.spec.containers[0].foo"}));
  EXPECT_EQ(object, Yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, labels: {any: thing}}
spec: {template: {spec: {containers: [{name: a}], nodeSelector: {x: 'y'}}}}
)"));
}

TEST(Normalize, KeepsSchemasOfDefinitions) {
  const ResourceType type =
      BuiltinResource({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"});
  Json object = Yaml(R"(
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          a: {type: object, additionalProperties: {type: string, wrong: 1}}
          b: {type: string, default: {any: thing}, enum: [1, {x: 'y'}]}
          c: {type: array, items: {type: string}}
          d: {additionalProperties: true}
)");
  EXPECT_EQ(PruneUnknown(type, object),
            (std::vector<std::string>{"spec.versions[0].schema.openAPIV3Schema.properties.a."
                                      "additionalProperties.wrong"}));
}

TEST(Normalize, DropsNulls) {
  const ResourceType custom = CustomType(
      "{type: object, properties: {a: {type: string}, b: {type: string, nullable: true}, "
      "c: {type: string, default: x}}}");
  Json object = Yaml(
      "{metadata: {labels: null, creationTimestamp: null}, spec: {a: null, b: null, "
      "c: null, z: null}}");
  DropNulls(custom, object);
  EXPECT_EQ(object, Yaml("{metadata: {}, spec: {b: null, c: null, z: null}}"));
  ApplyDefaults(custom, object);
  EXPECT_EQ(object["spec"]["c"], "x");

  const ResourceType pod = BuiltinResource({"", "v1", "Pod"});
  object = Yaml(
      "{metadata: {labels: {a: null}}, spec: {hostname: null, containers: [null, {name: "
      "a, args: null}]}}");
  DropNulls(pod, object);
  EXPECT_EQ(object, Yaml("{metadata: {labels: {a: ''}}, spec: {containers: [{}, {name: a}]}}"));
}

TEST(Normalize, FillsDefaultsOfCustomResources) {
  struct Case {
    const char *schema, *spec, *filled;
  };
  const Case cases[] = {
      {"{type: object, properties: {a: {type: integer, default: 3}}}", "{}", "{a: 3}"},
      {"{type: object, properties: {a: {type: integer, default: 3}}}", "{a: 0}", "{a: 0}"},
      {"{type: object, properties: {o: {type: object, properties: {a: {type: integer, default: "
       "3}}}}}",
       "{}", "{}"},
      {"{type: object, properties: {o: {type: object, default: {}, properties: {a: {type: integer, "
       "default: 3}}}}}",
       "{}", "{o: {a: 3}}"},
      {"{type: object, properties: {l: {type: array, items: {type: object, properties: {a: {type: "
       "integer, default: 3}}}}}}",
       "{l: [{}, {a: 1}]}", "{l: [{a: 3}, {a: 1}]}"},
      {"{type: object, additionalProperties: {type: object, properties: {a: {type: integer, "
       "default: 3}}}}",
       "{k: {}}", "{k: {a: 3}}"},
      {"{type: object, properties: {a: {type: string, nullable: true, default: x}}}", "{a: null}",
       "{a: null}"},
  };
  for (const Case& c : cases) {
    Json object = {{"spec", Yaml(c.spec)}};
    ApplyDefaults(CustomType(c.schema), object);
    EXPECT_EQ(object["spec"], Yaml(c.filled)) << c.schema;
  }
}

TEST(Normalize, SettlesCustomMetadata) {
  Json object = Yaml("{metadata: {name: a, labels: {}, finalizers: []}, spec: {}}");
  ApplyDefaults(CustomType("{type: object}"), object);
  EXPECT_EQ(object, Yaml("{metadata: {name: a}, spec: {}}"));
}

TEST(Quantity, HasOneSpelling) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "0"},
      {"0Gi", "0"},
      {"1000m", "1"},
      {"0.5", "500m"},
      {"1500m", "1500m"},
      {"1000", "1k"},
      {"1024", "1024"},
      {"1024Ki", "1Mi"},
      {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},
      {"0.5Ki", "512"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"100e-3", "100e-3"},
      {"+5", "5"},
      {"-1000m", "-1"},
      {"1.0", "1"},
      {"123456789n", "123456789n"},
      {"0.0000000001", "1n"},
      {"2000000000000000000000", "2000000000000000000000"},
      {"100Mi", "100Mi"},
      {"1M", "1M"},
      {"1.2345Gi", "1325534281728m"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_TRUE(IsQuantity(text)) << text;
    EXPECT_EQ(CanonicalQuantity(text), expected) << text;
  }
  for (const char* text : {"", "x", "1x", "1 Gi", "Gi", "1.2.3", "--1"}) {
    EXPECT_FALSE(IsQuantity(text)) << text;
  }
}

TEST(Normalize, PrunesEverythingAndTellsOfABoundedNumber) {
  const ResourceType custom =
      CustomType("{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}");
  Json members = {{"a", "kept"}};
  for (int i = 0; i < 20'000; ++i) members["u" + std::to_string(i)] = 1;
  Json object = {{"spec", {{std::string(500'000, 'k'), members}, {"short", members}}}};
  const auto told = PruneUnknown(custom, object);
  for (const Json& entry : object["spec"]) EXPECT_EQ(entry, (Json{{"a", "kept"}}));
  ASSERT_FALSE(told.empty());
  EXPECT_LE(told.size(), limits::kProblemsTold);
  for (const std::string& path : told) EXPECT_LE(path.size(), limits::kProblemPathBytes + 3);

  Json usual = {{"spec", {{"k", {{"a", "x"}, {"b", 1}, {"c", 2}}}}}};
  EXPECT_EQ(PruneUnknown(custom, usual), (std::vector<std::string>{"spec.k.b", "spec.k.c"}));
}

}  // namespace
}  // namespace mailroom::openapi
