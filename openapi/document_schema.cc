#include "openapi/document_schema.h"

#include <algorithm>

#include "openapi/builtin.h"
#include "openapi/descriptions.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

bool IsModel(const Schema& schema) {
  return !schema.name.empty() && schema.type == Type::kObject && BuiltinType(schema.name) != nullptr;
}

// `example.com` as `com.example`.
std::string Reversed(std::string_view group) {
  std::string out;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    if (!out.empty()) out += '.';
    out += group.substr(start);
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return out;
}

Json GvkList(const GroupVersionKind& gvk) {
  return Json::array({{{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}}});
}

}  // namespace

Json SchemaWriter::Ref(const std::string& model) const {
  return {{"$ref", (dialect_ == Dialect::kV3 ? "#/components/schemas/" : "#/definitions/") + model}};
}

std::string SchemaWriter::ModelOf(const ResourceType& type) const {
  if (type.builtin && type.schema != nullptr && !type.schema->name.empty()) {
    return BuiltinModelName(type.schema->name);
  }
  return Reversed(type.gvk.group) + "." + type.gvk.version + "." + type.gvk.kind;
}

Json SchemaWriter::RefToBuiltin(std::string_view name) {
  const Schema* schema = BuiltinType(name);
  return schema == nullptr ? Json::object() : Named(*schema);
}

Json SchemaWriter::Named(const Schema& schema) {
  const std::string model = BuiltinModelName(schema.name);
  if (!models_.contains(model)) {
    models_.emplace(model, Json());  // before descending: types may recurse
    const Schema& type = *BuiltinType(schema.name);
    Json written = Inline(type);
    if (!written.contains("description")) written["description"] = DescribeType(type, docs_);
    models_[model] = std::move(written);
  }
  return Ref(model);
}

// v2 cannot say that something is one of two types.
Json SchemaWriter::NumberOrText(const Schema& schema) {
  const bool amount = schema.wire == Wire::kQuantity;
  const std::string model = amount ? "io.k8s.apimachinery.pkg.api.resource.Quantity"
                                   : "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  if (models_.contains(model)) return Ref(model);
  Json written = {{"description", amount ? "An amount: a number, or text such as 500m or 2Gi."
                                         : "A number, or text."}};
  if (!amount) written["format"] = "int-or-string";
  if (dialect_ == Dialect::kV2) {
    written["type"] = "string";
  } else {
    const Json text = {{"type", "string"}};
    written["oneOf"] = amount ? Json::array({text, Json{{"type", "number"}}})
                              : Json::array({Json{{"type", "integer"}}, text});
  }
  models_[model] = std::move(written);
  return Ref(model);
}

Json SchemaWriter::Part(const Schema& schema) {
  if (schema.wire == Wire::kQuantity || schema.wire == Wire::kIntOrString) return NumberOrText(schema);
  return IsModel(schema) ? Named(schema) : Inline(schema);
}

Json SchemaWriter::PropertyJson(const Schema& owner, const Property& property) {
  const Schema& schema = *property.schema;
  Json out = Part(schema);
  if (schema.is_object_meta && !IsModel(schema)) out = RefToBuiltin("meta/v1.ObjectMeta");
  if (out.contains("$ref") && dialect_ == Dialect::kV3) {
    out = {{"allOf", Json::array({std::move(out)})}};
  }
  // Definitions say themselves what they have to say, but for what every object has.
  if (!out.contains("description")) {
    std::string text = owner.name.empty() ? std::string(DescribeCommon(property.name))
                                          : DescribeMember(owner, property, docs_);
    if (!text.empty()) out["description"] = std::move(text);
  }
  if (property.patch_merge || property.patch_retain_keys) {
    out["x-kubernetes-patch-strategy"] = property.patch_merge && property.patch_retain_keys
                                             ? "merge,retainKeys"
                                         : property.patch_merge ? "merge" : "retainKeys";
    if (!property.patch_merge_key.empty()) {
      out["x-kubernetes-patch-merge-key"] = property.patch_merge_key;
    }
  }
  return out;
}

void SchemaWriter::WriteValidations(const Schema& schema, Json& out) {
  auto number = [&](const char* key, const auto& value) {
    if (value) out[key] = *value;
  };
  number("minimum", schema.minimum);
  number("maximum", schema.maximum);
  number("multipleOf", schema.multiple_of);
  number("minLength", schema.min_length);
  number("maxLength", schema.max_length);
  number("minItems", schema.min_items);
  number("maxItems", schema.max_items);
  number("minProperties", schema.min_properties);
  number("maxProperties", schema.max_properties);
  if (schema.exclusive_minimum) out["exclusiveMinimum"] = true;
  if (schema.exclusive_maximum) out["exclusiveMaximum"] = true;
  if (!schema.pattern.empty()) out["pattern"] = schema.pattern;
  if (!schema.enum_values.empty()) out["enum"] = schema.enum_values;
  if (dialect_ == Dialect::kV2) return;
  if (schema.nullable) out["nullable"] = true;
  if (schema.default_value) out["default"] = *schema.default_value;
  auto list = [&](const char* key, const std::vector<const Schema*>& nodes) {
    for (const Schema* node : nodes) out[key].push_back(Inline(*node));
  };
  list("allOf", schema.all_of);
  list("anyOf", schema.any_of);
  list("oneOf", schema.one_of);
  if (schema.not_ != nullptr) out["not"] = Inline(*schema.not_);
}

