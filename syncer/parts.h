// What the syncer's errands share: the two servers, and what is known of them. Owned by Syncer,
// which outlives every errand. Thread-safe members only.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "apiserver/client/client.h"
#include "storage/object/json.h"
#include "syncer/collections.h"
#include "syncer/config.h"
#include "syncer/kinds.h"
#include "syncer/ownership.h"
#include "syncer/report.h"

namespace mailroom::syncer {

struct Side {
  client::Client client;
  Kinds kinds;
  Collections collections;
};

// The instructions in force; null until the SyncerConfigs have been read for the first time.
class Instructions {
 public:
  std::shared_ptr<const Selection> Get() const {
    std::lock_guard lock(mutex_);
    return selection_;
  }
  void Set(std::shared_ptr<const Selection> selection) {
    std::lock_guard lock(mutex_);
    selection_ = std::move(selection);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Selection> selection_;  // guarded by mutex_
};

// Resources that the mailbox was asked for and does not serve.
class Unserved {
 public:
  bool Has(const GroupResource& resource) const {
    std::lock_guard lock(mutex_);
    return resources_.contains(resource);
  }
  void Set(const GroupResource& resource, bool unserved) {
    std::lock_guard lock(mutex_);
    if (unserved) {
      resources_.insert(resource);
    } else {
      resources_.erase(resource);
    }
  }

 private:
  mutable std::mutex mutex_;
  std::set<GroupResource> resources_;  // guarded by mutex_
};

struct Parts {
  const Identity identity;
  Side mailbox;
  Side wec;
  Instructions instructions;
  Unserved unserved;
  Report report;
};

// The object's collection at the version in use.
inline client::ObjectRef RefOf(const Place& place, const std::string& api_version) {
  return {.gvr = {api_version, place.resource.resource},
          .ns = place.ns,
          .name = place.name,
          .subresource = ""};
}

}  // namespace mailroom::syncer
