// The objects of one resource in one workspace, and of one resource over all workspaces, with
// their chains of recent events and their subscribers. Guarded by the cache's lock.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "storage/audience.h"
#include "storage/history.h"
#include "storage/object/thinned.h"

namespace mailroom::storage {

struct NameInCollection {
  std::string_view ns;
  std::string_view name;
  friend auto operator<=>(const NameInCollection&, const NameInCollection&) = default;
};

inline NameInCollection NameOf(const Object& object) {
  return {object.meta().ns, object.meta().name};
}

// Orders objects by namespace and name, read from the objects themselves so that no key is held
// beside them.
struct ByName {
  using is_transparent = void;
  bool operator()(const ObjectPtr& a, const ObjectPtr& b) const { return NameOf(*a) < NameOf(*b); }
  bool operator()(const ObjectPtr& a, const NameInCollection& b) const { return NameOf(*a) < b; }
  bool operator()(const NameInCollection& a, const ObjectPtr& b) const { return a < NameOf(*b); }
};

using ObjectSet = absl::btree_set<ObjectPtr, ByName>;

struct ResourceBranch;

struct Collection : Chain {
  CollectionNamePtr name;
  ResourceBranch* branch = nullptr;
  ObjectSet objects;
  Revision last_change;
  std::unique_ptr<Audience> audience;  // null while nobody listens

  std::shared_ptr<const Workspace> workspace() const { return {name, &name->workspace}; }
};

// One resource over all workspaces.
struct ResourceBranch : Chain {
  // Keyed by workspace name, which the collection owns.
  absl::btree_map<std::string_view, std::unique_ptr<Collection>> collections;
  Thinned thinned;                     // of the collections
  std::unique_ptr<Audience> audience;  // of all workspaces; null while nobody listens
  // Collections that were forgotten had lost events up to this revision.
  Revision forgotten;
};

}  // namespace mailroom::storage
