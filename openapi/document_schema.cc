#include "openapi/document_schema.h"

#include <algorithm>

#include "openapi/builtin.h"
#include "openapi/document_keywords.h"
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

bool IsOfEveryObject(const Schema& owner, std::string_view member) {
  const Property* metadata = owner.Find("metadata");
  return metadata != nullptr && metadata->schema->is_object_meta &&
         (member == "apiVersion" || member == "kind" || member == "metadata");
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

std::string SchemaWriter::ListModelOf(const ResourceType& type) const {
  if (type.builtin) return ModelOf(type) + "List";
  return Reversed(type.gvk.group) + "." + type.gvk.version + "." + type.list_kind;
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
  if (dialect_ == Dialect::kV2) return out;
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
  // Definitions may restrict what every object has, but it is shown as it is everywhere.
  if (IsCustom(owner) && IsOfEveryObject(owner, property.name)) {
    Json common = schema.is_object_meta ? Wrapped(RefToBuiltin("meta/v1.ObjectMeta"))
                                        : Json{{"type", "string"}};
    common["description"] = DescribeCommon(property.name);
    return common;
  }
  Json out = Part(schema);
  out = Wrapped(std::move(out));
  if (dialect_ == Dialect::kV3 && !IsCustom(owner)) WriteMemberDefault(property, out);
  // Definitions say themselves what they have to say.
  if (!IsCustom(owner) && !out.contains("description")) {
    std::string text = DescribeMember(owner, property, docs_);
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

Json SchemaWriter::Inline(const Schema& schema) {
  if (schema.wire == Wire::kNone && schema.name.empty()) return Custom(schema);
  Json out = Json::object();
  if (!schema.description.empty()) out["description"] = schema.description;
  if (schema.type != Type::kAny) out["type"] = TypeText(schema.type);
  if (!schema.format.empty()) out["format"] = schema.format;
  if (schema.items != nullptr && schema.type == Type::kArray) out["items"] = Element(*schema.items);
  if (schema.additional != nullptr) out["additionalProperties"] = Element(*schema.additional);
  for (const Property& property : schema.properties) {
    out["properties"][property.name] = PropertyJson(schema, property);
    if (property.required) out["required"].push_back(property.name);
  }
  WriteBounds(schema, out);
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
  const std::string model = ListModelOf(type);
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
