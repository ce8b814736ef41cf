#include "apiserver/escalation.h"

#include <set>

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

bool Exempt(const Call& call) {
  return call.user.InGroup(kMasters) || !openapi::PolicyIsLive(call.workspace.type);
}

bool MayDo(const Call& call, std::string_view verb, std::string_view resource,
           const std::string& name) {
  Attributes asked;
  asked.workspace = call.info.workspace.name();
  asked.verb = verb;
  asked.group = kRbacGroup;
  asked.version = "v1";
  asked.resource = resource;
  asked.ns = resource == "roles" ? std::string_view(call.info.ns) : std::string_view();
  asked.name = name;
  return call.hub.authorizer.Decide(call.user, asked).allowed;
}

Result<void> CheckHeld(const Call& call, const std::string& name, const Rules& wanted) {
  const Rules held = call.hub.authorizer.RulesFor(call.user, call.info.workspace.name(),
                                                  call.type->namespaced ? call.info.ns : "");
  const Rules missing = Uncovered(held, wanted);
  if (missing.empty()) return Ok();
  std::set<std::string> texts;
  for (const Rule& rule : missing) texts.insert(CompactText(rule));
  std::string why = "user " + Quoted(call.user.name) + " (groups=" + QuotedList(call.user.groups) +
                    ") is attempting to grant RBAC permissions not currently held:";
  for (const std::string& text : texts) why += "\n" + text;
  return Forbidden(call.type->plural, call.type->gvk.group, name, why);
}

Result<void> CheckRoleHeld(const Call& call, const std::string& name, const std::string& role_kind,
                           const std::string& role) {
  const std::string_view resource = role_kind == "Role" ? "roles" : "clusterroles";
  if (MayDo(call, "bind", resource, role)) return Ok();
  const RbacPtr rbac = call.hub.authorizer.RbacOf(call.info.workspace.name());
  const RulesPtr rules = rbac == nullptr ? nullptr : rbac->RulesOf(role_kind, call.info.ns, role);
  if (rules == nullptr) return NotFound(resource, kRbacGroup, role);
  return CheckHeld(call, name, *rules);
}

}  // namespace

Result<void> MayWriteRole(Call& call, Json& object, const Json* live) {
  if (Exempt(call)) return Ok();
  if (Same(object, live, "rules") && Same(object, live, "aggregationRule")) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  if (MayDo(call, "escalate", call.type->plural, name)) return Ok();
  if (object.contains("aggregationRule") && !Same(object, live, "aggregationRule")) {
    const Rules all = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
    if (!CheckHeld(call, name, all).ok()) {
      return Forbidden(call.type->plural, call.type->gvk.group, name,
                       "must have cluster-admin privileges to use an aggregationRule");
    }
  }
  const Json* rules = Find(object, {"rules"});
  return CheckHeld(call, name, rules == nullptr ? Rules() : ParseRules(*rules));
}

Result<void> MayWriteBinding(Call& call, Json& object, const Json* live) {
  if (Exempt(call)) return Ok();
  if (Same(object, live, "subjects") && Same(object, live, "roleRef")) return Ok();
  return CheckRoleHeld(call, StringAt(object, {"metadata", "name"}),
                       StringAt(object, {"roleRef", "kind"}), StringAt(object, {"roleRef", "name"}));
}

Result<void> MayWriteAccess(Call& call, Json& object, const Json* live) {
  if (Exempt(call) || Same(object, live, "spec")) return Ok();
  return CheckRoleHeld(call, StringAt(object, {"metadata", "name"}), "ClusterRole",
                       StringAt(object, {"spec", "role"}));
}

Result<void> MayOpenWorkspace(Call& call, const Json& object, const Json* live) {
  const Json* access = Find(object, {"spec", "access"});
  if (access == nullptr || !access->is_array() || Exempt(call)) return Ok();
  const Json* before = live == nullptr ? nullptr : Find(*live, {"spec", "access"});
  if (before != nullptr && *before == *access) return Ok();
  for (const Json& entry : *access) {
    TRY(CheckRoleHeld(call, StringAt(object, {"metadata", "name"}), "ClusterRole",
                      StringAt(entry, {"role"})));
  }
  return Ok();
}

}  // namespace mailroom::apiserver
