// Uniqueness in lists of type set and map.
#include <map>

#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"

namespace mailroom::openapi {
namespace {

// The key members of a list-map item.
Json KeyOf(const Schema& schema, const Json& item) {
  Json key = Json::object();
  for (const std::string& name : schema.list_map_keys) {
    if (auto member = item.find(name); member != item.end()) key[name] = *member;
  }
  return key;
}

void CheckUnique(const Schema& schema, const Json& list, const std::string& path, Causes& causes) {
  const bool keyed = schema.list_type == ListType::kMap;
  for (std::size_t i = 0; i < list.size() && keyed; ++i) {
    if (list[i].is_object() || list[i].is_null()) continue;
    causes.push_back(InvalidValue(ElementPath(path, i), Rendered(list[i]),
                                  "must be an object for an array of list-type map"));
    return;
  }
  if (list.size() <= 1) return;
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json key =
        keyed ? (list[i].is_object() ? KeyOf(schema, list[i]) : Json::object()) : list[i];
    // Each repeated value is reported once, at its second place.
    if (++seen[DumpJson(key)] == 2) {
      causes.push_back(DuplicateValue(ElementPath(path, i), Rendered(key)));
    }
  }
}

void Walk(const Schema& schema, const Json& value, const std::string& path, Causes& causes) {
  if (causes.full()) return;
  if (value.is_array()) {
    if (schema.list_type != ListType::kAtomic) CheckUnique(schema, value, path, causes);
    if (schema.items == nullptr) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Walk(*schema.items, value[i], ElementPath(path, i), causes);
    }
    return;
  }
  if (!value.is_object() || schema.is_object_meta) return;
  for (const auto& [name, member] : value.items()) {
    if (!member.is_structured()) continue;
    if (const Property* property = schema.Find(name)) {
      Walk(*property->schema, member, MemberPath(path, name), causes);
    } else if (schema.additional != nullptr) {
      Walk(*schema.additional, member, EntryPath(path, name), causes);
    }
  }
}

}  // namespace

Causes CheckLists(const Schema& schema, const Json& value, const std::string& path) {
  Causes causes;
  Walk(schema, value, path, causes);
  return causes;
}

}  // namespace mailroom::openapi
