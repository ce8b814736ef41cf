// Schemas that definitions give.
#include <algorithm>

#include "openapi/document_keywords.h"
#include "openapi/document_schema.h"

namespace mailroom::openapi {
namespace {

bool Nullable(const Schema* schema) { return schema != nullptr && schema->nullable; }

// Of values that are only said to be allowed.
bool IsAny(const Schema& schema) {
  return schema.type == Type::kAny && !schema.int_or_string && !schema.preserve_unknown;
}

void AddOnce(const char* name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

const Json& NumberOrText() {
  static const Json either = {{{"type", "integer"}}, {{"type", "string"}}};
  return either;
}

// What `x-kubernetes-int-or-string` stands for, where the definition does not say it itself.
void Unfold(Json& out) {
  const auto any = out.find("anyOf"), all = out.find("allOf");
  const bool said = any != out.end() && *any == NumberOrText();
  const Json either = {{"anyOf", NumberOrText()}};
  if (said || (all != out.end() && all->front() == either)) return;
  if (any == out.end()) {
    out["anyOf"] = NumberOrText();
  } else if (all == out.end()) {
    out["allOf"] = Json::array({either});
  } else {
    all->insert(all->begin(), either);
  }
}

}  // namespace

// v2 can say less: what may be null, or holds unknown members, has no type for readers to complain
// about, and no parts.
Json SchemaWriter::Custom(const Schema& schema) {
  const bool v2 = dialect_ == Dialect::kV2;
  const bool bare = v2 && (schema.nullable || schema.preserve_unknown);
  const bool has_items = schema.items != nullptr && schema.type == Type::kArray && !bare;
  Json out = Json::object();
  if (!schema.description.empty()) out["description"] = schema.description;
  const bool untyped = v2 && (schema.nullable || (schema.type == Type::kArray && !has_items) ||
                              (schema.preserve_unknown && schema.type == Type::kObject));
  if (schema.type != Type::kAny && !untyped) out["type"] = TypeText(schema.type);
  if (!schema.format.empty()) out["format"] = schema.format;
  if (has_items) out["items"] = Custom(*schema.items);
  if (schema.additional != nullptr) {
    const bool any = IsAny(*schema.additional);
    out["additionalProperties"] = any ? Json(true) : Custom(*schema.additional);
  }
  std::vector<std::string> required = schema.required;
  if (schema.embedded_resource && !(v2 && schema.preserve_unknown)) {
    AddOnce("kind", required);
    AddOnce("apiVersion", required);
  }
  if (!bare) {
    for (const Property& property : schema.properties) {
      out["properties"][property.name] = PropertyJson(schema, property);
      if (v2 && Nullable(property.schema)) std::erase(required, property.name);
    }
  }
  if (v2 && Nullable(schema.additional)) required.clear();
  if (!required.empty()) out["required"] = required;
  WriteBounds(schema, out);
  WriteExtensions(schema, out);
  if (!v2) WriteJunctors(schema, out);
  return out;
}

// What only v3 can say.
void SchemaWriter::WriteJunctors(const Schema& schema, Json& out) {
  if (schema.nullable) out["nullable"] = true;
  if (schema.default_value) out["default"] = *schema.default_value;
  auto list = [&](const char* key, const std::vector<const Schema*>& nodes) {
    for (const Schema* node : nodes) out[key].push_back(Custom(*node));
  };
  list("allOf", schema.all_of);
  list("anyOf", schema.any_of);
  list("oneOf", schema.one_of);
  if (schema.not_ != nullptr) out["not"] = Custom(*schema.not_);
  if (schema.int_or_string) Unfold(out);
}

}  // namespace mailroom::openapi
