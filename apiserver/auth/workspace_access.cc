#include "apiserver/auth/workspace_access.h"

#include <algorithm>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

const Workspace& Root() {
  static const Workspace root{std::string(openapi::kRootWorkspace)};
  return root;
}

// A subject as one text: users of root, groups, and users of other workspaces are apart.
std::string UserSubject(std::string_view home, std::string_view name) {
  return "user/" + std::string(home) + "/" + std::string(name);
}
std::string GroupSubject(std::string_view name) { return "group/" + std::string(name); }

std::string SubjectOf(const Json& subject) {
  const std::string kind = StringAt(subject, {"kind"}), name = StringAt(subject, {"name"});
  if (kind == "Group") return GroupSubject(name);
  if (kind == "User") return UserSubject(openapi::kRootWorkspace, name);
  const std::string home = StringAt(subject, {"workspace"});
  return UserSubject(home.empty() ? std::string(openapi::kRootWorkspace) : home,
                     std::string(kServiceAccountPrefix) + StringAt(subject, {"namespace"}) + ":" +
                         name);
}

// Everything a grant may call the user. Groups of a workspace's own identities mean nothing
// outside it.
std::vector<std::string> SubjectsOf(const User& user) {
  std::vector<std::string> out = {UserSubject(user.home, user.name)};
  if (user.home == openapi::kRootWorkspace) {
    for (const std::string& group : user.groups) out.push_back(GroupSubject(group));
  }
  return out;
}

Json AccessOf(const Object& workspace) {
  // Most carry none, and are asked about with every request.
  if (workspace.bytes().find("\"access\":") == std::string_view::npos) return Json::array();
  const Json tree = workspace.ToJson();
  const Json* access = Find(tree, {"spec", "access"});
  return access != nullptr && access->is_array() ? *access : Json::array();
}

}  // namespace

bool Grant::Covers(std::string_view workspace_name, const Object* workspace) const {
  if (workspaces.contains(std::string(workspace_name))) return true;
  if (workspace == nullptr) return false;
  return every_workspace || (selector && selector->Matches(workspace->meta().labels));
}

bool WorkspaceAccess::Current(const storage::CachedStore& store) const {
  return revision_ == store.LastChange(Root(), kAccessResource);
}

std::shared_ptr<const WorkspaceAccess> WorkspaceAccess::Read(const storage::CachedStore& store) {
  auto access = std::make_shared<WorkspaceAccess>();
  access->revision_ = store.LastChange(Root(), kAccessResource);
  auto list = store.List({.scope = {Root(), kAccessResource, ""}});
  if (!list.ok()) return access;
  for (const storage::Entry& entry : list->entries) {
    const Json tree = entry.object->ToJson();
    auto grant = std::make_shared<Grant>();
    grant->name = entry.object->meta().name;
    grant->role = StringAt(tree, {"spec", "role"});
    for (std::string& name : StringsAt(tree, {"spec", "workspaceNames"})) {
      if (name == openapi::kAllWorkspaces) {
        grant->every_workspace = true;
      } else {
        grant->workspaces.insert(std::move(name));
      }
    }
    grant->across = grant->every_workspace && BoolAt(tree, {"spec", "acrossWorkspaces"});
    if (const Json* selector = Find(tree, {"spec", "workspaceSelector"})) {
      if (auto parsed = LabelSelector::FromJson(*selector); parsed.ok()) {
        grant->selector = std::move(*parsed);
      }
    }
    const Json* subjects = Find(tree, {"spec", "subjects"});
    if (subjects != nullptr && subjects->is_array()) {
      for (const Json& subject : *subjects) {
        access->by_subject_[SubjectOf(subject)].push_back(grant.get());
      }
    }
    access->grants_.push_back(std::move(grant));
  }
  return access;
}

std::vector<const Grant*> WorkspaceAccess::Of(const User& user) const {
  std::vector<const Grant*> out;
  if (by_subject_.empty()) return out;
  for (const std::string& subject : SubjectsOf(user)) {
    auto it = by_subject_.find(subject);
    if (it != by_subject_.end()) out.insert(out.end(), it->second.begin(), it->second.end());
  }
  return out;
}

std::vector<std::string> RolesByWorkspace(const Object& workspace) {
  std::vector<std::string> roles;
  for (const Json& entry : AccessOf(workspace)) roles.push_back(StringAt(entry, {"role"}));
  return roles;
}

std::vector<std::string> RolesByWorkspace(const Object& workspace, const User& user) {
  const Json access = AccessOf(workspace);
  if (access.empty()) return {};
  const std::vector<std::string> names = SubjectsOf(user);
  std::vector<std::string> roles;
  for (const Json& entry : access) {
    const Json* subjects = Find(entry, {"subjects"});
    if (subjects == nullptr || !subjects->is_array()) continue;
    const bool meant = std::any_of(subjects->begin(), subjects->end(), [&](const Json& subject) {
      return std::find(names.begin(), names.end(), SubjectOf(subject)) != names.end();
    });
    if (meant) roles.push_back(StringAt(entry, {"role"}));
  }
  return roles;
}

}  // namespace mailroom::apiserver
