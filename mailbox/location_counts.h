// How many SyncTargets belong to each Location of their workspace, and how many of those are ready:
// kept as objects come and go, each change at the cost of the few it can concern. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/object/object.h"
#include "storage/object/selector.h"
#include "storage/object/thinned.h"

namespace mailroom::mailbox {

struct Instances {
  std::int64_t all = 0;
  std::int64_t available = 0;  // with condition Ready
  friend bool operator==(const Instances&, const Instances&) = default;
};

class LocationCounts {
 public:
  // The SyncTarget is now so (null: gone); the Locations of the workspace whose counts changed.
  std::vector<std::string> PutTarget(const std::string& workspace, const std::string& name,
                                     const ObjectPtr& now);
  // The Location is now so (null: gone).
  void PutLocation(const std::string& workspace, const std::string& name, const ObjectPtr& now);
  // Nothing for a Location that is not there.
  std::optional<Instances> Of(const std::string& workspace, const std::string& name) const;

 private:
  struct Location {
    std::optional<LabelSelector> selector;  // nothing: selects none
    std::string label;                      // one that every instance has, "" when unknown
    Instances instances = {};
  };
  struct Inventory {
    std::map<std::string, ObjectPtr> targets;
    Thinned thinned;  // of these
    std::map<std::string, std::set<std::string>> targets_by_label;  // "key=value"
    std::map<std::string, Location> locations;
    std::map<std::string, std::set<std::string>> locations_by_label;
  };
  static void Count(const Inventory& inventory, Location& location);

  mutable std::mutex mutex_;
  std::map<std::string, Inventory> inventories_;  // by workspace; guarded by mutex_
};

}  // namespace mailroom::mailbox
