#include "openapi/document_schema.h"

#include <algorithm>

#include "openapi/builtin.h"
#include "openapi/document_kinds.h"
#include "openapi/document_scalars.h"
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

// A member that stays when it is empty: what it then is.
Json ZeroOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kBoolean: return false;
    case Type::kInteger:
    case Type::kNumber: return 0;
    case Type::kString: return "";
    default: return nullptr;
  }
}

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

// Of definitions: which fields selectors may name.
void WriteSelectableFields(const ResourceType& type, Json& out) {
  if (type.builtin || type.selectable_fields.empty()) return;
  Json fields = Json::array();
  for (const SelectableField& field : type.selectable_fields) {
    fields.push_back({{"fieldPath", field.name}});
  }
  out["x-kubernetes-selectable-fields"] = std::move(fields);
}

bool IsCustom(const Schema& owner) { return owner.name.empty(); }

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
    if (Json kinds = kinds_.Of(type); !kinds.empty()) {
      written["x-kubernetes-group-version-kind"] = std::move(kinds);
    }
    models_[model] = std::move(written);
  }
  return Ref(model);
}

Json SchemaWriter::Scalar(std::string_view model) {
  const std::string name(model);
  if (!models_.contains(name)) models_[name] = ScalarModel(model, dialect_);
  return Ref(name);
}

Json SchemaWriter::Part(const Schema& schema) {
  if (const auto scalar = ScalarModelName(schema); !scalar.empty()) return Scalar(scalar);
  return IsModel(schema) ? Named(schema) : Inline(schema);
}

Json SchemaWriter::Wrapped(Json part) const {
  if (dialect_ != Dialect::kV3 || !part.contains("$ref")) return part;
  return {{"allOf", Json::array({std::move(part)})}};
}

Json SchemaWriter::Element(const Schema& schema) {
  Json out = Part(schema);
  if (dialect_ == Dialect::kV2 || schema.wire == Wire::kNone) return out;
  const Json zero = IsModel(schema) ? Json::object()
                    : ScalarModelName(schema).empty() && schema.wire != Wire::kBytes ? ZeroOf(schema)
                                                                                   : Json();
  if (zero.is_null()) return out;
  out = Wrapped(std::move(out));
  out["default"] = zero;
  return out;
}

// Of built-in types: structures are there though empty, and so is what is not left out.
void SchemaWriter::WriteMemberDefault(const Property& property, Json& out) const {
  const Schema& schema = *property.schema;
  if (schema.default_value) {
    out["default"] = *schema.default_value;
  } else if (property.pointer || schema.type == Type::kArray || schema.wire == Wire::kMap ||
             schema.wire == Wire::kBytes || !ScalarModelName(schema).empty()) {
    return;
  } else if (IsModel(schema)) {
    out["default"] = Json::object();
  } else if (const Json zero = ZeroOf(schema); property.always && !zero.is_null()) {
    out["default"] = zero;
  }
}

Json SchemaWriter::PropertyJson(const Schema& owner, const Property& property) {
  const Schema& schema = *property.schema;
  Json out = Part(schema);
  if (schema.is_object_meta && !IsModel(schema)) out = RefToBuiltin("meta/v1.ObjectMeta");
  out = Wrapped(std::move(out));
  if (dialect_ == Dialect::kV3 && !IsCustom(owner)) WriteMemberDefault(property, out);
  // Definitions say themselves what they have to say, but for what every object has.
  if (!out.contains("description")) {
    std::string text = IsCustom(owner) ? std::string(DescribeCommon(property.name))
                                       : DescribeMember(owner, property, docs_);
    if (!text.empty()) out["description"] = std::move(text);
  }
  if (!property.patch_strategy.empty()) {
    out["x-kubernetes-patch-strategy"] = property.patch_strategy;
    if (!property.patch_merge_key.empty()) {
      out["x-kubernetes-patch-merge-key"] = property.patch_merge_key;
    }
  }
  // The model speaks for itself unless this member is another's.
  if (IsModel(schema) && schema.map_type_given &&
      schema.map_type != BuiltinType(schema.name)->map_type) {
    out["x-kubernetes-map-type"] = schema.map_type == MapType::kAtomic ? "atomic" : "granular";
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
  if (schema.default_value && schema.wire == Wire::kNone) out["default"] = *schema.default_value;
  auto list = [&](const char* key, const std::vector<const Schema*>& nodes) {
    for (const Schema* node : nodes) out[key].push_back(Inline(*node));
  };
  list("allOf", schema.all_of);
  list("anyOf", schema.any_of);
  list("oneOf", schema.one_of);
  if (schema.not_ != nullptr) out["not"] = Inline(*schema.not_);
}

void SchemaWriter::WriteExtensions(const Schema& schema, Json& out) {
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
    out["items"] = Element(*schema.items);
  }
  if (schema.additional != nullptr && !untyped) {
    out["additionalProperties"] = Element(*schema.additional);
  }
  std::vector<std::string> required;
  for (const Property& property : schema.properties) {
    if (!untyped) out["properties"][property.name] = PropertyJson(schema, property);
    if (property.required) required.push_back(property.name);
  }
  for (const std::string& name : schema.required) {
    if (std::find(required.begin(), required.end(), name) == required.end()) required.push_back(name);
  }
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
  Json& written = models_[model];
  written["x-kubernetes-group-version-kind"] = Json::array({KindJson(type.gvk)});
  WriteSelectableFields(type, written);
  return Ref(model);
}

Json SchemaWriter::ListModel(const ResourceType& type) {
  Json items = RefTo(type), metadata = Wrapped(RefToBuiltin("meta/v1.ListMeta"));
  if (type.builtin && dialect_ == Dialect::kV3) {
    items = Wrapped(std::move(items));
    items["default"] = metadata["default"] = Json::object();
  }
  metadata["description"] = "Standard list metadata: its revision, and what follows.";
  Json out = {{"type", "object"},
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
               Json::array({KindJson({type.gvk.group, type.gvk.version, type.list_kind})})}};
  WriteSelectableFields(type, out);
  return out;
}

Json SchemaWriter::RefToList(const ResourceType& type) {
  const std::string model = ModelOf(type) + "List";
  if (!models_.contains(model)) models_[model] = ListModel(type);
  return Ref(model);
}

Json SchemaWriter::RefToVersionInfo() {
  const std::string model = "io.k8s.apimachinery.pkg.version.Info";
  if (!models_.contains(model)) models_[model] = VersionInfoModel(dialect_);
  return Ref(model);
}

std::map<std::string, Json> SchemaWriter::Take() { return std::move(models_); }

}  // namespace mailroom::openapi
