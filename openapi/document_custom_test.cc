#include <gtest/gtest.h>

#include "openapi/crd.h"
#include "openapi/documents.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kGears = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.my-parts.example.com}
spec:
  group: my-parts.example.com
  scope: Namespaced
  names: {plural: gears, kind: Gear, listKind: Gearbox}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}
    selectableFields: [{jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size, maybe]
            x-kubernetes-validations:
            - {rule: "true", reason: FieldValueInvalid, fieldPath: .size, optionalOldSelf: true}
            properties:
              size: {type: string, default: big, maxLength: 9}
              maybe: {type: object, nullable: true, required: [a], properties: {a: {type: string}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [a]}
              port: {x-kubernetes-int-or-string: true}
              ports: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              low: {x-kubernetes-int-or-string: true, anyOf: [{minimum: 3}, {maxLength: 3}]}
              any: {type: object, additionalProperties: true}
              maybes: {type: object, additionalProperties: {type: string, nullable: true}}
              inner: {type: object, x-kubernetes-embedded-resource: true, properties: {kind: {type: string, enum: [A]}}}
              list: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
)";

CatalogPtr WithGears() {
  Json crd = *ParseYaml(kGears);
  DefaultCrd(crd);
  return BaseCatalog(WorkspaceType::kCluster)->Changed({}, *TypesOfCrd(crd));
}

const Json& V2() {
  static const Json document = DocumentV2(*WithGears());
  return document;
}

const Json& V3() {
  static const Json document = DocumentV3(*WithGears(), "my-parts.example.com", "v1");
  return document;
}

Json MemberOf(const Json& models, const char* name) {
  return models["com.example.my-parts.v1.Gear"]["properties"]["spec"]["properties"][name];
}
Json InV2(const char* name) { return MemberOf(V2()["definitions"], name); }
Json InV3(const char* name) { return MemberOf(V3()["components"]["schemas"], name); }

TEST(CustomDocuments, OperationsAreThoseOfDefinitions) {
  const std::string base = "/apis/my-parts.example.com/v1/namespaces/{namespace}/gears";
  const Json& paths = V3()["paths"];
  EXPECT_EQ(paths.size(), 5u);  // of one namespace, of all, of an object and its two subresources
  EXPECT_EQ(paths[base]["delete"]["operationId"], "deleteMyPartsExampleComV1CollectionNamespacedGear");
  EXPECT_FALSE(paths[base]["delete"].contains("requestBody"));
  EXPECT_EQ(paths[base]["get"]["tags"][0], "myPartsExampleCom_v1");
  const Json& put = paths[base + "/{name}/scale"]["put"];
  EXPECT_EQ(StringAt(put, {"x-kubernetes-group-version-kind", "kind"}), "Gear");
  EXPECT_EQ(StringAt(put, {"requestBody", "content", "application/yaml", "schema", "$ref"}),
            "#/components/schemas/io.k8s.api.autoscaling.v1.Scale");
  const Json& patch = paths[base + "/{name}"]["patch"];
  EXPECT_EQ(patch["requestBody"]["content"].size(), 3u);
  EXPECT_EQ(patch["responses"].size(), 2u);
  EXPECT_EQ(StringAt(V3(), {"info", "title"}), "Kubernetes CRD Swagger");
  EXPECT_EQ(V3()["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
                ["x-kubernetes-group-version-kind"].size(),
            53u);
  EXPECT_TRUE(V2()["paths"].contains(base));
}

TEST(CustomDocuments, SelectableFieldsAreTold) {
  const Json fields = {{{"fieldPath", "spec.size"}}};
  for (const char* model : {"com.example.my-parts.v1.Gear", "com.example.my-parts.v1.Gearbox"}) {
    EXPECT_EQ(V3()["components"]["schemas"][model]["x-kubernetes-selectable-fields"], fields);
    EXPECT_EQ(V2()["definitions"][model]["x-kubernetes-selectable-fields"], fields);
  }
}

TEST(CustomDocuments, VersionTwoLeavesOutWhatItsReadersCannotTake) {
  const Json spec = V2()["definitions"]["com.example.my-parts.v1.Gear"]["properties"]["spec"];
  EXPECT_EQ(spec["required"], Json{"size"});
  EXPECT_EQ(spec["x-kubernetes-validations"].size(), 1u);
  EXPECT_EQ(InV2("size"), (Json{{"type", "string"}, {"maxLength", 9}}));
  EXPECT_EQ(InV2("maybe"), (Json{{"required", Json{"a"}}}));
  EXPECT_EQ(InV2("open"),
            (Json{{"required", Json{"a"}}, {"x-kubernetes-preserve-unknown-fields", true}}));
  EXPECT_EQ(InV2("port"), (Json{{"x-kubernetes-int-or-string", true}}));
  EXPECT_EQ(InV2("maybes"), (Json{{"type", "object"}, {"additionalProperties", Json::object()}}));
  EXPECT_EQ(InV2("any"), (Json{{"type", "object"}, {"additionalProperties", true}}));
}

TEST(CustomDocuments, VersionThreeTellsAll) {
  const Json spec = V3()["components"]["schemas"]["com.example.my-parts.v1.Gear"]["properties"]["spec"];
  EXPECT_EQ(spec["required"], (Json{"size", "maybe"}));
  EXPECT_EQ(spec["x-kubernetes-validations"][0],
            (Json{{"rule", "true"}, {"reason", "FieldValueInvalid"}, {"fieldPath", ".size"},
                  {"optionalOldSelf", true}}));
  EXPECT_EQ(InV3("size"), (Json{{"type", "string"}, {"maxLength", 9}, {"default", "big"}}));
  const Json either = {{{"type", "integer"}}, {{"type", "string"}}};
  EXPECT_EQ(InV3("port"), (Json{{"x-kubernetes-int-or-string", true}, {"anyOf", either}}));
  EXPECT_EQ(InV3("ports"), InV3("port"));
  EXPECT_EQ(InV3("low")["allOf"], (Json{{{"anyOf", either}}}));
  EXPECT_EQ(InV3("inner")["required"], (Json{"kind", "apiVersion"}));
  EXPECT_EQ(InV3("inner")["properties"].size(), 3u);
  EXPECT_FALSE(InV3("inner")["properties"]["kind"].contains("enum"));
  EXPECT_EQ(InV3("list")["x-kubernetes-list-type"], "atomic");
}

}  // namespace
}  // namespace mailroom::openapi
