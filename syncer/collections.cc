#include "syncer/collections.h"

#include <utility>

namespace mailroom::syncer {

Collections::Collections(client::Client client, std::string label_selector,
                         std::function<void(const Place&)> changed,
                         std::function<void(const GroupResource&)> synced)
    : client_(std::move(client)),
      label_selector_(std::move(label_selector)),
      changed_(std::move(changed)),
      synced_(std::move(synced)) {}

void Collections::Start(const GroupResource& resource, const std::string& api_version) {
  {
    std::lock_guard lock(mutex_);
    const auto known = running_.find(resource);
    if (known != running_.end() && known->second.api_version == api_version) return;
  }
  // Not under the lock: informers call back with locks of their own held.
  Running started{
      api_version,
      client::Informer::Start(
          {.client = client_,
           .gvr = {api_version, resource.resource},
           .query = {.ns = "", .label_selector = label_selector_, .field_selector = ""},
           .on_synced = [this, resource] { synced_(resource); }},
          [this, resource](const client::ObjectKey& key, const ObjectPtr&, const ObjectPtr&) {
            changed_({resource, key.ns, key.name});
          })};
  std::lock_guard lock(mutex_);
  std::swap(running_[resource], started);
}

void Collections::Stop(const GroupResource& resource) {
  Running stopped;  // ends after the lock
  std::lock_guard lock(mutex_);
  if (auto node = running_.extract(resource); !node.empty()) stopped = std::move(node.mapped());
}

void Collections::Clear() {
  std::map<GroupResource, Running> stopped;
  std::lock_guard lock(mutex_);
  stopped.swap(running_);
}

std::shared_ptr<const client::Informer> Collections::Of(const GroupResource& resource) const {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(resource);
  return found == running_.end() ? nullptr : found->second.informer;
}

bool Collections::synced(const GroupResource& resource) const {
  const auto informer = Of(resource);
  return informer != nullptr && informer->synced();
}

std::vector<Place> Collections::Places(const GroupResource& resource) const {
  std::vector<Place> places;
  if (const auto informer = Of(resource); informer != nullptr) {
    for (const auto& [key, unused] : informer->List()) {
      places.push_back({resource, key.ns, key.name});
    }
  }
  return places;
}

}  // namespace mailroom::syncer