void SchemaWriter::WriteExtensions(const Schema& schema, Json& out) {
  if (schema.type == Type::kArray && schema.list_type != ListType::kAtomic) {
    out["x-kubernetes-list-type"] = schema.list_type == ListType::kMap ? "map" : "set";
    if (schema.list_type == ListType::kMap) out["x-kubernetes-list-map-keys"] = schema.list_map_keys;
  }
  if (schema.type == Type::kObject && schema.map_type == MapType::kAtomic) {
    out["x-kubernetes-map-type"] = "atomic";
  }
  if (schema.preserve_unknown && schema.wire == Wire::kNone) {
    out["x-kubernetes-preserve-unknown-fields"] = true;
  }
  if (schema.int_or_string && schema.wire == Wire::kNone) out["x-kubernetes-int-or-string"] = true;
  if (schema.embedded_resource) out["x-kubernetes-embedded-resource"] = true;
  if (dialect_ == Dialect::kV2 || schema.rules.empty()) return;
  for (const CelRule& rule : schema.rules) {
    Json written = {{"rule", rule.rule}};
    if (!rule.message.empty()) written["message"] = rule.message;
    if (!rule.message_expression.empty()) written["messageExpression"] = rule.message_expression;
    out["x-kubernetes-validations"].push_back(std::move(written));
  }
}

Json SchemaWriter::Inline(const Schema& schema) {
  Json out = Json::object();
  if (!schema.description.empty()) out["description"] = schema.description;
  // v2 readers know neither nullable nor open objects; they get no type to complain about.
  const bool untyped = dialect_ == Dialect::kV2 && (schema.nullable || schema.preserve_unknown);
  if (schema.type != Type::kAny && !untyped) out["type"] = TypeText(schema.type);
  if (!schema.format.empty()) out["format"] = schema.format;
  if (schema.items != nullptr && schema.type == Type::kArray && !untyped) {
    out["items"] = Part(*schema.items);
  }
  if (schema.additional != nullptr && !untyped) {
    out["additionalProperties"] = Part(*schema.additional);
  }
  std::vector<std::string> required = schema.required;
  for (const Property& property : schema.properties) {
    if (!untyped) out["properties"][property.name] = PropertyJson(schema, property);
    if (property.required) required.push_back(property.name);
  }
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  if (!required.empty() && !untyped) out["required"] = required;
  WriteValidations(schema, out);
  WriteExtensions(schema, out);
  return out;
}

Json SchemaWriter::RefTo(const ResourceType& type) {
  const std::string model = ModelOf(type);
  const bool known = models_.contains(model);
  if (type.schema == nullptr) {
    models_[model] = {{"type", "object"}};
  } else if (type.builtin && IsModel(*type.schema)) {
    (void)Named(*type.schema);
  } else if (!known) {
    models_.emplace(model, Json());
    Json written = Inline(*type.schema);
    if (dialect_ == Dialect::kV2 && type.schema->preserve_unknown) written = {{"type", "object"}};
    models_[model] = std::move(written);
  }
  models_[model]["x-kubernetes-group-version-kind"] = GvkList(type.gvk);
  return Ref(model);
}

Json SchemaWriter::RefToList(const ResourceType& type) {
  const std::string model = ModelOf(type) + "List";
  if (!models_.contains(model)) {
    Json items = RefTo(type);
    Json metadata = RefToBuiltin("meta/v1.ListMeta");
    if (dialect_ == Dialect::kV3) {
      items = {{"allOf", Json::array({std::move(items)})}};
      metadata = {{"allOf", Json::array({std::move(metadata)})}};
    }
    metadata["description"] = "Standard list metadata: its revision, and what follows.";
    models_[model] = {
        {"type", "object"},
        {"description", "A list of " + type.gvk.kind + "."},
        {"required", Json::array({"items"})},
        {"properties",
         {{"apiVersion", {{"type", "string"}, {"description", DescribeCommon("apiVersion")}}},
          {"kind", {{"type", "string"}, {"description", DescribeCommon("kind")}}},
          {"metadata", std::move(metadata)},
          {"items",
           {{"type", "array"},
            {"description", "The objects of the list."},
            {"items", std::move(items)}}}}},
        {"x-kubernetes-group-version-kind",
         GvkList({type.gvk.group, type.gvk.version, type.list_kind})}};
  }
  return Ref(model);
}

std::map<std::string, Json> SchemaWriter::Take() { return std::move(models_); }

}  // namespace mailroom::openapi
