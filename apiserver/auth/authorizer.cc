#include "apiserver/auth/authorizer.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "apiserver/auth/homes.h"
#include "openapi/catalog.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kRoot = openapi::kRootWorkspace;
const GroupResource kWorkspaceObjects{"mailbox.kubestellar.io", "workspaces"};

bool IsRead(std::string_view verb) { return verb == "get" || verb == "list" || verb == "watch"; }

// Asking for a client certificate, and seeing the answer.
bool IsSigningRequest(const Attributes& asked) {
  return asked.is_resource && asked.group == "certificates.k8s.io" &&
         asked.resource == "certificatesigningrequests" && asked.subresource.empty() &&
         (asked.verb == "create" || (asked.verb == "get" && !asked.name.empty()));
}

// Kinds whose status says how the mailbox serves them, or grants something: no report of a cluster.
bool IsReported(const Attributes& asked) {
  using Named = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Named, 3> kOwn = {
      Named{"", "namespaces"},
      Named{"apiextensions.k8s.io", "customresourcedefinitions"},
      Named{"certificates.k8s.io", "certificatesigningrequests"}};
  return std::find(kOwn.begin(), kOwn.end(), Named{asked.group, asked.resource}) == kOwn.end();
}

// A syncer reads its mailbox, reports status, and renews its certificate. What it is told to do is
// not its own to write.
bool SyncerMay(const Attributes& asked) {
  if (!asked.is_resource) return asked.verb == "get" || asked.verb == "head";
  if (IsRead(asked.verb) || IsSigningRequest(asked)) return true;
  if (asked.verb != "update" && asked.verb != "patch") return false;
  return asked.subresource == "status" && IsReported(asked);
}

std::string RoleText(std::string_view kind, std::string_view name) {
  return std::string(kind == "Role" ? "role" : "clusterrole") + "." + std::string(kRbacGroup) +
         " " + Quoted(name) + " not found";
}

std::string Joined(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts.front();
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + text;
  return out + "]";
}

std::string BindingText(const Rbac::Held& held) {
  const Metadata& meta = held.binding.object->meta();
  const std::string name(meta.name);
  return (meta.ns.empty() ? "ClusterRoleBinding " + Quoted(name)
                          : "RoleBinding " + Quoted(name + "/" + std::string(meta.ns))) +
         " of " + held.binding.role_kind + " " + Quoted(held.binding.role_name) + " to " +
         held.subject.Text();
}

}  // namespace

bool IsPublic(const Attributes& asked) {
  if (asked.is_resource || (asked.verb != "get" && asked.verb != "head")) return false;
  if (asked.path == "/version") return true;
  constexpr std::array<std::string_view, 3> kHealth = {"/healthz", "/livez", "/readyz"};
  return std::any_of(kHealth.begin(), kHealth.end(), [&](std::string_view path) {
    return asked.path.starts_with(path) &&
           (asked.path.size() == path.size() || asked.path[path.size()] == '/');
  });
}

ObjectPtr Authorizer::WorkspaceObject(std::string_view name) const {
  return store_.Get({Workspace(std::string(kRoot)), kWorkspaceObjects, "", std::string(name)});
}

bool Authorizer::IsLive(std::string_view workspace) const {
  if (workspace == kRoot) return true;
  const ObjectPtr object = WorkspaceObject(workspace);
  if (object == nullptr) return false;
  const auto type = openapi::ParseWorkspaceType(object->ScalarAt("spec.type"));
  return type.ok() && openapi::PolicyIsLive(*type);
}

bool Authorizer::IsOwnRequest(const User& user, const Attributes& asked) const {
  const ObjectPtr request =
      store_.Get({Workspace(std::string(asked.workspace)),
                  {std::string(asked.group), std::string(asked.resource)}, "",
                  std::string(asked.name)});
  return request != nullptr && request->ScalarAt("spec.username") == user.name;
}

