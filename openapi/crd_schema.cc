// From the openAPIV3Schema tree of a definition to schema nodes.
#include <algorithm>
#include <array>
#include <utility>

#include "openapi/builtin.h"
#include "openapi/crd.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 6> kTypes = {{
    {"object", Type::kObject},
    {"array", Type::kArray},
    {"string", Type::kString},
    {"integer", Type::kInteger},
    {"number", Type::kNumber},
    {"boolean", Type::kBoolean},
}};

std::optional<double> NumberAt(const Json& tree, std::string_view key) {
  const Json* value = Find(tree, {key});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<std::int64_t> CountAt(const Json& tree, std::string_view key) {
  const Json* value = Find(tree, {key});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<std::int64_t>();
}

class SchemaBuilder {
 public:
  explicit SchemaBuilder(SchemaSet& set) : set_(set) {}

  Result<Schema*> Build(const Json& tree) {
    if (!tree.is_object()) return BadRequest("a schema must be an object");
    if (set_.nodes.size() >= limits::kSchemaNodes) return BadRequest("the schema is too large");
    Schema* node = set_.New();
    TRY(ReadType(tree, *node));
    ReadValidations(tree, *node);
    ReadExtensions(tree, *node);
    TRY(ReadChildren(tree, *node));
    if (node->embedded_resource) AddResourceMembers(*node);
    node->BuildIndex();
    return node;
  }

  // apiVersion, kind and metadata, where the definition does not say more about them.
  void AddResourceMembers(Schema& node) {
    Schema* text = set_.New();
    text->type = Type::kString;
    node.BuildIndex();
    for (std::string_view name : {"apiVersion", "kind"}) {
      if (node.Find(name) == nullptr) AddProperty(node, std::string(name), text);
    }
    const Schema* meta = BuiltinType("meta/v1.ObjectMeta");
    if (const Property* given = node.Find("metadata"); given != nullptr) {
      meta = Restrict(*meta, *given->schema);
      std::erase_if(node.properties, [](const Property& p) { return p.name == "metadata"; });
    }
    AddProperty(node, "metadata", meta);
    node.BuildIndex();
  }

 private:
  static void AddProperty(Schema& node, std::string name, const Schema* schema) {
    Property& property = node.properties.emplace_back();
    property.name = std::move(name);
    property.schema = schema;
  }

  // ObjectMeta with the name and generateName rules that a definition may add.
  const Schema* Restrict(const Schema& meta, const Schema& given) {
    if (given.properties.empty()) return &meta;
    Schema* node = set_.New();
    *node = meta;
    for (Property& property : node->properties) {
      if (property.name != "name" && property.name != "generateName") continue;
      if (const Property* rule = given.Find(property.name)) property.schema = rule->schema;
    }
    return node;
  }

  static Result<void> ReadType(const Json& tree, Schema& node) {
    const std::string type = StringAt(tree, {"type"});
    if (type.empty()) return Ok();
    for (const auto& [name, value] : kTypes) {
      if (name != type) continue;
      node.type = value;
      return Ok();
    }
    return BadRequest("unknown schema type " + Quoted(type));
  }

  static void ReadValidations(const Json& tree, Schema& node) {
    node.format = StringAt(tree, {"format"});
    node.description = StringAt(tree, {"description"});
    node.pattern = StringAt(tree, {"pattern"});
    node.nullable = BoolAt(tree, {"nullable"});
    if (const Json* value = Find(tree, {"default"})) node.default_value = *value;
    if (const Json* values = Find(tree, {"enum"}); values && values->is_array()) {
      node.enum_values.assign(values->begin(), values->end());
    }
    node.minimum = NumberAt(tree, "minimum");
    node.maximum = NumberAt(tree, "maximum");
    node.multiple_of = NumberAt(tree, "multipleOf");
    node.exclusive_minimum = BoolAt(tree, {"exclusiveMinimum"});
    node.exclusive_maximum = BoolAt(tree, {"exclusiveMaximum"});
    node.min_length = CountAt(tree, "minLength");
    node.max_length = CountAt(tree, "maxLength");
    node.min_items = CountAt(tree, "minItems");
    node.max_items = CountAt(tree, "maxItems");
    node.min_properties = CountAt(tree, "minProperties");
    node.max_properties = CountAt(tree, "maxProperties");
    node.required = StringsAt(tree, {"required"});
  }

  static void ReadExtensions(const Json& tree, Schema& node) {
    node.int_or_string = BoolAt(tree, {"x-kubernetes-int-or-string"});
    if (node.int_or_string) node.type = Type::kAny;
    node.preserve_unknown = BoolAt(tree, {"x-kubernetes-preserve-unknown-fields"});
    node.embedded_resource = BoolAt(tree, {"x-kubernetes-embedded-resource"});
    const std::string list_type = StringAt(tree, {"x-kubernetes-list-type"});
    node.list_type_given = !list_type.empty();
    if (list_type == "set") node.list_type = ListType::kSet;
    if (list_type == "map") node.list_type = ListType::kMap;
    node.list_map_keys = StringsAt(tree, {"x-kubernetes-list-map-keys"});
    const std::string map_type = StringAt(tree, {"x-kubernetes-map-type"});
    node.map_type_given = !map_type.empty();
    if (map_type == "atomic") node.map_type = MapType::kAtomic;
    if (const Json* rules = Find(tree, {"x-kubernetes-validations"}); rules && rules->is_array()) {
      for (const Json& rule : *rules) {
        node.rules.push_back({.rule = StringAt(rule, {"rule"}),
                              .message = StringAt(rule, {"message"}),
                              .message_expression = StringAt(rule, {"messageExpression"}),
                              .reason = StringAt(rule, {"reason"}),
                              .field_path = StringAt(rule, {"fieldPath"}),
                              .optional_old_self = BoolAt(rule, {"optionalOldSelf"})});
      }
    }
  }

  Result<void> ReadChildren(const Json& tree, Schema& node) {
    if (const Json* properties = Find(tree, {"properties"});
        properties && properties->is_object()) {
      for (const auto& [name, child] : properties->items()) {
        AddProperty(node, name, TRY(Build(child)));
      }
    }
    for (Property& property : node.properties) {
      property.required = std::find(node.required.begin(), node.required.end(), property.name) !=
                          node.required.end();
    }
    if (const Json* items = Find(tree, {"items"})) node.items = TRY(Build(*items));
    if (const Json* additional = Find(tree, {"additionalProperties"})) {
      if (additional->is_object()) node.additional = TRY(Build(*additional));
      if (additional->is_boolean() && additional->get<bool>()) node.additional = set_.New();
    }
    TRY(ReadList(tree, "allOf", node.all_of));
    TRY(ReadList(tree, "anyOf", node.any_of));
    TRY(ReadList(tree, "oneOf", node.one_of));
    if (const Json* other = Find(tree, {"not"})) node.not_ = TRY(Build(*other));
    return Ok();
  }

  Result<void> ReadList(const Json& tree, std::string_view key, std::vector<const Schema*>& out) {
    const Json* list = Find(tree, {key});
    if (list == nullptr || !list->is_array()) return Ok();
    for (const Json& child : *list) out.push_back(TRY(Build(child)));
    return Ok();
  }

  SchemaSet& set_;
};

}  // namespace

Result<const Schema*> SchemaFromOpenApi(const Json& tree, SchemaSet& set) {
  return TRY(SchemaBuilder(set).Build(tree));
}

Result<const Schema*> RootSchemaFromOpenApi(const Json& tree, SchemaSet& set) {
  SchemaBuilder builder(set);
  Schema* root = TRY(builder.Build(tree));
  builder.AddResourceMembers(*root);
  return root;
}

}  // namespace mailroom::openapi
