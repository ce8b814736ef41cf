// Sets of field paths as managedFields records them, and their fieldsV1 JSON form
// (`f:spec`, `k:{"name":"a"}`, `v:"x"`, `.`). Value types and pure functions; used only on write
// paths, callable from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openapi/schema.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// A path element in its fieldsV1 spelling: `f:name`, `k:{...}`, `v:...`, `i:0`.
using FieldPath = std::vector<std::string>;

// A trie of path elements. `member` says that the path ending here is itself in the set; the
// root is never a member. No child is empty.
class FieldSet {
 public:
  struct Child;

  bool member = false;
  std::vector<Child> children;  // sorted by element

  bool Empty() const;
  // The subset below `element`, or nullptr.
  const FieldSet* Find(std::string_view element) const;
  FieldSet* Find(std::string_view element);
  // The subset below `element`, made when missing (the caller then fills it).
  FieldSet& At(std::string_view element);
  // Adds `child` below an element that sorts after all present ones, or anywhere otherwise.
  void Attach(std::string element, FieldSet child);
  void Erase(std::string_view element);
  // For many different elements that come in no order: appends without looking, and restores the
  // order afterwards. Nothing else may be called in between.
  void Append(std::string element, FieldSet child);
  void Sort();

  void Insert(const FieldPath& path);
  bool Has(const FieldPath& path) const;
  std::size_t Count() const;  // of member paths
  // The first of the member paths as PathText has them, each within limits::kProblemPathBytes:
  // those that end at a level come before those that go deeper.
  std::vector<std::string> PathTexts(std::size_t most) const;
  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  FieldSet Difference(const FieldSet& other) const;           // exact paths only
  FieldSet RecursiveDifference(const FieldSet& other) const;  // also below members of other
  // True when some path is in both.
  bool Intersects(const FieldSet& other) const;

  Json ToFieldsV1() const;
  static Result<FieldSet> FromFieldsV1(const Json& fields);
  friend bool operator==(const FieldSet&, const FieldSet&);
};

struct FieldSet::Child {
  std::string element;
  FieldSet set;
};

// `f:` and the name.
std::string NameElement(std::string_view name);
// `.spec.template.spec.containers[name="nginx"].image`, as conflicts print it.
std::string PathText(const FieldPath& path);
// The text of one element of such a path.
std::string ElementText(std::string_view element);

// Every leaf and item that `value` sets, by its schema (null schema: maps granular, lists atomic).
FieldSet FieldsOf(const openapi::Schema* schema, const Json& value);
// Paths whose value differs between two objects.
struct FieldChanges {
  FieldSet added, modified, removed;
  bool Empty() const { return added.Empty() && modified.Empty() && removed.Empty(); }
};
FieldChanges CompareFields(const openapi::Schema* schema, const Json& before, const Json& after);

}  // namespace mailroom::apiserver
