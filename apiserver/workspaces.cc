#include "apiserver/workspaces.h"

#include "apiserver/request_info.h"
#include "openapi/crd.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

using openapi::CatalogPtr;
using openapi::WorkspaceType;

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
  std::vector<openapi::ResourceTypePtr> types;
  for (const storage::Entry& entry : list->entries) {
    const Json crd = entry.object->ToJson();
    if (!openapi::IsEstablished(crd)) continue;
    auto served = openapi::TypesOfCrd(crd);
    if (!served.ok()) {
      Log(Level::kWarn, "stored CRD cannot be served",
          {{"workspace", name.name()}, {"crd", std::string(entry.object->meta().name)},
           {"error", served.error().message()}});
      continue;
    }
    types.insert(types.end(), served->begin(), served->end());
  }
  CatalogPtr catalog = types.empty() ? openapi::BaseCatalog(type)
                                     : openapi::Catalog::Extend(*openapi::BaseCatalog(type), types);
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
