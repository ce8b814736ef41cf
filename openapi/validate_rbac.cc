// Roles and bindings.
#include <algorithm>

#include "openapi/validate_builtin.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kRbacGroup = "rbac.authorization.k8s.io";

enum class Scope { kNamespaced, kCluster };

void CheckRules(const BuiltinCheck& check, Scope scope) {
  const Json& rules = ArrayAt(check.object, {"rules"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Json& rule = rules[i];
    const std::string field = "rules[" + std::to_string(i) + "]";
    if (ArrayAt(rule, {"verbs"}).empty()) {
      check.Required(field + ".verbs", "verbs must contain at least one value");
    }
    const Json& urls = ArrayAt(rule, {"nonResourceURLs"});
    if (!urls.empty()) {
      if (scope == Scope::kNamespaced) {
        check.Invalid(field + ".nonResourceURLs", urls,
                      "namespaced rules cannot apply to non-resource URLs");
      }
      if (!ArrayAt(rule, {"apiGroups"}).empty() || !ArrayAt(rule, {"resources"}).empty() ||
          !ArrayAt(rule, {"resourceNames"}).empty()) {
        check.Invalid(field + ".nonResourceURLs", urls,
                      "rules cannot apply to both regular resources and non-resource URLs");
      }
      continue;
    }
    if (ArrayAt(rule, {"apiGroups"}).empty()) {
      check.Required(field + ".apiGroups", "resource rules must supply at least one api group");
    }
    if (ArrayAt(rule, {"resources"}).empty()) {
      check.Required(field + ".resources", "resource rules must supply at least one resource");
    }
  }
}

void CheckSubject(const BuiltinCheck& check, const Json& subject, const std::string& field,
                  Scope scope) {
  const std::string name = StringAt(subject, {"name"}), kind = StringAt(subject, {"kind"});
  const std::string group = StringAt(subject, {"apiGroup"});
  if (name.empty()) check.Required(field + ".name");
  if (kind == "ServiceAccount") {
    if (!name.empty()) AddInvalid(check.causes, field + ".name", name, CheckSubdomain(name));
    if (!group.empty()) {
      check.causes.push_back(NotSupported(field + ".apiGroup", group, {""}));
    }
    if (scope == Scope::kCluster && StringAt(subject, {"namespace"}).empty()) {
      check.Required(field + ".namespace");
    }
  } else if (kind == "User" || kind == "Group") {
    if (group != kRbacGroup) {
      check.causes.push_back(NotSupported(field + ".apiGroup", group, {kRbacGroup}));
    }
  } else {
    check.causes.push_back(
        NotSupported(field + ".kind", kind, {"ServiceAccount", "User", "Group"}));
  }
}

void CheckBinding(const BuiltinCheck& check, Scope scope, const std::vector<std::string>& kinds) {
  const std::string group = StringAt(check.object, {"roleRef", "apiGroup"});
  const std::string kind = StringAt(check.object, {"roleRef", "kind"});
  const std::string name = StringAt(check.object, {"roleRef", "name"});
  if (group != kRbacGroup) {
    check.causes.push_back(NotSupported("roleRef.apiGroup", group, {kRbacGroup}));
  }
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    check.causes.push_back(NotSupported("roleRef.kind", kind, kinds));
  }
  if (name.empty()) {
    check.Required("roleRef.name");
  } else {
    AddInvalid(check.causes, "roleRef.name", name, CheckPathSegment(name));
  }
  const Json& subjects = ArrayAt(check.object, {"subjects"});
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    CheckSubject(check, subjects[i], "subjects[" + std::to_string(i) + "]", scope);
  }
  if (check.old == nullptr) return;
  const Json* now = Find(check.object, {"roleRef"});
  const Json* before = Find(*check.old, {"roleRef"});
  if (now != nullptr && before != nullptr && *now != *before) {
    InvalidInternal(check, "roleRef", "rbac/v1.RoleRef", now, "cannot change roleRef");
  }
}

}  // namespace

void CheckRole(const BuiltinCheck& check) { CheckRules(check, Scope::kNamespaced); }

void CheckClusterRole(const BuiltinCheck& check) {
  CheckRules(check, Scope::kCluster);
  if (Find(check.object, {"aggregationRule"}) == nullptr) return;
  const Json& selectors = ArrayAt(check.object, {"aggregationRule", "clusterRoleSelectors"});
  if (selectors.empty()) {
    check.Required("aggregationRule.clusterRoleSelectors",
                   "at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    CheckSelector(check, selectors[i],
                  "aggregationRule.clusterRoleSelectors[" + std::to_string(i) + "]");
  }
}

void CheckRoleBinding(const BuiltinCheck& check) {
  CheckBinding(check, Scope::kNamespaced, {"Role", "ClusterRole"});
}

void CheckClusterRoleBinding(const BuiltinCheck& check) {
  CheckBinding(check, Scope::kCluster, {"ClusterRole"});
}

}  // namespace mailroom::openapi
