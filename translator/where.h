// Where a placement points: pure tests of inventory entries against placements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/object/object.h"
#include "translator/placement.h"

namespace mailroom::translator {

// A cluster in the inventory.
struct InventoryEntry {
  enum class Kind { kSyncTarget, kManagedCluster };
  Kind kind = Kind::kSyncTarget;
  std::string workspace;  // inventory workspace
  std::string mailbox;    // name of its mailbox workspace
  ObjectPtr object;       // never null; holds the labels
};

// A group of SyncTargets of its own workspace.
struct Location {
  std::string workspace;
  ObjectPtr object;                        // never null; holds the labels
  std::optional<LabelSelector> instances;  // absent selects nothing
};

Location ParseLocation(const std::string& workspace, const ObjectPtr& object);

// Whether the entry has been deleted and its cluster is to be cleaned: nothing is sent there.
bool IsLeaving(const Object& entry);

// Whether `placement` sends its objects to the mailbox of `entry`.
bool Selects(const Placement& placement, const InventoryEntry& entry,
             const std::vector<Location>& locations);

}  // namespace mailroom::translator
