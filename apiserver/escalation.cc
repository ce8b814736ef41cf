#include "apiserver/escalation.h"

#include <algorithm>
#include <functional>
#include <set>

#include "apiserver/auth/uncovered.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

bool Same(const Json& a, const Json* b, const char* member) {
  if (b == nullptr) return false;
  const Json* left = Find(a, {member});
  const Json* right = Find(*b, {member});
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

// Whether the two differ in nothing but what garbage collection and the server itself write.
// Everything else counts: a label may put the rules of a role into another one.
bool SameButBookkeeping(const Json& object, const Json* live) {
  if (live == nullptr) return false;
  auto bare = [](Json copy) {
    for (const char* member : {"ownerReferences", "finalizers", "managedFields", "resourceVersion"}) {
      Erase(copy, {"metadata", member});
    }
    return copy;
  };
  return bare(object) == bare(*live);
}

bool Aggregates(const Json* role) {
  const Json* selectors =
      role == nullptr ? nullptr : Find(*role, {"aggregationRule", "clusterRoleSelectors"});
  return selectors != nullptr && !selectors->empty();
}

bool Exempt(const Call& call) {
  return call.user.InGroup(kMasters) || !openapi::PolicyIsLive(call.workspace.type);
}

// Asked in the namespace of what is written, so that a ClusterRole bound there is enough there.
bool MayDo(const Call& call, std::string_view verb, std::string_view resource,
           const std::string& name) {
  Attributes asked;
  asked.workspace = call.info.workspace.name();
  asked.verb = verb;
  asked.group = kRbacGroup;
  asked.version = "v1";
  asked.resource = resource;
  asked.ns = call.info.ns;
  asked.name = name;
  return call.hub.authorizer.Decide(call.user, asked).allowed;
}

// What of `wanted` the user does not hold there.
Missing NotHeld(const Call& call, std::string_view workspace, const Rules& wanted) {
  return Uncovered(call.hub.authorizer.RulesFor(call.user, workspace,
                                                call.type->namespaced ? call.info.ns : ""),
                   wanted);
}

Result<void> CheckHeld(const Call& call, const std::string& name, std::string_view workspace,
                       const Rules& wanted) {
  const Missing missing = NotHeld(call, workspace, wanted);
  if (missing.empty()) return Ok();
  if (missing.too_many) {
    return Forbidden(call.type->plural, call.type->gvk.group, name,
                     "the rules spell out too many rights to be compared with those of user " +
                         Quoted(call.user.name));
  }
  std::set<std::string> texts;
  for (const Rule& rule : missing.rules) texts.insert(CompactText(rule));
  std::string why = "user " + Quoted(call.user.name) + " (groups=" + QuotedList(call.user.groups) +
                    ") is attempting to grant RBAC permissions not currently held:";
  for (const std::string& text : texts) why += "\n" + text;
  if (missing.more) why += "\nand others";
  return Forbidden(call.type->plural, call.type->gvk.group, name, why);
}

// Held, that is, in each of `workspaces`.
Result<void> CheckRoleHeld(const Call& call, const std::string& name, const std::string& role_kind,
                           const std::string& role, const std::vector<std::string>& workspaces) {
  const std::string_view resource = role_kind == "Role" ? "roles" : "clusterroles";
  if (MayDo(call, "bind", resource, role)) return Ok();
  const RbacPtr rbac = call.hub.authorizer.RbacOf(call.info.workspace.name());
  const RulesPtr rules = rbac == nullptr ? nullptr : rbac->RulesOf(role_kind, call.info.ns, role);
  if (rules == nullptr) return NotFound(resource, kRbacGroup, role);
  for (const std::string& workspace : workspaces) TRY(CheckHeld(call, name, workspace, *rules));
  return Ok();
}

// Whether the grant is also about workspaces that it does not name, hence about those to come.
bool IsOpen(const Grant& grant) { return grant.every_workspace || grant.selector.has_value(); }

// Where root's ClusterRole is granted beside root: by name; `open` when elsewhere, too.
Result<std::set<std::string>> GrantedIn(const Call& call, const std::string& role, bool& open) {
  std::set<std::string> out;
  for (const auto& grant : call.hub.authorizer.Access()->grants()) {
    if (grant->role != role) continue;
    open = open || IsOpen(*grant);
    out.insert(grant->workspaces.begin(), grant->workspaces.end());
  }
  const storage::Scope all{call.info.workspace, kWorkspacesResource, ""};
  for (const storage::Entry& entry : TRY(call.hub.store.List({.scope = all})).entries) {
    const std::vector<std::string> roles = RolesByWorkspace(*entry.object);
    const bool named = std::find(roles.begin(), roles.end(), role) != roles.end();
    if (named) out.insert(std::string(entry.object->meta().name));
  }
  return out;
}

Json LabelsOf(const Json* object) {
  const Json* labels = object == nullptr ? nullptr : Find(*object, {"metadata", "labels"});
  return labels != nullptr && labels->is_object() ? *labels : Json::object();
}

// The ClusterRoles that allow what a role of that name and with these labels allows: itself, and
// those that aggregate it.
std::set<std::string> SharedBy(const Rbac& rbac, const std::string& role, const Json& labels) {
  std::set<std::string> out = {role};
  const std::vector<RolePtr> aggregated = rbac.Aggregated();
  using Test = std::function<bool(const LabelSelector&)>;
  std::function<void(const Test&)> add = [&](const Test& selected) {
    for (const RolePtr& each : aggregated) {
      const auto& selectors = each->aggregates;
      if (std::none_of(selectors.begin(), selectors.end(), selected)) continue;
      if (!out.insert(std::string(each->object->meta().name)).second) continue;
      add([&](const LabelSelector& next) { return next.Matches(each->object->meta().labels); });
    }
  };
  add([&](const LabelSelector& selector) { return selector.MatchesJson(labels); });
  return out;
}

// What a ClusterRole of root allows, it allows in every workspace it is granted in: what is new in
// it must be held there. Nobody holds it in workspaces to come.
Result<void> CheckHeldWhereGranted(const Call& call, const Json& object, const Rules& rules) {
  if (call.info.workspace.name() != openapi::kRootWorkspace || call.type->namespaced) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  const RbacPtr rbac = call.hub.authorizer.RbacOf(openapi::kRootWorkspace);
  if (rbac == nullptr) return Ok();
  for (const std::string& role : SharedBy(*rbac, name, LabelsOf(&object))) {
    const RulesPtr before = rbac->RulesOf("ClusterRole", "", role);
    const Missing added = Uncovered(before == nullptr ? Rules() : *before, rules, limits::kRuleProduct);
    if (added.empty()) continue;
    // Where not all that is new can be told, all there is must be held.
    const Rules& wanted = added.more || added.too_many ? rules : added.rules;
    bool open = false;
    const std::set<std::string> workspaces = TRY(GrantedIn(call, role, open));
    if (open) {
      return Forbidden(call.type->plural, call.type->gvk.group, name,
                       "must have the right to escalate: ClusterRole " + Quoted(role) +
                           " is granted in workspaces that are not named");
    }
    for (const std::string& workspace : workspaces) TRY(CheckHeld(call, name, workspace, wanted));
  }
  return Ok();
}

}  // namespace

