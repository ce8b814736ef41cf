// Sets of field paths as managedFields records them, and their fieldsV1 JSON form
// (`f:spec`, `k:{"name":"a"}`, `v:"x"`, `.`). Value type; used only on write paths.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "openapi/schema.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// A path element in its fieldsV1 spelling: `f:name`, `k:{...}`, `v:...`, `i:0`.
using FieldPath = std::vector<std::string>;

// A trie of path elements. `member` says that the path ending here is itself in the set.
class FieldSet {
 public:
  bool member = false;
  std::map<std::string, FieldSet> children;

  bool Empty() const;
  void Insert(const FieldPath& path);
  bool Has(const FieldPath& path) const;
  // All member paths in order.
  std::vector<FieldPath> Paths() const;
  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  FieldSet Difference(const FieldSet& other) const;  // exact paths only
  FieldSet RecursiveDifference(const FieldSet& other) const;  // also below members of other

  Json ToFieldsV1() const;
  static Result<FieldSet> FromFieldsV1(const Json& fields);
  friend bool operator==(const FieldSet&, const FieldSet&);
};

// `.spec.template.spec.containers[name="nginx"].image`, as conflicts print it.
std::string PathText(const FieldPath& path);

// Every leaf and item that `value` sets, by its schema (null schema: maps granular, lists atomic).
FieldSet FieldsOf(const openapi::Schema* schema, const Json& value);
// Paths whose value differs between two objects.
struct FieldChanges {
  FieldSet added, modified, removed;
};
FieldChanges CompareFields(const openapi::Schema* schema, const Json& before, const Json& after);

}  // namespace mailroom::apiserver
