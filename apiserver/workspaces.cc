#include "apiserver/workspaces.h"

#include <deque>
#include <string>
#include <vector>

#include "apiserver/request_info.h"
#include "openapi/crd.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

using openapi::CatalogPtr;
using openapi::WorkspaceType;

namespace {

// What a definition came to.
struct Part {
  ObjectPtr definition;
  std::vector<openapi::ResourceTypePtr> types;
};
using Parts = std::unordered_map<std::string, Part>;  // by name of the definition

// The parts of the workspaces whose definitions changed last, so that a change of one definition
// among thousands compiles only that one. Thread-safe.
class RecentParts {
 public:
  std::shared_ptr<const Parts> Of(const Workspace& name) {
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.name == name) return entry.parts;
    }
    return nullptr;
  }
  void Remember(const Workspace& name, std::shared_ptr<const Parts> parts) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
    entries_.push_front({name, std::move(parts)});
    if (entries_.size() > limits::kRecentDefinitions) entries_.pop_back();
  }
  void Forget(const Workspace& name) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
  }

 private:
  struct Entry {
    Workspace name;
    std::shared_ptr<const Parts> parts;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;  // guarded by mutex_
};

RecentParts& Recent() {
  static auto* recent = new RecentParts;
  return *recent;
}

}  // namespace

Result<WorkspaceView> Workspaces::Find(const Workspace& name) const {
  WorkspaceView view{name, WorkspaceType::kRoot, nullptr};
  if (name.name() != kRootWorkspace) {
    const ResourceKey key{Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "",
                          name.name()};
    const ObjectPtr object = store_.Get(key);
    if (object == nullptr || !object->meta().deletion_timestamp.empty()) {
      return NotFound(kWorkspacesResource.resource, kWorkspacesResource.group, name.name());
    }
    view.type = TRY(openapi::ParseWorkspaceType(object->ScalarAt("spec.type")));
  }
  view.catalog = CatalogOf(name, view.type);
  return view;
}

Workspaces::Ticket Workspaces::OnRemoval(const Workspace& name, std::function<void()> end) const {
  if (name.name() == kRootWorkspace || name.empty()) return nullptr;
  std::uint64_t id = 0;
  {
    std::lock_guard lock(open_->mutex);
    id = open_->next++;
    open_->ends[name].emplace(id, end);
  }
  Ticket ticket(nullptr, [open = open_, name, id](void*) {
    std::lock_guard lock(open->mutex);
    auto place = open->ends.find(name);
    if (place == open->ends.end()) return;
    place->second.erase(id);
    if (place->second.empty()) open->ends.erase(place);
  });
  // It may have gone since it was looked up.
  const ResourceKey key{Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "",
                        name.name()};
  if (store_.Get(key) == nullptr) end();
  return ticket;
}

void Workspaces::Removed(const Workspace& name) const {
  {
    std::lock_guard lock(mutex_);
    derived_.erase(name);
  }
  Recent().Forget(name);
  std::map<std::uint64_t, std::function<void()>> ends;
  {
    std::lock_guard lock(open_->mutex);
    auto place = open_->ends.find(name);
    if (place != open_->ends.end()) ends = place->second;
  }
  for (const auto& [id, end] : ends) end();
}

CatalogPtr Workspaces::CatalogOf(const Workspace& name, WorkspaceType type) const {
  const Revision crds = store_.LastChange(name, kCrdResource);
  if (crds == Revision()) return openapi::BaseCatalog(type);
  {
    std::lock_guard lock(mutex_);
    auto it = derived_.find(name);
    if (it != derived_.end() && it->second.crds == crds) return it->second.catalog;
  }
  auto list = store_.List({.scope = {name, kCrdResource, ""}, .filter = {}, .start_after = "",
                           .limit = 0, .at = {}});
  if (!list.ok()) return openapi::BaseCatalog(type);
  const std::shared_ptr<const Parts> before = Recent().Of(name);
  auto parts = std::make_shared<Parts>();
  std::vector<openapi::ResourceTypePtr> types;
  for (const storage::Entry& entry : list->entries) {
    std::string crd_name(entry.object->meta().name);
    if (before != nullptr) {
      const auto known = before->find(crd_name);
      if (known != before->end() && known->second.definition == entry.object) {
        types.insert(types.end(), known->second.types.begin(), known->second.types.end());
        parts->emplace(std::move(crd_name), known->second);
        continue;
      }
    }
    Part& part = (*parts)[crd_name];
    part.definition = entry.object;
    const Json crd = entry.object->ToJson();
    if (!openapi::IsEstablished(crd)) continue;
    auto served = openapi::TypesOfCrd(crd);
    if (!served.ok()) {
      Log(Level::kWarn, "stored CRD cannot be served",
          {{"workspace", name.name()}, {"crd", crd_name}, {"error", served.error().message()}});
      continue;
    }
    part.types = std::move(*served);
    types.insert(types.end(), part.types.begin(), part.types.end());
  }
  CatalogPtr catalog = types.empty() ? openapi::BaseCatalog(type)
                                     : openapi::Catalog::Extend(*openapi::BaseCatalog(type), types);
  Recent().Remember(name, std::move(parts));
  std::lock_guard lock(mutex_);
  derived_[name] = {crds, catalog};
  return catalog;
}

WorkspaceView Workspaces::All() const {
  static const CatalogPtr kEverything = [] {
    std::vector<openapi::ResourceTypePtr> types;
    for (WorkspaceType type : {WorkspaceType::kRoot, WorkspaceType::kInventory, WorkspaceType::kWds,
                               WorkspaceType::kMailbox}) {
      for (const openapi::Group& group : openapi::BaseCatalog(type)->groups()) {
        for (const openapi::GroupVersion& version : group.versions) {
          types.insert(types.end(), version.resources.begin(), version.resources.end());
        }
      }
    }
    return openapi::Catalog::Make(std::move(types));
  }();
  return {Workspace(), WorkspaceType::kRoot, kEverything};
}

}  // namespace mailroom::apiserver
