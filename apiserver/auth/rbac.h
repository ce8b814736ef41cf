// The roles and bindings of one workspace, parsed and indexed by subject: an immutable snapshot
// that answers which rules a user holds. A new snapshot takes over every object of the old one
// that has not changed, so a change costs the parsing of what changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/auth/rule.h"
#include "apiserver/auth/user.h"
#include "storage/cached_store.h"
#include "storage/object/selector.h"

namespace mailroom::apiserver {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
inline const GroupResource kClusterRolesResource{std::string(kRbacGroup), "clusterroles"};
inline const GroupResource kRolesResource{std::string(kRbacGroup), "roles"};
inline const GroupResource kClusterRoleBindingsResource{std::string(kRbacGroup),
                                                        "clusterrolebindings"};
inline const GroupResource kRoleBindingsResource{std::string(kRbacGroup), "rolebindings"};

struct Role {
  ObjectPtr object;
  RulesPtr rules;                            // of an aggregated role: the union
  std::vector<LabelSelector> aggregates = {};  // empty: not aggregated
};
using RolePtr = std::shared_ptr<const Role>;

struct Subject {
  std::string kind, name, ns;
  // As kube-apiserver describes it: `User "alice"`, `ServiceAccount "sa/ns"`.
  std::string Text() const;
};
// The `subjects` of a binding; `ns` is that of service accounts which name none.
std::vector<Subject> ParseSubjects(const Json& subjects, std::string_view ns);

struct Binding {
  ObjectPtr object;
  std::string role_kind, role_name;
  std::vector<Subject> subjects;
};
using BindingPtr = std::shared_ptr<const Binding>;

class Rbac {
 public:
  // Null when the workspace holds neither roles nor bindings. `before` may be null.
  static std::shared_ptr<const Rbac> Read(const storage::CachedStore& store,
                                          const Workspace& workspace, const Rbac* before);
  // Whether a snapshot read now would be the same.
  bool Current(const storage::CachedStore& store, const Workspace& workspace) const;

  // One binding that applies to the user; `rules` is null when the role does not exist.
  struct Held {
    const Binding& binding;
    const Subject& subject;
    const Rules* rules;
  };
  // Those that hold in `ns` ("": cluster-wide ones only), until `visit` answers false.
  void Visit(const User& user, std::string_view ns,
             const std::function<bool(const Held&)>& visit) const;
  // Whether a binding names the user, or a group of theirs that not everybody is in.
  bool Knows(const User& user) const;
  // The rules of a role, null when there is none. `ns` is "" for a ClusterRole.
  RulesPtr RulesOf(std::string_view role_kind, std::string_view ns, std::string_view name) const;
  // The ClusterRoles that unite others, with the rules they ought to show.
  std::vector<RolePtr> Aggregated() const;

 private:
  struct Revisions {
    Revision cluster_roles, roles, cluster_bindings, bindings;
    friend bool operator==(const Revisions&, const Revisions&) = default;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct Mention {
    const Binding* binding;
    std::size_t subject;  // index in the binding's subjects
  };
  using Mentions = std::unordered_map<std::string, std::vector<Mention>, Hash, std::equal_to<>>;
  using Key = std::pair<std::string, std::string>;  // namespace, name

  static Revisions Now(const storage::CachedStore& store, const Workspace& workspace);
  void Index();
  void Aggregate();
  bool VisitAll(const std::vector<Mention>& mentions, std::string_view ns,
                const std::function<bool(const Held&)>& visit) const;

  Revisions revisions_;
  std::map<Key, RolePtr> cluster_roles_, roles_;
  std::map<Key, BindingPtr> cluster_bindings_, bindings_;
  Mentions users_, groups_;
};
using RbacPtr = std::shared_ptr<const Rbac>;

}  // namespace mailroom::apiserver
