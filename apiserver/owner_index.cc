#include "apiserver/owner_index.h"

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {

std::vector<OwnerReference> OwnersOf(const Object& object) {
  std::vector<OwnerReference> owners;
  if (!object.meta().has_owners) return owners;
  auto metadata = ParseJson(object.metadata_bytes());
  if (!metadata.ok()) return owners;
  const Json* list = Find(*metadata, {"ownerReferences"});
  if (list == nullptr || !list->is_array()) return owners;
  for (const Json& owner : *list) {
    owners.push_back({StringAt(owner, {"apiVersion"}), StringAt(owner, {"kind"}),
                      StringAt(owner, {"name"}), StringAt(owner, {"uid"}),
                      BoolAt(owner, {"blockOwnerDeletion"})});
  }
  return owners;
}

void OwnerIndex::Put(const ResourceKey& dependent, const std::vector<OwnerReference>& before,
                     const std::vector<OwnerReference>& now) {
  std::lock_guard lock(mutex_);
  for (const OwnerReference& owner : before) Remove(dependent, owner.uid);
  for (const OwnerReference& owner : now) Add(dependent, owner);
}

void OwnerIndex::Remove(const ResourceKey& dependent, const std::string& uid) {
  auto owner = owners_.find(uid);
  if (owner == owners_.end()) return;
  auto place = owner->second.find(dependent.workspace);
  if (place == owner->second.end()) return;
  Dependents& dependents = place->second;
  auto known = dependents.keys.find(dependent);
  if (known == dependents.keys.end()) return;
  if (known->second) --dependents.blocking;
  dependents.keys.erase(known);
  if (dependents.keys.empty()) owner->second.erase(place);
  if (owner->second.empty()) owners_.erase(owner);
}

void OwnerIndex::Add(const ResourceKey& dependent, const OwnerReference& owner) {
  Dependents& dependents = owners_[owner.uid][dependent.workspace];
  bool& blocks = dependents.keys[dependent];
  if (owner.blocks && !blocks) ++dependents.blocking;
  blocks = blocks || owner.blocks;
}

const OwnerIndex::Dependents* OwnerIndex::FindLocked(const Workspace& workspace,
                                                     std::string_view uid) const {
  auto owner = owners_.find(uid);
  if (owner == owners_.end()) return nullptr;
  auto place = owner->second.find(workspace);
  return place == owner->second.end() ? nullptr : &place->second;
}

bool OwnerIndex::Names(std::string_view uid) const {
  std::lock_guard lock(mutex_);
  return !owners_.empty() && owners_.find(uid) != owners_.end();
}

std::vector<ResourceKey> OwnerIndex::DependentsOf(const Workspace& workspace,
                                                  std::string_view uid) const {
  std::vector<ResourceKey> keys;
  std::lock_guard lock(mutex_);
  if (const Dependents* dependents = FindLocked(workspace, uid)) {
    for (const auto& [key, blocks] : dependents->keys) keys.push_back(key);
  }
  return keys;
}

std::size_t OwnerIndex::Blocking(const Workspace& workspace, std::string_view uid) const {
  std::lock_guard lock(mutex_);
  const Dependents* dependents = FindLocked(workspace, uid);
  return dependents == nullptr ? 0 : dependents->blocking;
}

void OwnerIndex::Clear() {
  std::lock_guard lock(mutex_);
  owners_.clear();
}

}  // namespace mailroom::apiserver
