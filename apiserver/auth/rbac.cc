#include "apiserver/auth/rbac.h"

#include <algorithm>

#include "apiserver/auth/aggregation.h"
#include "apiserver/auth/homes.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

using storage::CachedStore;

std::string RulesText(const Json& role) {
  const Json* rules = Find(role, {"rules"});
  return rules == nullptr ? "[]" : DumpJson(*rules);
}

RolePtr ParseRole(const ObjectPtr& object) {
  const Json tree = object->ToJson();
  auto role = std::make_shared<Role>();
  role->object = object;
  role->rules = ShareRules(RulesText(tree));
  const Json* selectors = Find(tree, {"aggregationRule", "clusterRoleSelectors"});
  if (selectors != nullptr && selectors->is_array()) {
    for (const Json& selector : *selectors) {
      if (auto parsed = LabelSelector::FromJson(selector); parsed.ok()) {
        role->aggregates.push_back(std::move(*parsed));
      }
    }
  }
  return role;
}

BindingPtr ParseBinding(const ObjectPtr& object) {
  const Json tree = object->ToJson();
  auto binding = std::make_shared<Binding>();
  binding->object = object;
  binding->role_kind = StringAt(tree, {"roleRef", "kind"});
  binding->role_name = StringAt(tree, {"roleRef", "name"});
  if (const Json* subjects = Find(tree, {"subjects"})) {
    binding->subjects = ParseSubjects(*subjects, object->meta().ns);
  }
  return binding;
}

// The objects of one resource, parsed; what `before` holds in the same version is taken over.
template <typename Ptr>
std::map<std::pair<std::string, std::string>, Ptr> Load(
    const CachedStore& store, const Workspace& workspace, const GroupResource& resource,
    const std::map<std::pair<std::string, std::string>, Ptr>* before,
    Ptr (*parse)(const ObjectPtr&)) {
  std::map<std::pair<std::string, std::string>, Ptr> out;
  auto list = store.List({.scope = {workspace, resource, ""}});
  if (!list.ok()) return out;
  for (const storage::Entry& entry : list->entries) {
    const Metadata& meta = entry.object->meta();
    std::pair<std::string, std::string> key{meta.ns, meta.name};
    if (before != nullptr) {
      auto it = before->find(key);
      if (it != before->end() && it->second->object == entry.object) {
        out.emplace_hint(out.end(), std::move(key), it->second);
        continue;
      }
    }
    out.emplace_hint(out.end(), std::move(key), parse(entry.object));
  }
  return out;
}

}  // namespace

std::string Subject::Text() const {
  return kind + " " + Quoted(kind == "ServiceAccount" ? name + "/" + ns : name);
}

std::vector<Subject> ParseSubjects(const Json& subjects, std::string_view ns) {
  std::vector<Subject> out;
  if (!subjects.is_array()) return out;
  for (const Json& subject : subjects) {
    Subject one{StringAt(subject, {"kind"}), StringAt(subject, {"name"}),
                StringAt(subject, {"namespace"})};
    if (one.kind == "ServiceAccount" && one.ns.empty()) one.ns = ns;
    out.push_back(std::move(one));
  }
  return out;
}

Rbac::Revisions Rbac::Now(const CachedStore& store, const Workspace& workspace) {
  return {store.LastChange(workspace, kClusterRolesResource),
          store.LastChange(workspace, kRolesResource),
          store.LastChange(workspace, kClusterRoleBindingsResource),
          store.LastChange(workspace, kRoleBindingsResource)};
}

bool Rbac::Current(const CachedStore& store, const Workspace& workspace) const {
  return revisions_ == Now(store, workspace);
}

