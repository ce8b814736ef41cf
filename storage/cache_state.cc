#include "storage/cache_state.h"

#include <algorithm>

#include "storage/object/limits.h"

namespace mailroom::storage {

ResourceBranch* CacheState::FindBranch(const GroupResource& resource) const {
  auto it = branches_.find(resource);
  return it == branches_.end() ? nullptr : it->second.get();
}

Collection* CacheState::FindCollection(const Workspace& workspace,
                                       const GroupResource& resource) const {
  ResourceBranch* branch = FindBranch(resource);
  if (!branch) return nullptr;
  auto it = branch->collections.find(std::string_view(workspace.name()));
  return it == branch->collections.end() ? nullptr : it->second.get();
}

ResourceBranch& CacheState::BranchFor(const GroupResource& resource) {
  std::unique_ptr<ResourceBranch>& branch = branches_[resource];
  if (!branch) branch = std::make_unique<ResourceBranch>();
  return *branch;
}

Collection& CacheState::CollectionFor(const Workspace& workspace, const GroupResource& resource) {
  ResourceBranch& branch = BranchFor(resource);
  auto it = branch.collections.find(std::string_view(workspace.name()));
  if (it != branch.collections.end()) return *it->second;
  auto collection = std::make_unique<Collection>();
  collection->name = std::make_shared<const CollectionName>(CollectionName{workspace, resource});
  collection->branch = &branch;
  collection->evicted = branch.forgotten;
  Collection& created = *collection;
  branch.collections.emplace(created.name->workspace.name(), std::move(collection));
  branch.thinned.Grown(branch.collections.size());
  return created;
}

void CacheState::Release(Collection& collection) {
  if (!collection.objects.empty() || collection.retained > 0 || collection.audience) {
    return;
  }
  ResourceBranch& branch = *collection.branch;
  branch.forgotten = std::max(branch.forgotten, collection.evicted);
  const CollectionNamePtr name = collection.name;
  branch.collections.erase(std::string_view(name->workspace.name()));
}

void CacheState::CountObject(const Workspace& workspace, int step) {
  objects_ += step;
  if (step > 0) {
    thinned_objects_.Grown(objects_);
    ++counts_[workspace.name()];
    return thinned_.Grown(counts_.size());
  }
  auto it = counts_.find(workspace.name());
  if (it == counts_.end() || --it->second > 0) return;
  counts_.erase(it);
  if (thinned_.Now(counts_.size())) PutTogether(counts_);
}

ObjectPtr CacheState::Find(const ResourceKey& key) const {
  const Collection* collection = FindCollection(key.workspace, key.resource);
  if (!collection) return nullptr;
  auto it = collection->objects.find(NameInCollection{key.ns, key.name});
  return it == collection->objects.end() ? nullptr : *it;
}

std::size_t CacheState::Count(const Workspace& workspace) const {
  auto it = counts_.find(workspace.name());
  return it == counts_.end() ? 0 : it->second;
}

Revision CacheState::LastChange(const Workspace& workspace, const GroupResource& resource) const {
  const Collection* collection = FindCollection(workspace, resource);
  return collection ? collection->last_change : Revision();
}

void CacheState::Load(const ResourceKey& key, ObjectPtr object) {
  Collection& collection = CollectionFor(key.workspace, key.resource);
  collection.last_change = std::max(collection.last_change, object->revision());
  if (collection.objects.insert(std::move(object)).second) CountObject(key.workspace, 1);
}

void CacheState::Apply(const DecodedChange& change, std::int64_t second,
                       std::vector<Audience*>& offered) {
  Collection* existing = FindCollection(change.key.workspace, change.key.resource);
  if (!existing && !change.object) return;
  Collection& collection =
      existing ? *existing : CollectionFor(change.key.workspace, change.key.resource);
  auto it = collection.objects.find(NameInCollection{change.key.ns, change.key.name});
  ObjectPtr previous = it == collection.objects.end() ? nullptr : *it;
  if (previous && previous->revision() >= change.revision) return;
  EventPtr event;
  if (change.object) {
    if (previous) {
      // The key is read from the element, which compares equal, so it may be replaced in place.
      const_cast<ObjectPtr&>(*it) = change.object;
    } else {
      collection.objects.insert(it, change.object);
      CountObject(change.key.workspace, 1);
    }
    event = std::make_shared<const Event>(collection.name, change.object, std::move(previous));
  } else {
    if (!previous) return;
    collection.objects.erase(it);
    CountObject(change.key.workspace, -1);
    event = std::make_shared<const Event>(collection.name, std::move(previous), change.revision);
  }
  collection.last_change = change.revision;
  Publish(std::move(event), second, collection, offered);
}

void CacheState::Publish(EventPtr event, std::int64_t second, Collection& collection,
                         std::vector<Audience*>& offered) {
  auto offer = [&](const std::unique_ptr<Audience>& audience) {
    if (audience && audience->Offer(event)) offered.push_back(audience.get());
  };
  offer(collection.audience);
  offer(collection.branch->audience);
  static const std::string kEverywhere;
  for (const std::string* workspace : {&collection.name->workspace.name(), &kEverywhere}) {
    if (auto it = wide_.find(*workspace); it != wide_.end()) offer(it->second);
  }
  std::vector<Chain*> drained;
  history_.Append(std::move(event), second, collection, *collection.branch, drained);
  for (Chain* chain : drained) Release(static_cast<Collection&>(*chain));
}

std::size_t CacheState::ForgetEvents(std::int64_t second) {
  std::vector<Chain*> drained;
  const std::size_t bytes = history_.EvictBefore(second, drained);
  for (Chain* chain : drained) Release(static_cast<Collection&>(*chain));
  for (auto& [resource, branch] : branches_) Settle(*branch);
  return bytes;
}

void CacheState::Settle(ResourceBranch& branch) {
  if (!branch.thinned.Now(branch.collections.size())) return;
  std::decay_t<decltype(branch.collections)> together;
  for (auto& [workspace, collection] : branch.collections) {
    const bool known_elsewhere = collection->retained > 0 || collection->audience != nullptr;
    if (!known_elsewhere) {
      collection->name = std::make_shared<const CollectionName>(*collection->name);
      PutTogether(collection->objects);
      collection = std::make_unique<Collection>(std::move(*collection));
    }
    const std::string& name = collection->name->workspace.name();
    together.emplace_hint(together.end(), name, std::move(collection));
  }
  branch.collections.swap(together);
}

void CacheState::Measure(CacheStats& stats) const {
  stats.applied = applied_;
  stats.history_events = history_.size();
  stats.workspaces = counts_.size();
  for (const auto& [workspace, count] : counts_) stats.objects += count;
  auto listening = [](const std::unique_ptr<Audience>& audience) {
    return audience ? audience->size() : 0;
  };
  for (const auto& [workspace, audience] : wide_) stats.watchers += listening(audience);
  for (const auto& [resource, branch] : branches_) {
    stats.collections += branch->collections.size();
    stats.watchers += listening(branch->audience);
    for (const auto& [workspace, collection] : branch->collections) {
      stats.watchers += listening(collection->audience);
    }
  }
}

void CacheState::AddGap(Revision from, Revision to) {
  gaps_.emplace_back(from, to);
  if (gaps_.size() <= limits::kHistoryGaps) return;
  floor_ = std::max(floor_, gaps_.front().second);
  gaps_.erase(gaps_.begin());
}

Revision CacheState::LastForgotten(const Scope& scope) const {
  if (scope.every_resource()) return history_.evicted();
  const ResourceBranch* branch = FindBranch(scope.resource);
  if (!branch) return Revision();
  if (scope.workspace.empty()) return branch->evicted;
  const Collection* collection = FindCollection(scope.workspace, scope.resource);
  return collection ? collection->evicted : branch->forgotten;
}

Result<void> CacheState::CheckReach(const Scope& scope, Revision after) const {
  const Revision oldest = std::max(floor_, LastForgotten(scope));
  bool in_gap = std::any_of(gaps_.begin(), gaps_.end(), [&](const auto& gap) {
    return gap.first < after && after < gap.second;
  });
  if (after >= oldest && !in_gap) return Ok();
  return Expired("too old resource version: " + after.ToString() + " (" + oldest.ToString() + ")");
}

Result<std::vector<EventPtr>> CacheState::Events(const Scope& scope, Revision after) const {
  TRY(CheckReach(scope, after));
  std::vector<EventPtr> events;
  if (scope.every_resource()) {
    events = history_.After(after);
    if (!scope.workspace.empty()) {
      std::erase_if(events,
                    [&](const EventPtr& event) { return event->workspace() != scope.workspace; });
    }
  } else if (scope.workspace.empty()) {
    if (const ResourceBranch* branch = FindBranch(scope.resource)) {
      events = history_.After(*branch, History::Along::kResource, after);
    }
  } else if (const Collection* found = FindCollection(scope.workspace, scope.resource)) {
    events = history_.After(*found, History::Along::kCollection, after);
  }
  std::reverse(events.begin(), events.end());
  return events;
}

std::unique_ptr<Audience>& CacheState::AudienceFor(const Scope& scope) {
  if (scope.every_resource()) return wide_[scope.workspace.name()];
  if (scope.workspace.empty()) return BranchFor(scope.resource).audience;
  return CollectionFor(scope.workspace, scope.resource).audience;
}

void CacheState::Subscribe(const Scope& scope, SubscriptionPtr subscription) {
  std::unique_ptr<Audience>& audience = AudienceFor(scope);
  if (!audience) audience = std::make_unique<Audience>();
  audience->Add(std::move(subscription));
}

void CacheState::Unsubscribe(const Scope& scope, const SubscriptionPtr& subscription) {
  // A collection lives while it has an audience, so this finds and makes nothing.
  std::unique_ptr<Audience>& audience = AudienceFor(scope);
  audience->Remove(subscription);
  if (!audience->empty()) return;
  audience.reset();
  if (scope.every_resource()) {
    wide_.erase(scope.workspace.name());
  } else if (!scope.workspace.empty()) {
    Release(*FindCollection(scope.workspace, scope.resource));
  }
}

std::vector<SubscriptionPtr> CacheState::AllSubscribers() const {
  std::vector<SubscriptionPtr> all;
  auto copy = [&](const std::unique_ptr<Audience>& audience) {
    if (audience) audience->CopyTo(all);
  };
  for (const auto& [workspace, audience] : wide_) copy(audience);
  for (const auto& [resource, branch] : branches_) {
    copy(branch->audience);
    for (const auto& [workspace, collection] : branch->collections) copy(collection->audience);
  }
  return all;
}

bool CacheState::Scattered(std::int64_t second) {
  if (thinned_objects_.Now(objects_)) scattered_since_ = second;
  if (objects_ > limits::kThinnedMost) scattered_since_ = 0;  // many have come again
  if (scattered_since_ == 0) return false;
  if (second < scattered_since_ + (limits::kHistoryAge + limits::kHistoryTrim).count()) return false;
  scattered_since_ = 0;
  return true;
}

void CacheState::Exchange(const CollectionName& name, const ObjectPtr& known, ObjectPtr copy) {
  Collection* collection = FindCollection(name.workspace, name.resource);
  if (collection == nullptr) return;
  const auto it = collection->objects.find(known);
  if (it == collection->objects.end() || *it != known) return;
  const_cast<ObjectPtr&>(*it) = std::move(copy);  // compares equal
}

void CacheState::VisitAll(
    const std::function<void(const CollectionName&, const ObjectPtr&)>& visit) const {
  for (const auto& [resource, branch] : branches_) {
    for (const auto& [workspace, collection] : branch->collections) {
      for (const ObjectPtr& object : collection->objects) visit(*collection->name, object);
    }
  }
}

}  // namespace mailroom::storage
