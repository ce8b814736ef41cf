#include "apiserver/home.h"

#include <algorithm>

#include "apiserver/request_info.h"
#include "apiserver/workspaces.h"

namespace mailroom::apiserver {

Result<Home> Home::Of(const Call& call) {
  Home home;
  const std::string& name = call.workspace.name.name();
  if (name.empty() || name == kRootWorkspace) return home;
  const ResourceKey key{Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "", name};
  const ObjectPtr object = call.hub.store.Get(key);
  if (object == nullptr) {
    return NotFound(kWorkspacesResource.resource, kWorkspacesResource.group, name);
  }
  home.seen_ = storage::Compare{key.ToStoreKey(), object->revision()};
  home.uid_ = object->meta().uid;
  return home;
}

void Home::Hold(storage::Txn& txn) const {
  if (seen_) txn.compares.push_back(*seen_);
}

bool Home::Moved(const storage::TxnResult& result) const {
  if (!seen_ || result.committed) return false;
  auto found = std::find_if(result.actual.begin(), result.actual.end(),
                            [&](const auto& entry) { return entry.key == seen_->key; });
  return (found == result.actual.end() ? Revision() : found->mod_revision) != seen_->mod_revision;
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
