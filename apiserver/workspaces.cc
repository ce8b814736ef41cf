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
using PartPtr = std::shared_ptr<const Part>;

// What a workspace serves, and why.
struct Served {
  WorkspaceType type;
  std::vector<PartPtr> parts;  // by name of the definition
  CatalogPtr catalog;
};
using ServedPtr = std::shared_ptr<const Served>;

PartPtr MakePart(const Workspace& workspace, const ObjectPtr& definition) {
  auto part = std::make_shared<Part>();
  part->definition = definition;
  const Json crd = definition->ToJson();
  if (!openapi::IsEstablished(crd)) return part;
  auto types = openapi::TypesOfCrd(crd);
  // By the names in force, which a status can say: the definition itself may look harmless.
  const bool own = types.ok() && !types->empty() &&
                   openapi::IsOwnResource(types->front()->stored_as);
  if (types.ok() && !own) {
    part->types = std::move(*types);
  } else {
    Log(Level::kWarn, "stored CRD cannot be served",
        {{"workspace", workspace.name()},
         {"crd", std::string(definition->meta().name)},
         {"error", own ? "its name is a built-in kind's" : types.error().message()}});
  }
  return part;
}

// From what was served before to what the definitions say now: only what changed is compiled, and
// a change of one definition among thousands changes the catalogue by that one.
ServedPtr Update(const Workspace& workspace, const Served& before,
                 const std::vector<storage::Entry>& definitions) {
  auto now = std::make_shared<Served>();
  now->type = before.type;
  now->parts.reserve(definitions.size());
  std::vector<openapi::ResourceTypePtr> without, with;
  auto add = [](auto& into, const PartPtr& part) {
    into.insert(into.end(), part->types.begin(), part->types.end());
  };
  auto known = before.parts.begin();
  // Both are in the order of names.
  for (const storage::Entry& entry : definitions) {
    const std::string_view name = entry.object->meta().name;
    while (known != before.parts.end() && (*known)->definition->meta().name < name) {
      add(without, *known++);
    }
    if (known != before.parts.end() && (*known)->definition->meta().name == name) {
      if ((*known)->definition == entry.object) {
        now->parts.push_back(*known++);
        continue;
      }
      add(without, *known++);
    }
    now->parts.push_back(MakePart(workspace, entry.object));
    add(with, now->parts.back());
  }
  while (known != before.parts.end()) add(without, *known++);
  now->catalog = before.catalog->Changed(without, with);
  return now;
}

// What the workspaces serve whose definitions changed last. Thread-safe.
class RecentlyServed {
 public:
  ServedPtr Of(const Workspace& name) {
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.name == name) return entry.served;
    }
    return nullptr;
  }
  void Remember(const Workspace& name, ServedPtr served) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
    entries_.push_front({name, std::move(served)});
    if (entries_.size() > limits::kRecentDefinitions) entries_.pop_back();
  }
  void Forget(const Workspace& name) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
  }

 private:
  struct Entry {
    Workspace name;
    ServedPtr served;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;  // guarded by mutex_
};

RecentlyServed& Recent() {
  static auto* recent = new RecentlyServed;
  return *recent;
}

}  // namespace

ObjectPtr Workspaces::ObjectOf(const Workspace& name) const {
  return store_.Get({Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "", name.name()});
}

void Workspaces::Forget(const Workspace& name) const {
  Recent().Forget(name);
  std::lock_guard lock(mutex_);
  derived_.erase(name);
}

Result<WorkspaceView> Workspaces::Find(const Workspace& name) const {
  WorkspaceView view{name, WorkspaceType::kRoot, nullptr};
  if (name.name() != kRootWorkspace) {
    const ObjectPtr object = ObjectOf(name);
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
  if (ObjectOf(name) == nullptr) end();
  return ticket;
}

void Workspaces::Removed(const Workspace& name) const {
  Forget(name);
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
  ServedPtr before = Recent().Of(name);
  if (before == nullptr || before->type != type) {
    before = std::make_shared<Served>(Served{type, {}, openapi::BaseCatalog(type)});
  }
  const ServedPtr now = Update(name, *before, list->entries);
  Recent().Remember(name, now);
  {
    std::lock_guard lock(mutex_);
    derived_[name] = {crds, now->catalog};
  }
  // Removed may have been called before that was remembered.
  if (ObjectOf(name) == nullptr && name.name() != kRootWorkspace) Forget(name);
  return now->catalog;
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
