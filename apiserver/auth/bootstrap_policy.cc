#include "apiserver/auth/bootstrap_policy.h"

#include <algorithm>
#include <optional>
#include <set>

#include "apiserver/auth/rbac.h"
#include "apiserver/auth/uid.h"
#include "apiserver/auth/uncovered.h"
#include "openapi/builtin_files.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/resource_key.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kApiVersion = "rbac.authorization.k8s.io/v1";
constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

Json NewObject(std::string_view kind, const std::string& ns, const std::string& name) {
  Json out = {{"apiVersion", kApiVersion},
              {"kind", kind},
              {"metadata",
               {{"name", name},
                {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
                {"annotations", {{std::string(kAutoUpdate), "true"}}}}}};
  if (!ns.empty()) Set(out, {"metadata", "namespace"}, ns);
  return out;
}

// The role itself, or the plain roles that it unites, also by way of other uniting ones.
void AddMembers(const Json& roles, const std::string& name, std::set<std::string>& out) {
  const Json* wanted = Find(roles.at(name), {"aggregate"});
  if (wanted == nullptr) {
    out.insert(name);
    return;
  }
  for (const auto& [other, entry] : roles.items()) {
    const Json* labels = Find(entry, {"labels"});
    if (labels != nullptr && labels->contains(wanted->begin().key())) AddMembers(roles, other, out);
  }
}

// The rules of a role, those of the roles it unites included, each once, by role name.
Json RulesOf(const Json& roles, const std::string& name) {
  std::set<std::string> members;
  AddMembers(roles, name, members);
  Json out = Json::array();
  for (const std::string& member : members) {
    for (const Json& rule : roles.at(member).at("rules")) {
      if (std::find(out.begin(), out.end(), rule) == out.end()) out.push_back(rule);
    }
  }
  return out;
}

Json ClusterRole(const Json& roles, const std::string& name) {
  Json out = NewObject("ClusterRole", "", name);
  const Json& role = roles.at(name);
  if (const Json* labels = Find(role, {"labels"})) {
    for (const auto& [key, value] : labels->items()) Set(out, {"metadata", "labels", key}, value);
  }
  if (const Json* aggregate = Find(role, {"aggregate"})) {
    Set(out, {"aggregationRule", "clusterRoleSelectors"},
        Json::array({{{"matchLabels", *aggregate}}}));
  }
  out["rules"] = RulesOf(roles, name);
  return out;
}

Json ClusterRoleBinding(const std::string& name, const Json& facts) {
  Json out = NewObject("ClusterRoleBinding", "", name);
  out["roleRef"] = {{"apiGroup", kRbacGroup}, {"kind", "ClusterRole"},
                    {"name", StringAt(facts, {"role"})}};
  Json subjects = Json::array();
  for (const std::string& group : StringsAt(facts, {"groups"})) {
    subjects.push_back({{"apiGroup", kRbacGroup}, {"kind", "Group"}, {"name", group}});
  }
  out["subjects"] = std::move(subjects);
  return out;
}

// The two classes of pods that Kubernetes keeps to itself.
PolicyObject SystemPriority(const std::string& name, std::int64_t value, const char* use) {
  return {{"scheduling.k8s.io", "priorityclasses"}, "", name,
          {{"apiVersion", "scheduling.k8s.io/v1"},
           {"kind", "PriorityClass"},
           {"metadata", {{"name", name}, {"generation", 1}}},
           {"value", value},
           {"description", use},
           {"preemptionPolicy", "PreemptLowerPriority"}}};
}

std::vector<PolicyObject> LoadPolicy() {
  std::vector<PolicyObject> out;
  const Json facts = ParseYaml(openapi::EmbeddedText("builtin/rbac.yaml")).value();
  const Json& roles = facts.at("clusterRoles");
  for (const auto& [name, role] : roles.items()) {
    out.push_back({kClusterRolesResource, "", name, ClusterRole(roles, name)});
  }
  for (const auto& [name, binding] : facts.at("clusterRoleBindings").items()) {
    out.push_back({kClusterRoleBindingsResource, "", name, ClusterRoleBinding(name, binding)});
  }
  for (const auto& [path, role] : facts.at("roles").items()) {
    const std::size_t slash = path.find('/');
    const std::string ns = path.substr(0, slash), name = path.substr(slash + 1);
    Json tree = NewObject("Role", ns, name);
    tree["rules"] = role.at("rules");
    out.push_back({kRolesResource, ns, name, std::move(tree)});
  }
  out.push_back(SystemPriority("system-cluster-critical", 2'000'000'000,
                               "Used for system critical pods that must run in the cluster, but "
                               "can be moved to another node if necessary."));
  out.push_back(SystemPriority("system-node-critical", 2'000'001'000,
                               "Used for system critical pods that must not be moved from their "
                               "current node."));
  return out;
}

storage::Operation Put(const ResourceKey& key, const PolicyObject& object, const std::string& now) {
  Json tree = object.tree;
  Set(tree, {"metadata", "uid"}, NewUid());
  Set(tree, {"metadata", "creationTimestamp"}, now);
  return {storage::Operation::Type::kPut, key.ToStoreKey(),
          std::make_shared<const std::string>(Object::Encode(tree))};
}

ResourceKey KeyOf(const Workspace& workspace, const PolicyObject& object) {
  return {workspace, object.resource, object.ns, object.name};
}

// Appends to the array at `path` what it lacks of the one in `wanted`.
void AddMissing(const Json& wanted, Path path, Json& object) {
  const Json* from = Find(wanted, path);
  if (from == nullptr) return;
  Json* into = Find(object, path);
  if (into == nullptr || !into->is_array()) into = &Set(object, path, Json::array());
  for (const Json& item : *from) {
    if (std::find(into->begin(), into->end(), item) == into->end()) into->push_back(item);
  }
}

void AddMissingRules(const Json& wanted, Json& object) {
  const Json* rules = Find(object, {"rules"});
  const Missing missing = Uncovered(rules == nullptr ? Rules() : ParseRules(*rules),
                                    ParseRules(wanted.at("rules")), limits::kRuleProduct);
  if (missing.too_many) return AddMissing(wanted, {"rules"}, object);
  if (missing.empty()) return;
  if (rules == nullptr || !rules->is_array()) object["rules"] = Json::array();
  for (const Rule& rule : missing.rules) object["rules"].push_back(RuleToJson(rule));
}

// The object with what it ought to hold at least. What somebody added stays, but for what would
// make it another: a role that gathers others, a binding to another role.
Json Restored(const Json& wanted, Json object) {
  for (const char* part : {"labels", "annotations"}) {
    for (const auto& [key, value] : wanted.at("metadata").at(part).items()) {
      if (Find(object, {"metadata", part, key}) == nullptr) Set(object, {"metadata", part, key}, value);
    }
  }
  if (wanted.contains("roleRef")) {
    if (StringAt(object, {"roleRef", "kind"}) != StringAt(wanted, {"roleRef", "kind"}) ||
        StringAt(object, {"roleRef", "name"}) != StringAt(wanted, {"roleRef", "name"})) {
      object["roleRef"] = wanted.at("roleRef");
      object["subjects"] = wanted.at("subjects");
    }
    AddMissing(wanted, {"subjects"}, object);
  } else if (wanted.contains("aggregationRule")) {
    // Its rules follow from those it gathers.
    AddMissing(wanted, {"aggregationRule", "clusterRoleSelectors"}, object);
  } else {
    object.erase("aggregationRule");
    AddMissingRules(wanted, object);
  }
  return object;
}

// What makes the object that is there whole again; nothing when it is, or is not to be touched.
std::optional<storage::Operation> Mend(const ResourceKey& key, const PolicyObject& object,
                                       const Object& live) {
  if (object.resource.group != kRbacGroup) return std::nullopt;
  const Json before = live.ToJson();
  if (StringAt(before, {"metadata", "annotations", kAutoUpdate}) == "false") return std::nullopt;
  const Json after = Restored(object.tree, before);
  if (after == before) return std::nullopt;
  return storage::Operation{storage::Operation::Type::kPut, key.ToStoreKey(),
                            std::make_shared<const std::string>(Object::Encode(after))};
}

}  // namespace

const std::vector<PolicyObject>& BootstrapPolicy() {
  static const auto* policy = new std::vector<PolicyObject>(LoadPolicy());
  return *policy;
}

void AddBootstrapPolicy(const Workspace& workspace, const std::string& now, storage::Txn& txn) {
  for (const PolicyObject& object : BootstrapPolicy()) {
    txn.operations.push_back(Put(KeyOf(workspace, object), object, now));
  }
}

Result<void> RestoreBootstrapPolicy(storage::CachedStore& store, const Workspace& workspace,
                                    const std::string& now) {
  storage::Txn txn;
  for (const PolicyObject& object : BootstrapPolicy()) {
    const ResourceKey key = KeyOf(workspace, object);
    if (const ObjectPtr live = store.Get(key)) {
      auto mended = Mend(key, object, *live);
      if (!mended) continue;
      txn.compares.push_back({key.ToStoreKey(), live->revision()});
      txn.operations.push_back(std::move(*mended));
      continue;
    }
    txn.compares.push_back({key.ToStoreKey(), Revision()});
    txn.operations.push_back(Put(key, object, now));
  }
  if (!txn.operations.empty()) TRY(store.Commit(std::move(txn)));
  return Ok();
}

}  // namespace mailroom::apiserver
