// What the cache holds: every object, the recent history, and who listens. Plain data with the
// rules of change and lookup; CachedStore guards it with one reader/writer lock.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "storage/collection.h"
#include "storage/object/thinned.h"
#include "storage/rw_lock.h"

namespace mailroom::storage {

// A change ready to be applied. A null object is a deletion.
struct DecodedChange {
  ResourceKey key;
  ObjectPtr object;
  Revision revision;
};

// A list on its way.
struct Selection {
  Scope scope;
  std::size_t limit;    // of entries; 0: all
  std::string reached;  // the position looked at last
  const LabelSelector* labels = nullptr;  // null: any
  std::vector<Entry> entries = {};
  std::size_t rest = 0;  // beyond the limit
  bool done = false;
};

class CacheState {
 public:
  CacheState(std::size_t history_events, std::size_t history_bytes)
      : history_(history_events, history_bytes) {}

  ObjectPtr Find(const ResourceKey& key) const;
  std::size_t Count(const Workspace& workspace) const;
  Revision LastChange(const Workspace& workspace, const GroupResource& resource) const;

  // Puts an object there without an event; for the first load.
  void Load(const ResourceKey& key, ObjectPtr object);
  // Applies one change, records its event and offers it; audiences that were offered their first
  // are added to `offered`. A change that is not newer than what is there does nothing.
  void Apply(const DecodedChange& change, std::int64_t second, std::vector<Audience*>& offered);
  // Forgets the events from before `second`; returns the bytes that they kept.
  std::size_t ForgetEvents(std::int64_t second);

  // The revision that everything is at, and the oldest one from which history is known.
  Revision applied() const { return applied_; }
  void SetApplied(Revision revision) { applied_ = revision; }
  void SetFloor(Revision revision) { floor_ = revision; }
  // Between the two (exclusive) changes were seen only as their sum.
  void AddGap(Revision from, Revision to);

  // Goes on with the selection, with the objects as they were at `at`. Stops
  // when about `slice` of them have been looked at (0: looks at all).
  Result<void> Select(Revision at, std::size_t slice, Selection& selection) const;
  // Events of the scope's resources and workspaces after `after`, oldest first.
  Result<std::vector<EventPtr>> Events(const Scope& scope, Revision after) const;

  void Subscribe(const Scope& scope, SubscriptionPtr subscription);
  void Unsubscribe(const Scope& scope, const SubscriptionPtr& subscription);
  std::vector<SubscriptionPtr> AllSubscribers() const;
  void Measure(CacheStats& stats) const;
  // Nearly all objects have gone, and so has what history knew of them: what is left should be
  // replaced by copies that lie together. True once; asked at each look for old events. Not when so
  // many have come meanwhile that copying them would hold up others.
  bool Scattered(std::int64_t second);
  // Replaces an object by its copy, unless it has changed or gone.
  void Exchange(const CollectionName& name, const ObjectPtr& known, ObjectPtr copy);
  // Calls visit for every object.
  void VisitAll(const std::function<void(const CollectionName&, const ObjectPtr&)>& visit) const;

 private:
  ResourceBranch* FindBranch(const GroupResource& resource) const;
  Collection* FindCollection(const Workspace& workspace, const GroupResource& resource) const;
  ResourceBranch& BranchFor(const GroupResource& resource);
  Collection& CollectionFor(const Workspace& workspace, const GroupResource& resource);
  // Forgets the collection when it holds nothing and nobody listens.
  void Release(Collection& collection);
  // Puts the collections together that are left of very many.
  void Settle(ResourceBranch& branch);
  void CountObject(const Workspace& workspace, int step);
  void Publish(EventPtr event, std::int64_t second, Collection& collection,
               std::vector<Audience*>& offered);
  // Where the audience of the scope is kept; the scope's collection or branch exists afterwards.
  std::unique_ptr<Audience>& AudienceFor(const Scope& scope);
  // The newest event of the scope that history no longer holds.
  Revision LastForgotten(const Scope& scope) const;
  // Expired when the history of the scope does not reach back to `after`.
  Result<void> CheckReach(const Scope& scope, Revision after) const;

  History history_;
  std::unordered_map<GroupResource, std::unique_ptr<ResourceBranch>> branches_;
  std::unordered_map<std::string, std::size_t> counts_;  // objects by workspace
  Thinned thinned_;                                      // of these
  std::size_t objects_ = 0;
  Thinned thinned_objects_;
  std::int64_t scattered_since_ = 0;  // when most had gone; 0: not
  std::unordered_map<std::string, std::unique_ptr<Audience>>
      wide_;  // of every resource, by workspace; "" for all workspaces
  Revision applied_;
  Revision floor_;
  std::vector<std::pair<Revision, Revision>> gaps_;
};

// The state with its lock, shared with watchers, which may outlive the cache.
struct GuardedState {
  GuardedState(std::size_t history_events, std::size_t history_bytes)
      : state(history_events, history_bytes) {}
  RwLock lock;
  CacheState state;  // guarded by lock
};

// The text form of a place in the order (workspace, namespace, name), for continuing a list.
std::string ListPosition(const Workspace& workspace, const Object& object);

}  // namespace mailroom::storage
