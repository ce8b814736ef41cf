// What the SyncerConfigs of a mailbox, taken together, tell the syncer to copy down. Pure and
// immutable once made.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/ids.h"
#include "storage/object/json_fwd.h"

namespace mailroom::syncer {

// A set of names, possibly all there are.
struct Names {
  bool all = false;
  std::set<std::string> listed;
  bool Has(std::string_view name) const;
  friend bool operator==(const Names&, const Names&) = default;
};

// What is wanted of one resource.
struct Wanted {
  std::string version;
  Names cluster;  // cluster-scoped objects
  std::map<std::string, Names> by_namespace;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

class Selection {
 public:
  // The union of all configs. Where they name different versions of a resource, the first config
  // in order of its name counts.
  static Selection FromConfigs(const std::vector<Json>& configs);

  bool Wants(const GroupResource& resource, std::string_view ns, std::string_view name) const;
  // Namespaces that must exist in the WEC because something in them is wanted, whether or not
  // the Namespace object itself is.
  bool Ensures(std::string_view ns) const { return ensured_.contains(std::string(ns)); }
  const std::set<std::string>& ensured() const { return ensured_; }
  const std::map<GroupResource, Wanted>& resources() const { return resources_; }
  // No SyncerConfig at all: nobody has given instructions, so nothing may be concluded.
  bool instructed() const { return instructed_; }

  friend bool operator==(const Selection&, const Selection&) = default;

 private:
  friend struct SelectionReader;
  std::map<GroupResource, Wanted> resources_;
  std::set<std::string> ensured_;
  bool instructed_ = false;
};

}  // namespace mailroom::syncer