Result<void> MayWriteRole(Call& call, Json& object, const Json* live) {
  if (Exempt(call) || SameButBookkeeping(object, live)) return Ok();
  if (MayDo(call, "escalate", call.type->plural, call.info.name)) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  const std::string& workspace = call.info.workspace.name();
  const Json* given = Find(object, {"rules"});
  const Rules rules = given == nullptr ? Rules() : ParseRules(*given);
  TRY(CheckHeld(call, name, workspace, rules));
  TRY(CheckHeldWhereGranted(call, object, rules));
  // One that aggregates can gather anything, and is not changed to gather less either.
  if (!Aggregates(&object) && !Aggregates(live)) return Ok();
  const Rules all = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  if (NotHeld(call, workspace, all).empty()) return Ok();
  return Forbidden(call.type->plural, call.type->gvk.group, name,
                   "must have cluster-admin privileges to use the aggregationRule");
}

Result<void> MayWriteBinding(Call& call, Json& object, const Json* live) {
  if (Exempt(call) || SameButBookkeeping(object, live)) return Ok();
  return CheckRoleHeld(call, StringAt(object, {"metadata", "name"}),
                       StringAt(object, {"roleRef", "kind"}), StringAt(object, {"roleRef", "name"}),
                       {call.info.workspace.name()});
}

// The rules are those of root's role, but they are granted, and so must be held, in the workspaces
// named. Nobody holds them in workspaces to come: that needs `bind`.
Result<void> MayWriteAccess(Call& call, Json& object, const Json* live) {
  if (Exempt(call) || Same(object, live, "spec")) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  const std::string role = StringAt(object, {"spec", "role"});
  const std::vector<std::string> workspaces = StringsAt(object, {"spec", "workspaceNames"});
  const bool open = Find(object, {"spec", "workspaceSelector"}) != nullptr ||
                    BoolAt(object, {"spec", "acrossWorkspaces"}) ||
                    std::find(workspaces.begin(), workspaces.end(), openapi::kAllWorkspaces) !=
                        workspaces.end();
  if (open && !MayDo(call, "bind", "clusterroles", role)) {
    return Forbidden(call.type->plural, call.type->gvk.group, name,
                     "must have the right to bind ClusterRole " + Quoted(role) +
                         " to grant it in workspaces that are not named");
  }
  return CheckRoleHeld(call, name, "ClusterRole", role, workspaces);
}

Result<void> MayOpenWorkspace(Call& call, const Json& object, const Json* live) {
  const Json* access = Find(object, {"spec", "access"});
  if (access == nullptr || !access->is_array() || Exempt(call)) return Ok();
  const Json* before = live == nullptr ? nullptr : Find(*live, {"spec", "access"});
  if (before != nullptr && *before == *access) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  // A new one holds nothing yet that the rules could be held over: root's stand in.
  const std::string where = live == nullptr ? call.info.workspace.name() : name;
  for (const Json& entry : *access) {
    TRY(CheckRoleHeld(call, name, "ClusterRole", StringAt(entry, {"role"}), {where}));
  }
  return Ok();
}

// What puts a workspace under a grant is as good as the grant.
Result<void> MayLabelWorkspace(Call& call, const Json& object, const Json* live) {
  if (Exempt(call)) return Ok();
  const Json now = LabelsOf(&object), before = LabelsOf(live);
  if (now == before) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  const std::string where = live == nullptr ? call.info.workspace.name() : name;
  const auto access = call.hub.authorizer.Access();
  for (const auto& grant : access->grants()) {
    if (!grant->selector || grant->every_workspace || grant->workspaces.contains(name)) continue;
    if (!grant->selector->MatchesJson(now) || grant->selector->MatchesJson(before)) continue;
    TRY(CheckRoleHeld(call, name, "ClusterRole", grant->role, {where}));
  }
  return Ok();
}

}  // namespace mailroom::apiserver
