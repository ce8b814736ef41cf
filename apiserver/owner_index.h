// Who depends on whom, by ownerReferences: for every owner's UID the objects that name it. Holds
// only objects that have owners, so a workspace without them costs nothing. Thread-safe; Names is
// cheap enough for the thread that applies changes.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/object/object.h"
#include "storage/object/resource_key.h"

namespace mailroom::apiserver {

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool blocks = false;  // blockOwnerDeletion
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

// The owners an object names; reads its metadata only.
std::vector<OwnerReference> OwnersOf(const Object& object);

class OwnerIndex {
 public:
  // The dependent named `before` and now names `now`.
  void Put(const ResourceKey& dependent, const std::vector<OwnerReference>& before,
           const std::vector<OwnerReference>& now);
  // True when some object of any workspace names this UID.
  bool Names(std::string_view uid) const;
  std::vector<ResourceKey> DependentsOf(const Workspace& workspace, std::string_view uid) const;
  // How many dependents there hold up the owner's foreground deletion.
  std::size_t Blocking(const Workspace& workspace, std::string_view uid) const;
  void Clear();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct Dependents {
    std::map<ResourceKey, bool> keys;  // whether it blocks
    std::size_t blocking = 0;
  };
  const Dependents* FindLocked(const Workspace& workspace, std::string_view uid) const;
  void Remove(const ResourceKey& dependent, const std::string& uid);
  void Add(const ResourceKey& dependent, const OwnerReference& owner);

  mutable std::mutex mutex_;
  // Guarded by mutex_. By UID, then by workspace: a reference from elsewhere holds up nobody.
  std::unordered_map<std::string, std::map<Workspace, Dependents>, Hash, std::equal_to<>> owners_;
};

}  // namespace mailroom::apiserver
