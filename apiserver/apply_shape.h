// How a value merges at one place: leaf, map, set or keyed list, by its schema or, where the
// schema says nothing, by the value itself. The one reading of list and map types that field
// sets, comparison, merging and removal share. Pure; schemas are immutable.
#pragma once

#include <string>
#include <string_view>

#include "openapi/schema.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// kLeaf covers scalars and everything atomic.
enum class Shape { kLeaf, kMap, kSet, kKeyedList };

// A null takes the form its schema declares, a map where nothing is declared.
Shape ShapeOf(const openapi::Schema* schema, const Json& value);

// One member of a map. A null schema means that the type is deduced from the value.
struct MemberType {
  const openapi::Schema* schema = nullptr;
  bool declared = false;  // a named field, not a free key of a map
  bool allowed = true;    // false: the schema names no such field
};
MemberType MemberOf(const openapi::Schema* schema, std::string_view name);

// The path element of a list item (`k:{...}` or `v:...`). False, with kube-apiserver's words in
// `error`, when the item cannot be told apart from others.
bool ItemElement(const openapi::Schema& list, const Json& item, std::string& element,
                 std::string& error);

}  // namespace mailroom::apiserver
