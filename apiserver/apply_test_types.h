// Kinds, schemas and short spellings for the tests of patching.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/field_set.h"
#include "openapi/catalog.h"
#include "openapi/crd.h"
#include "openapi/resource_type.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {

// YAML in flow or block style.
inline Json Y(std::string_view text) {
  auto parsed = ParseYaml(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error().message();
  return parsed.ok() ? std::move(*parsed) : Json();
}

inline const openapi::ResourceType& Builtin(std::string_view group, std::string_view version,
                                            std::string_view plural) {
  const openapi::ResourceType* type =
      openapi::BaseCatalog(openapi::WorkspaceType::kCluster)->Find(group, version, plural);
  if (!type) throw std::logic_error("no such built-in: " + std::string(plural));
  return *type;
}

inline const openapi::ResourceType& Deployments() { return Builtin("apps", "v1", "deployments"); }
inline const openapi::ResourceType& ConfigMaps() { return Builtin("", "v1", "configmaps"); }

// A schema node that lives as long as the test program.
inline const openapi::Schema* SchemaFrom(std::string_view open_api) {
  static auto* sets = new std::vector<std::unique_ptr<openapi::SchemaSet>>;
  sets->push_back(std::make_unique<openapi::SchemaSet>());
  auto schema = openapi::SchemaFromOpenApi(Y(open_api), *sets->back());
  if (!schema.ok()) throw std::logic_error(schema.error().message());
  return *schema;
}

// The node at a path of named fields; lists are passed through to their items.
inline const openapi::Schema* MemberSchema(const openapi::Schema* schema,
                                           std::initializer_list<std::string_view> path) {
  for (std::string_view name : path) {
    const openapi::Property* property = schema ? schema->Find(name) : nullptr;
    schema = property ? property->schema : nullptr;
    if (schema && schema->items) schema = schema->items;
  }
  if (!schema) throw std::logic_error("no such field");
  return schema;
}

// A kind Widget (example.com/v1) whose root schema is the given tree; "" gives it none at all.
inline openapi::ResourceType Widgets(std::string_view open_api, bool has_status = false) {
  openapi::ResourceType type;
  type.gvk = {"example.com", "v1", "Widget"};
  type.plural = "widgets";
  type.builtin = false;
  type.namespaced = true;
  type.has_status = has_status;
  if (open_api.empty()) return type;
  auto set = std::make_shared<openapi::SchemaSet>();
  auto root = openapi::RootSchemaFromOpenApi(Y(open_api), *set);
  if (!root.ok()) throw std::logic_error(root.error().message());
  type.schema = *root;
  type.schema_owner = std::move(set);
  return type;
}

// A widget with the given spec.
inline Json Widget(std::string_view spec) {
  Json object = Y("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: d}}");
  object["spec"] = Y(spec);
  return object;
}

// The text of every path in the set.
inline std::vector<std::string> Texts(const FieldSet& set) {
  return set.PathTexts(set.Count());
}

using Strings = std::vector<std::string>;

}  // namespace mailroom::apiserver
