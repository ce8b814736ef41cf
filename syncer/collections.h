// The informers of one side, one per resource in use. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "storage/object/ids.h"
#include "syncer/keys.h"

namespace mailroom::syncer {

class Collections {
 public:
  // `changed` is called on the transport's loop for every object that changed, `synced` when a
  // resource's first list is complete; neither may block. `label_selector` restricts every list.
  Collections(client::Client client, std::string label_selector,
              std::function<void(const Place&)> changed,
              std::function<void(const GroupResource&)> synced);

  // Starts, or restarts at another version. One caller at a time per resource; callbacks may come
  // before it returns, when Of does not yet know the informer.
  void Start(const GroupResource& resource, const std::string& api_version);
  void Stop(const GroupResource& resource);
  // Stops everything; no callback runs afterwards.
  void Clear();
  // Null when not started.
  std::shared_ptr<const client::Informer> Of(const GroupResource& resource) const;
  bool synced(const GroupResource& resource) const;
  std::vector<Place> Places(const GroupResource& resource) const;

 private:
  struct Running {
    std::string api_version;
    std::shared_ptr<const client::Informer> informer;
  };

  const client::Client client_;
  const std::string label_selector_;
  const std::function<void(const Place&)> changed_;
  const std::function<void(const GroupResource&)> synced_;
  mutable std::mutex mutex_;
  std::map<GroupResource, Running> running_;  // guarded by mutex_
};

}  // namespace mailroom::syncer
