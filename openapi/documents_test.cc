#include "openapi/documents.h"

#include <gtest/gtest.h>

#include <set>

#include "openapi/protobuf_wire.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

const Json& V2() {
  static const Json document = DocumentV2(*BaseCatalog(WorkspaceType::kWds));
  return document;
}

// Every `$ref` below `node` names a member of `models`.
void CheckRefs(const Json& node, const Json& models, const std::string& prefix) {
  if (node.is_object()) {
    for (const auto& [key, value] : node.items()) {
      if (key == "$ref" && value.is_string()) {
        const std::string text = value.get<std::string>();
        ASSERT_TRUE(text.starts_with(prefix)) << text;
        EXPECT_TRUE(models.contains(text.substr(prefix.size()))) << text;
      } else {
        CheckRefs(value, models, prefix);
      }
    }
  } else if (node.is_array()) {
    for (const Json& element : node) CheckRefs(element, models, prefix);
  }
}

TEST(DocumentsV2, EveryKindHasADefinitionAndAPatchOperation) {
  const Json* definitions = Find(V2(), {"definitions"});
  CheckRefs(V2(), *definitions, "#/definitions/");
  std::set<std::string> kinds;
  for (const auto& [name, schema] : definitions->items()) {
    if (const Json* gvks = Find(schema, {"x-kubernetes-group-version-kind"})) {
      for (const Json& gvk : *gvks) {
        kinds.insert(StringAt(gvk, {"group"}) + "/" + StringAt(gvk, {"kind"}));
      }
    }
  }
  for (const ResourceTypePtr& type : BaseCatalog(WorkspaceType::kWds)->Preferred()) {
    if (!type->HasVerb("patch")) continue;
    EXPECT_TRUE(kinds.contains(type->gvk.group + "/" + type->gvk.kind)) << type->gvk.kind;
  }
  const Json* patch = Find(V2(), {"paths", "/api/v1/namespaces/{namespace}/configmaps/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  bool dry_run = false;
  for (const Json& parameter : *Find(*patch, {"parameters"})) {
    dry_run = dry_run || StringAt(parameter, {"name"}) == "dryRun";
  }
  EXPECT_TRUE(dry_run);
}

TEST(DocumentsV3, ServicePortsKeepTheirMergeKeys) {
  const Json document = DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "", "v1");
  const Json* schemas = Find(document, {"components", "schemas"});
  CheckRefs(document, *schemas, "#/components/schemas/");
  const Json* ports = Find(*schemas, {"io.k8s.api.core.v1.ServiceSpec", "properties", "ports"});
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(StringAt(*ports, {"x-kubernetes-patch-merge-key"}), "port");
  EXPECT_EQ(StringAt(*ports, {"x-kubernetes-list-type"}), "map");
  EXPECT_EQ(StringsAt(*ports, {"x-kubernetes-list-map-keys"}),
            (std::vector<std::string>{"port", "protocol"}));
  EXPECT_TRUE(DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "none", "v1").is_null());
}

TEST(Gnostic, CarriesTheSameDefinitionsAndPaths) {
  const std::string bytes = EncodeGnostic(V2());
  std::size_t definitions = 0, paths = 0;
  std::string swagger;
  WireReader document(bytes);
  for (WireField field; document.Next(field);) {
    if (field.number == 1) swagger = field.bytes;
    if (field.number != 8 && field.number != 9) continue;
    WireReader entries(field.bytes);
    for (WireField entry; entries.Next(entry);) {
      std::string name;
      WireReader named(entry.bytes);
      for (WireField part; named.Next(part);) {
        if (part.number == 1) name = part.bytes;
      }
      EXPECT_TRUE(named.ok());
      const Json* all = Find(V2(), {field.number == 8 ? "paths" : "definitions"});
      EXPECT_TRUE(all->contains(name)) << name;
      ++(field.number == 8 ? paths : definitions);
    }
    EXPECT_TRUE(entries.ok());
  }
  EXPECT_TRUE(document.ok());
  EXPECT_EQ(swagger, "2.0");
  EXPECT_EQ(definitions, Find(V2(), {"definitions"})->size());
  EXPECT_EQ(paths, Find(V2(), {"paths"})->size());
}

}  // namespace
}  // namespace mailroom::openapi