RbacPtr Authorizer::RbacOf(std::string_view workspace) const {
  const Workspace name{std::string(workspace)};
  RbacPtr before;
  {
    std::shared_lock lock(mutex_);
    auto it = rbac_.find(name.name());
    if (it != rbac_.end()) before = it->second;
  }
  if (before != nullptr && before->Current(store_, name)) return before;
  RbacPtr now = Rbac::Read(store_, name, before.get());
  if (now == nullptr && before == nullptr) return nullptr;
  {
    std::unique_lock lock(mutex_);
    if (rbac_.size() >= limits::kRbacSnapshots) rbac_.clear();
    if (now == nullptr) {
      rbac_.erase(name.name());
    } else {
      rbac_[name.name()] = now;
    }
  }
  // It may have gone, and been forgotten, before that was remembered.
  if (workspace != kRoot && WorkspaceObject(workspace) == nullptr) Forget(name);
  return now;
}

void Authorizer::Forget(const Workspace& workspace) const {
  std::unique_lock lock(mutex_);
  rbac_.erase(workspace.name());
}

std::shared_ptr<const WorkspaceAccess> Authorizer::Access() const {
  {
    std::shared_lock lock(mutex_);
    if (access_ != nullptr && access_->Current(store_)) return access_;
  }
  auto now = WorkspaceAccess::Read(store_);
  std::unique_lock lock(mutex_);
  access_ = now;
  return now;
}

void Authorizer::VisitRules(const User& user, std::string_view workspace, std::string_view ns,
                            const Visit& visit, std::vector<std::string>* missing) const {
  const bool is_root = workspace == kRoot;
  const ObjectPtr object = is_root ? nullptr : WorkspaceObject(workspace);
  if (!is_root && object == nullptr) return;
  bool member = user.home == workspace || (is_root && user.home == kHostHome);
  bool granted = false;
  const RbacPtr root = RbacOf(kRoot);
  auto visit_root_role = [&](std::string_view role, const std::function<std::string()>& why) {
    const RulesPtr rules = root == nullptr ? nullptr : root->RulesOf("ClusterRole", "", role);
    if (rules == nullptr) {
      if (missing != nullptr) missing->push_back(RoleText("ClusterRole", role));
      return true;
    }
    return visit(*rules, why);
  };
  const auto access = Access();
  for (const Grant* grant : access->Of(user)) {
    if (!grant->Covers(workspace, object.get())) continue;
    granted = member = true;
    auto why = [&] { return "WorkspaceAccess " + Quoted(grant->name); };
    if (!visit_root_role(grant->role, why)) return;
  }
  if (object != nullptr) {
    for (const std::string& role : RolesByWorkspace(*object, user)) {
      granted = member = true;
      if (!visit_root_role(role, [&] { return "Workspace " + Quoted(workspace); })) return;
    }
  }
  if (granted) {
    // Who may enter may also look around and ask what they may do.
    auto why = [] { return std::string("WorkspaceAccess"); };
    for (const char* role : {"system:discovery", "system:basic-user"}) {
      if (!visit_root_role(role, why)) return;
    }
  }
  if (!IsKnownAt(user, workspace)) return;
  if (!is_root) {
    const auto type = openapi::ParseWorkspaceType(object->ScalarAt("spec.type"));
    if (!type.ok() || !openapi::PolicyIsLive(*type)) return;
  }
  const RbacPtr rbac = is_root ? root : RbacOf(workspace);
  // Who binds nobody in particular opens that to everybody, and says so.
  const bool nobody = user.name == kAnonymous && !user.InGroup(kAuthenticated);
  if (rbac == nullptr || (!member && !nobody && !rbac->Knows(user))) return;
  rbac->Visit(user, ns, [&](const Rbac::Held& held) {
    if (held.rules == nullptr) {
      if (missing != nullptr) {
        missing->push_back(RoleText(held.binding.role_kind, held.binding.role_name));
      }
      return true;
    }
    return visit(*held.rules, [&] { return BindingText(held); });
  });
}

