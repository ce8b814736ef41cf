#include "openapi/validate.h"

#include <algorithm>

#include "openapi/rules.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

// Resources inside custom resources carry their own identity.
void CheckEmbedded(const Schema& schema, const Json& value, const std::string& path, Causes& causes) {
  if (causes.full()) return;
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      CheckEmbedded(*schema.items, value[i], ElementPath(path, i), causes);
    }
  }
  if (!value.is_object() || schema.is_object_meta) return;
  if (schema.embedded_resource) {
    for (const char* name : {"apiVersion", "kind"}) {
      if (StringAt(value, {name}).empty()) {
        causes.push_back(RequiredValue(path + "." + name, "must not be empty"));
      }
    }
    causes.Add(ValidateLabels(Find(value, {"metadata", "labels"}), path + ".metadata.labels"));
  }
  for (const auto& [name, member] : value.items()) {
    if (!member.is_structured()) continue;
    const Property* property = schema.Find(name);
    const Schema* child = property != nullptr ? property->schema : schema.additional;
    if (child == nullptr) continue;
    CheckEmbedded(*child, member, MemberPath(path, name), causes);
  }
}

// Rules may rely on the types and bounds of the schema.
bool BlocksRules(const Cause& cause) {
  for (const char* reason : {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong",
                             "FieldValueTooMany", "FieldValueTypeInvalid"}) {
    if (cause.reason == reason) return true;
  }
  return false;
}

Causes ValidateCustom(const ResourceType& type, const Json& object, const Json* old) {
  const Schema& schema = *type.schema;
  Causes causes;
  CheckEmbedded(schema, object, "", causes);
  causes.Add(CheckSchema(schema, object, old, ""));
  if (old == nullptr || CheckLists(schema, *old, "").empty()) {
    causes.Add(CheckLists(schema, object, ""));
  }
  if (type.rules == nullptr) return causes;
  if (causes.full() || std::any_of(causes.begin(), causes.end(), BlocksRules)) {
    causes.push_back(InvalidValue("<nil>", "null",
                                  "some validation rules were not checked because the object was "
                                  "invalid; correct the existing errors to complete validation"));
    return causes;
  }
  causes.Add(type.rules->Check(object, old));
  return causes;
}

}  // namespace

Causes ValidateObject(const ResourceType& type, const Json& object, const Json* old,
                      std::string_view subresource) {
  if (type.schema == nullptr) return {};
  if (!type.builtin) return ValidateCustom(type, object, old);
  return ValidateBuiltin(type, object, old, subresource);
}

}  // namespace mailroom::openapi
