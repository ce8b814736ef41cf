#include "translator/copies.h"

#include <vector>

#include "openapi/edge_names.h"
#include "translator/discover.h"

namespace mailroom::translator {
namespace {

std::string ProjectedSelector() {
  return std::string(openapi::kProjectedLabel) + "=" + std::string(openapi::kProjectedValue);
}

}  // namespace

Copies::Copies(client::Client all_workspaces, Listener listener, std::function<void()> synced)
    : all_(std::move(all_workspaces)), listener_(std::move(listener)), synced_(std::move(synced)) {}

Copies::~Copies() { Watch({}); }

void Copies::Watch(const std::map<GroupResource, std::string>& versions) {
  std::vector<Watched> ended;
  std::map<GroupResource, std::string> fresh = versions;
  {
    std::lock_guard lock(mutex_);
    for (auto it = watched_.begin(); it != watched_.end();) {
      const auto wanted = versions.find(it->first);
      if (wanted != versions.end() && wanted->second == it->second.version) {
        fresh.erase(it->first);
        ++it;
        continue;
      }
      ended.push_back(std::move(it->second));
      it = watched_.erase(it);
    }
  }
  ended.clear();
  for (const auto& [resource, version] : fresh) {
    Watched begun = Begin(resource, version);
    const std::shared_ptr<client::Informer> informer = begun.informer;
    {
      std::lock_guard lock(mutex_);
      watched_.insert_or_assign(resource, std::move(begun));
    }
    // Its own call may have come before it could be found here.
    if (informer->synced()) synced_();
  }
}

Copies::Watched Copies::Begin(const GroupResource& resource, const std::string& version) {
  auto counts = std::make_shared<Counts>();
  const ResourceFacts facts{
      .resource = resource, .version = version, .has_status = false, .namespaced = false};
  std::shared_ptr<client::Informer> informer = client::Informer::Start(
      {.client = all_,
       .gvr = facts.gvr(),
       .query = {.ns = "", .label_selector = ProjectedSelector(), .field_selector = ""},
       .metadata_only = false,
       .watch_list = true,
       .on_synced = synced_},
      [this, resource, counts](const client::ObjectKey& key, const ObjectPtr& before,
                               const ObjectPtr& now) {
        Note(resource, *counts, key, before, now);
      });
  return {version, std::move(counts), std::move(informer)};
}

std::shared_ptr<client::Informer> Copies::Find(const GroupResource& resource) const {
  std::lock_guard lock(mutex_);
  const auto found = watched_.find(resource);
  return found == watched_.end() ? nullptr : found->second.informer;
}

bool Copies::Synced(const GroupResource& resource) const {
  const auto informer = Find(resource);
  return informer != nullptr && informer->synced();
}

ObjectPtr Copies::Get(const std::string& mailbox, const ObjectId& id) const {
  const auto informer = Find(id.resource);
  return informer == nullptr ? nullptr
                             : informer->Get({.workspace = mailbox, .ns = id.ns, .name = id.name});
}

std::map<std::string, ObjectPtr> Copies::Definitions() const {
  std::map<std::string, ObjectPtr> out;
  const auto informer = Find(kCrds);
  if (informer == nullptr) return out;
  for (auto& [key, object] : informer->List()) {
    if (openapi::ParseMailboxName(key.workspace)) out.try_emplace(key.name, std::move(object));
  }
  return out;
}

bool Copies::AnyInNamespace(const std::string& mailbox, const std::string& ns) const {
  std::lock_guard lock(mutex_);
  for (const auto& [resource, watched] : watched_) {
    if (watched.counts->contains({mailbox, ns})) return true;
  }
  return false;
}

bool Copies::AnyOfResource(const std::string& mailbox, const GroupResource& resource) const {
  std::lock_guard lock(mutex_);
  const auto found = watched_.find(resource);
  if (found == watched_.end()) return false;
  const auto first = found->second.counts->lower_bound({mailbox, ""});
  return first != found->second.counts->end() && first->first.first == mailbox;
}

void Copies::Note(const GroupResource& resource, Counts& counts, const client::ObjectKey& key,
                  const ObjectPtr& before, const ObjectPtr& now) {
  // The label alone proves nothing: somebody may have carried it into another workspace.
  if (!openapi::ParseMailboxName(key.workspace)) return;
  const int by = (now != nullptr ? 1 : 0) - (before != nullptr ? 1 : 0);
  if (by != 0) {
    std::lock_guard lock(mutex_);
    const auto slot = counts.try_emplace({key.workspace, key.ns}, 0).first;
    slot->second += by;
    if (slot->second == 0) counts.erase(slot);
  }
  listener_(key.workspace, ObjectId{resource, key.ns, key.name}, before, now);
}

}  // namespace mailroom::translator