Decision Authorizer::DecideAcross(const User& user, const Attributes& asked) const {
  if (user.home != kRoot) return {};
  const auto access = Access();
  const RbacPtr root = RbacOf(kRoot);
  for (const Grant* grant : access->Of(user)) {
    if (!grant->across || root == nullptr) continue;
    const RulesPtr rules = root->RulesOf("ClusterRole", "", grant->role);
    if (rules == nullptr) continue;
    const bool allowed = std::any_of(rules->begin(), rules->end(),
                                     [&](const Rule& rule) { return Allows(rule, asked); });
    if (allowed) return {true, "RBAC: allowed by WorkspaceAccess " + Quoted(grant->name)};
  }
  return {};
}

Decision Authorizer::Decide(const User& user, const Attributes& asked) const {
  if (user.InGroup(kMasters) && (user.home == kRoot || user.home == asked.workspace)) return {true};
  if (IsPublic(asked)) return {true};
  if (user.InGroup(kSyncers) && user.name.starts_with(kSyncerPrefix)) {
    const std::string_view mailbox = std::string_view(user.name).substr(kSyncerPrefix.size());
    // A name without a UID may be another mailbox's tomorrow; no syncer is known by one.
    return {!asked.all_workspaces && asked.workspace == mailbox &&
            openapi::ParseMailboxName(mailbox) && SyncerMay(asked)};
  }
  if (!user.joins.empty()) {
    return {!asked.all_workspaces && asked.workspace == user.home && IsSigningRequest(asked) &&
            (asked.verb == "create" ? !user.spent : IsOwnRequest(user, asked))};
  }
  if (asked.all_workspaces) return DecideAcross(user, asked);
  Decision decision;
  std::vector<std::string> missing;
  VisitRules(
      user, asked.workspace, asked.ns,
      [&](const Rules& rules, const std::function<std::string()>& why) {
        for (const Rule& rule : rules) {
          if (!Allows(rule, asked)) continue;
          decision = {true, "RBAC: allowed by " + why()};
          return false;
        }
        return true;
      },
      &missing);
  if (!decision.allowed && delegate_ && asked.is_resource && asked.workspace == kRoot &&
      asked.group == kWorkspaceObjects.group && IsKnownToHost(user) && delegate_(user, asked)) {
    return {true, "allowed by the host cluster"};
  }
  if (!decision.allowed && !missing.empty()) decision.reason = "RBAC: " + Joined(missing);
  return decision;
}

Result<void> Authorizer::Check(const User& user, const Attributes& asked) const {
  const Decision decision = Decide(user, asked);
  if (decision.allowed) return Ok();
  return ForbiddenTo(user, asked, decision.reason);
}

Rules Authorizer::RulesFor(const User& user, std::string_view workspace,
                           std::string_view ns) const {
  if (user.InGroup(kMasters) && (user.home == kRoot || user.home == workspace)) {
    return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  }
  Rules out;
  VisitRules(
      user, workspace, ns,
      [&](const Rules& rules, const std::function<std::string()>&) {
        out.insert(out.end(), rules.begin(), rules.end());
        return true;
      },
      nullptr);
  return out;
}

namespace {

// A browser must not take what somebody asked for as HTML.
std::string Harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Status ForbiddenTo(const User& user, const Attributes& asked, const std::string& reason) {
  const std::string tail = reason.empty() ? "" : ": " + reason;
  const std::string cannot = "User " + Quoted(user.name) + " cannot " + std::string(asked.verb);
  if (!asked.is_resource) {
    StatusDetails details;
    details.retry_after_seconds = -1;  // nothing to show, but details are present
    return Status(Reason::kForbidden,
                  "forbidden: " + Harmless(cannot + " path " + Quoted(asked.path)) + tail, details);
  }
  std::string resource(asked.resource);
  if (!asked.subresource.empty()) resource += "/" + std::string(asked.subresource);
  const std::string where = asked.ns.empty() ? "at the cluster scope"
                                             : "in the namespace " + Quoted(asked.ns);
  return Forbidden(asked.resource, asked.group, asked.name,
                   Harmless(cannot + " resource " + Quoted(resource) + " in API group " +
                            Quoted(asked.group) + " " + where) + tail);
}

}  // namespace mailroom::apiserver
