// What the garbage collector does about one object, looked at as it is now: nothing, or a few
// writes. Called by several workers, never for one object at a time by two.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/owner_index.h"
#include "apiserver/self_write.h"

namespace mailroom::apiserver {

class GarbageStep {
 public:
  GarbageStep(const Hub& hub, const OwnerIndex& index);

  // Objects to look at next are added to `next`.
  Result<void> Take(const ResourceKey& key, std::vector<ResourceKey>& next);
  // The object is gone.
  void Forget(const ResourceKey& key, std::string_view uid);
  // The owner with that UID, when it waits for its dependents to go first.
  std::optional<ResourceKey> Waiting(const Workspace& workspace, const std::string& uid) const;
  // Objects whose owner's kind was not known there.
  std::vector<ResourceKey> Unpark(const Workspace& workspace);

 private:
  struct Target {
    const WorkspaceView& workspace;
    openapi::ResourceTypePtr type;
    const ResourceKey& key;
    const ObjectPtr& object;
    std::string uid() const { return std::string(object->meta().uid); }
  };
  enum class Fate { kAlive, kWaiting, kAbsent, kUnknown, kOutOfScope };

  Result<void> DeleteDependents(const Target& target, std::vector<ResourceKey>& next);
  Result<void> Orphan(const Target& target);
  Result<void> Judge(const Target& target);
  Fate FateOf(const Target& target, const OwnerReference& owner) const;
  // Whether an owner that is absent here lives in another namespace.
  bool IsElsewhere(const Target& target, const OwnerReference& owner) const;
  Result<void> DropOwners(const Target& target, const std::set<std::string>& uids) const;
  // The revision that clearing blockOwnerDeletion made.
  Result<Revision> Unblock(const Target& target) const;
  // Only if the object is still the one that was judged, at `revision`.
  Result<void> Delete(const Target& target, const std::string& propagation,
                      Revision revision) const;
  Result<void> RemoveFinalizerOf(const Target& target, std::string_view finalizer) const;
  // Tells by an Event that the owner cannot own from where it is.
  void Complain(const Target& target, const OwnerReference& owner) const;

  const Hub& hub_;
  const OwnerIndex& index_;
  const SelfWriter self_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::pair<Workspace, std::string>, ResourceKey> waiting_;  // by UID
  std::map<Workspace, std::set<ResourceKey>> parked_;
  // Hashes of the UIDs of owners that were seen to go, each at its place until another takes it.
  std::vector<std::uint64_t> gone_;
};

}  // namespace mailroom::apiserver
