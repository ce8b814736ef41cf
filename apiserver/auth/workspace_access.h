// Root's grants of whole workspaces. Those of WorkspaceAccess objects are parsed and indexed by
// subject: an immutable snapshot, made again only when a grant changed. Those a Workspace object
// carries itself (spec.access) are read from it when somebody asks for that workspace.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/auth/rbac.h"

namespace mailroom::apiserver {

inline const GroupResource kAccessResource{"mailbox.kubestellar.io", "workspaceaccesses"};

struct Grant {
  std::string name;  // of the WorkspaceAccess
  std::string role;  // a ClusterRole of root
  std::set<std::string> workspaces;
  bool every_workspace = false;  // but root
  bool across = false;           // also lists and watches over all workspaces
  std::optional<LabelSelector> selector;

  // `workspace` is the Workspace object, null for root.
  bool Covers(std::string_view name, const Object* workspace) const;
};

class WorkspaceAccess {
 public:
  static std::shared_ptr<const WorkspaceAccess> Read(const storage::CachedStore& store);
  bool Current(const storage::CachedStore& store) const;
  const std::vector<std::shared_ptr<const Grant>>& grants() const { return grants_; }
  // The grants that name the user, from any workspace.
  std::vector<const Grant*> Of(const User& user) const;

 private:
  Revision revision_;
  std::vector<std::shared_ptr<const Grant>> grants_;
  std::map<std::string, std::vector<const Grant*>, std::less<>> by_subject_;
};

// The roles (ClusterRoles of root) that the Workspace object's spec.access gives to anybody.
std::vector<std::string> RolesByWorkspace(const Object& workspace);
// Those it gives the user.
std::vector<std::string> RolesByWorkspace(const Object& workspace, const User& user);

}  // namespace mailroom::apiserver
