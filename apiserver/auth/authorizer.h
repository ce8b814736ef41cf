// May this user do that there. In order: masters may do everything; everybody may ask for health
// and version; a syncer reaches its own mailbox with the verbs its work needs; root's grants (or
// the Workspace object's own) open whole workspaces; and where policy is live, the workspace's own RBAC decides. Rules are read
// from snapshots that change only with their objects. Thread-safe.
#pragma once

#include <functional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "apiserver/auth/rbac.h"
#include "apiserver/auth/workspace_access.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

struct Decision {
  bool allowed = false;
  std::string reason = {};  // why, as an access review tells it
};

class Authorizer {
 public:
  // Another authority on root's own API (a host cluster that serves it as an extension); may
  // block.
  using Delegate = std::function<bool(const User& user, const Attributes& asked)>;
  explicit Authorizer(const storage::CachedStore& store, Delegate delegate = {})
      : store_(store), delegate_(std::move(delegate)) {}

  Decision Decide(const User& user, const Attributes& asked) const;
  // Forbidden in kube-apiserver's words when not allowed.
  Result<void> Check(const User& user, const Attributes& asked) const;
  // Every rule the user holds in that namespace of the workspace.
  Rules RulesFor(const User& user, std::string_view workspace, std::string_view ns) const;
  // The workspace's roles and bindings; null when there are none.
  RbacPtr RbacOf(std::string_view workspace) const;
  // The workspace is gone: drops what was read from it.
  void Forget(const Workspace& workspace) const;
  // Whether decisions about root may block.
  bool Delegates() const { return delegate_ != nullptr; }
  // Whether the workspace's own policy objects act on it. False for an unknown one.
  bool IsLive(std::string_view workspace) const;

 private:
  // One source of rules; `why` names it.
  using Visit = std::function<bool(const Rules&, const std::function<std::string()>& why)>;
  // Until `visit` answers false. Roles that bindings name in vain are told to `missing`.
  void VisitRules(const User& user, std::string_view workspace, std::string_view ns,
                  const Visit& visit, std::vector<std::string>* missing) const;
  bool IsOwnRequest(const User& user, const Attributes& asked) const;
  Decision DecideAcross(const User& user, const Attributes& asked) const;
  std::shared_ptr<const WorkspaceAccess> Access() const;
  ObjectPtr WorkspaceObject(std::string_view name) const;

  const storage::CachedStore& store_;
  const Delegate delegate_;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, RbacPtr> rbac_;          // guarded by mutex_
  mutable std::shared_ptr<const WorkspaceAccess> access_;          // guarded by mutex_
};

// Whether everybody may ask that, anywhere: health and version. The answers must not differ by what
// there is.
bool IsPublic(const Attributes& asked);

// The Forbidden answer to a denied request.
Status ForbiddenTo(const User& user, const Attributes& asked, const std::string& reason);

}  // namespace mailroom::apiserver
