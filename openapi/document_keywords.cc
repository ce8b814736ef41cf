#include "openapi/document_keywords.h"

namespace mailroom::openapi {
namespace {

Json UnionJson(const Schema& schema) {
  Json out = Json::object(), fields = Json::object();
  for (const Property& property : schema.properties) {
    if (property.name == *schema.union_by) continue;
    std::string value = property.name;
    value[0] = static_cast<char>(value[0] - ('a' - 'A'));
    fields[property.name] = value;
  }
  if (!schema.union_by->empty()) out["discriminator"] = *schema.union_by;
  out["fields-to-discriminateBy"] = std::move(fields);
  return out;
}

Json RuleJson(const CelRule& rule) {
  Json out = {{"rule", rule.rule}};
  if (!rule.message.empty()) out["message"] = rule.message;
  if (!rule.message_expression.empty()) out["messageExpression"] = rule.message_expression;
  if (!rule.reason.empty()) out["reason"] = rule.reason;
  if (!rule.field_path.empty()) out["fieldPath"] = rule.field_path;
  if (rule.optional_old_self) out["optionalOldSelf"] = true;
  return out;
}

}  // namespace

void WriteBounds(const Schema& schema, Json& out) {
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
}

void WriteExtensions(const Schema& schema, Json& out) {
  if (schema.list_type_given) {
    out["x-kubernetes-list-type"] = schema.list_type == ListType::kMap   ? "map"
                                    : schema.list_type == ListType::kSet ? "set"
                                                                         : "atomic";
    if (schema.list_type == ListType::kMap) out["x-kubernetes-list-map-keys"] = schema.list_map_keys;
  }
  if (schema.type == Type::kObject && schema.map_type_given) {
    out["x-kubernetes-map-type"] = schema.map_type == MapType::kAtomic ? "atomic" : "granular";
  }
  if (schema.union_by) out["x-kubernetes-unions"] = Json::array({UnionJson(schema)});
  if (schema.wire != Wire::kNone) return;
  if (schema.preserve_unknown) out["x-kubernetes-preserve-unknown-fields"] = true;
  if (schema.int_or_string) out["x-kubernetes-int-or-string"] = true;
  if (schema.embedded_resource) out["x-kubernetes-embedded-resource"] = true;
  for (const CelRule& rule : schema.rules) {
    out["x-kubernetes-validations"].push_back(RuleJson(rule));
  }
}

}  // namespace mailroom::openapi