std::shared_ptr<const Rbac> Rbac::Read(const CachedStore& store, const Workspace& workspace,
                                       const Rbac* before) {
  const Revisions now = Now(store, workspace);
  if (now == Revisions()) return nullptr;
  auto rbac = std::make_shared<Rbac>();
  rbac->revisions_ = now;
  auto of = [&](auto member) { return before == nullptr ? nullptr : &(before->*member); };
  if (before != nullptr && before->revisions_.cluster_roles == now.cluster_roles) {
    rbac->cluster_roles_ = before->cluster_roles_;  // with what they gather
  } else {
    rbac->cluster_roles_ =
        Load(store, workspace, kClusterRolesResource, of(&Rbac::cluster_roles_), ParseRole);
    rbac->Aggregate();
  }
  rbac->roles_ = Load(store, workspace, kRolesResource, of(&Rbac::roles_), ParseRole);
  rbac->cluster_bindings_ = Load(store, workspace, kClusterRoleBindingsResource,
                                 of(&Rbac::cluster_bindings_), ParseBinding);
  rbac->bindings_ =
      Load(store, workspace, kRoleBindingsResource, of(&Rbac::bindings_), ParseBinding);
  rbac->Index();
  return rbac;
}

void Rbac::Aggregate() {
  std::vector<const Role*> roles;
  for (const auto& [key, role] : cluster_roles_) roles.push_back(role.get());
  std::vector<RulesPtr> united = UnitedRules(roles);
  std::size_t at = 0;
  for (auto& [key, role] : cluster_roles_) {
    RulesPtr rules = std::move(united[at++]);
    if (rules == nullptr) continue;
    auto whole = std::make_shared<Role>(*role);
    whole->rules = std::move(rules);
    role = std::move(whole);
  }
}

void Rbac::Index() {
  auto add = [&](const std::map<Key, BindingPtr>& bindings) {
    for (const auto& [key, binding] : bindings) {
      for (std::size_t i = 0; i < binding->subjects.size(); ++i) {
        const Subject& subject = binding->subjects[i];
        const Mention mention{binding.get(), i};
        if (subject.kind == "User") {
          users_[subject.name].push_back(mention);
        } else if (subject.kind == "Group") {
          groups_[subject.name].push_back(mention);
        } else if (subject.kind == "ServiceAccount") {
          users_[std::string(kServiceAccountPrefix) + subject.ns + ":" + subject.name].push_back(
              mention);
        }
      }
    }
  };
  add(cluster_bindings_);
  add(bindings_);
}

bool Rbac::VisitAll(const std::vector<Mention>& mentions, std::string_view ns,
                    const std::function<bool(const Held&)>& visit) const {
  for (const Mention& mention : mentions) {
    const Binding& binding = *mention.binding;
    const std::string_view bound_ns = binding.object->meta().ns;
    if (!bound_ns.empty() && bound_ns != ns) continue;
    const RulesPtr rules = RulesOf(binding.role_kind, bound_ns, binding.role_name);
    if (!visit({binding, binding.subjects[mention.subject], rules.get()})) return false;
  }
  return true;
}

void Rbac::Visit(const User& user, std::string_view ns,
                 const std::function<bool(const Held&)>& visit) const {
  const bool named = user.home != kHostHome;
  if (auto it = users_.find(std::string_view(user.name)); named && it != users_.end()) {
    if (!VisitAll(it->second, ns, visit)) return;
  }
  for (const std::string& group : user.groups) {
    auto it = groups_.find(std::string_view(group));
    if (it != groups_.end() && !VisitAll(it->second, ns, visit)) return;
  }
}

bool Rbac::Knows(const User& user) const {
  if (user.home != kHostHome && users_.contains(std::string_view(user.name))) return true;
  return std::any_of(user.groups.begin(), user.groups.end(), [&](const std::string& group) {
    return group != kAuthenticated && group != kUnauthenticated &&
           groups_.contains(std::string_view(group));
  });
}

std::vector<RolePtr> Rbac::Aggregated() const {
  std::vector<RolePtr> out;
  for (const auto& [key, role] : cluster_roles_) {
    if (!role->aggregates.empty()) out.push_back(role);
  }
  return out;
}

RulesPtr Rbac::RulesOf(std::string_view role_kind, std::string_view ns,
                       std::string_view name) const {
  const bool cluster = role_kind == "ClusterRole";
  const std::map<Key, RolePtr>& roles = cluster ? cluster_roles_ : roles_;
  auto it = roles.find({cluster ? std::string() : std::string(ns), std::string(name)});
  return it == roles.end() ? nullptr : it->second->rules;
}

}  // namespace mailroom::apiserver
