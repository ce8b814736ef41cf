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
void CheckEmbedded(const Schema& schema, const Json& value, const std::string& path,
                   std::vector<Cause>& causes) {
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      CheckEmbedded(*schema.items, value[i], path + "[" + std::to_string(i) + "]", causes);
    }
  }
  if (!value.is_object() || schema.is_object_meta) return;
  if (schema.embedded_resource) {
    for (const char* name : {"apiVersion", "kind"}) {
      if (StringAt(value, {name}).empty()) {
        causes.push_back(RequiredValue(path + "." + name, "must not be empty"));
      }
    }
    for (Cause& cause :
         ValidateLabels(Find(value, {"metadata", "labels"}), path + ".metadata.labels")) {
      causes.push_back(std::move(cause));
    }
  }
  for (const auto& [name, member] : value.items()) {
    if (!member.is_structured()) continue;
    const Property* property = schema.Find(name);
    const Schema* child = property != nullptr ? property->schema : schema.additional;
    if (child == nullptr) continue;
    CheckEmbedded(*child, member, path.empty() ? name : path + "." + name, causes);
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

std::vector<Cause> ValidateCustom(const ResourceType& type, const Json& object, const Json* old) {
  const Schema& schema = *type.schema;
  std::vector<Cause> causes;
  CheckEmbedded(schema, object, "", causes);
  for (Cause& cause : CheckSchema(schema, object, old, "")) causes.push_back(std::move(cause));
  if (old == nullptr || CheckLists(schema, *old, "").empty()) {
    for (Cause& cause : CheckLists(schema, object, "")) causes.push_back(std::move(cause));
  }
  if (type.rules == nullptr) return causes;
  if (std::any_of(causes.begin(), causes.end(), BlocksRules)) {
    causes.push_back(InvalidValue("<nil>", "null",
                                  "some validation rules were not checked because the object was "
                                  "invalid; correct the existing errors to complete validation"));
    return causes;
  }
  for (Cause& cause : type.rules->Check(object, old)) causes.push_back(std::move(cause));
  return causes;
}

}  // namespace

std::vector<Cause> ValidateObject(const ResourceType& type, const Json& object, const Json* old,
                                  std::string_view subresource) {
  if (type.schema == nullptr) return {};
  if (!type.builtin) return ValidateCustom(type, object, old);
  return ValidateBuiltin(type, object, old, subresource);
}

}  // namespace mailroom::openapi
