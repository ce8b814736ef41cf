#include "apiserver/home.h"

#include <algorithm>

#include "apiserver/kinds.h"
#include "apiserver/request_info.h"
#include "apiserver/workspaces.h"

namespace mailroom::apiserver {

Result<Home> Home::Of(const Call& call) {
  Home home;
  const Workspace& workspace = call.workspace.name;
  if (!workspace.empty() && workspace.name() != kRootWorkspace) {
    const ResourceKey key{Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "",
                          workspace.name()};
    const ObjectPtr object = call.hub.store.Get(key);
    if (object == nullptr) {
      return NotFound(kWorkspacesResource.resource, kWorkspacesResource.group, workspace.name());
    }
    home.See(key, *object);
    home.uid_ = object->meta().uid;
  }
  if (!call.type->namespaced) return home;
  const ResourceKey key{call.info.workspace, kNamespacesResource, "", call.info.ns};
  const ObjectPtr object = call.hub.store.Get(key);
  if (object == nullptr) return NotFound("namespaces", "", call.info.ns);
  home.See(key, *object);
  return home;
}

void Home::See(const ResourceKey& key, const Object& object) {
  seen_.push_back({key.ToStoreKey(), object.revision()});
}

void Home::Hold(storage::Txn& txn) const {
  txn.compares.insert(txn.compares.end(), seen_.begin(), seen_.end());
}

bool Home::Moved(const storage::TxnResult& result) const {
  if (result.committed) return false;
  return std::any_of(seen_.begin(), seen_.end(), [&](const storage::Compare& seen) {
    auto found = std::find_if(result.actual.begin(), result.actual.end(),
                              [&](const auto& entry) { return entry.key == seen.key; });
    return (found == result.actual.end() ? Revision() : found->mod_revision) != seen.mod_revision;
  });
}

Result<void> Home::Again(const Call& call, Revision revision) {
  TRY(call.hub.store.WaitFor(revision, call.Patience()));
  Home now = TRY(Of(call));
  if (now.uid_ != uid_) {
    return NotFound(kWorkspacesResource.resource, kWorkspacesResource.group,
                    call.workspace.name.name());
  }
  *this = std::move(now);
  return Ok();
}

}  // namespace mailroom::apiserver
