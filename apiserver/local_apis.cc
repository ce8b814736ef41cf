#include "apiserver/local_apis.h"

#include <algorithm>

#include "apiserver/auth/uid.h"
#include "apiserver/conditions.h"
#include "apiserver/document_cache.h"
#include "apiserver/remote_apis.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr int kDefinitionGroup = 1000, kDefinitionVersion = 100;

// The original gives most versions 15.
int VersionPriority(const std::string& group, const std::string& version) {
  if (group.empty()) return 1;
  if (group == "autoscaling" && version == "v2") return 30;
  return group == "flowcontrol.apiserver.k8s.io" || group == "resource.k8s.io" ? 21 : 15;
}

Json ApiService(const std::string& group, const std::string& version, const char* managed,
                int group_priority, int version_priority) {
  Json spec = {{"version", version},
               {"groupPriorityMinimum", group_priority},
               {"versionPriority", version_priority}};
  if (!group.empty()) spec["group"] = group;
  return {{"apiVersion", kApiServicesResource.group + "/v1"},
          {"kind", "APIService"},
          {"metadata", {{"name", version + "." + group}, {"labels", {{kAutomanaged, managed}}}}},
          {"spec", std::move(spec)}};
}

// A UUID that is the same whenever it is asked for: of the version for those made by a rule of
// one's own.
std::string StableUid(std::string_view workspace, const std::string& name) {
  std::string hex = DocumentHash(std::string(workspace) + "/" + name).substr(0, 32);
  std::transform(hex.begin(), hex.end(), hex.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  hex[12] = '8';
  hex[16] = 'a';
  std::string uid;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) uid += '-';
    uid += hex[i];
  }
  return uid;
}

void Complete(Json& object, const std::string& uid, const std::string& since) {
  Erase(object, {"status"});
  Set(object, {"metadata", "uid"}, uid);
  Set(object, {"metadata", "creationTimestamp"}, since);
  SetCondition(object,
               {{"type", "Available"},
                {"status", "True"},
                {"reason", "Local"},
                {"message", "Local APIServices are always available"}},
               since);
}

// Every group version that workspaces of the type serve, but the one that tells of them.
template <typename Each>
void ForEach(openapi::WorkspaceType type, Each each) {
  if (!ApiServicesAct(type)) return;
  for (const openapi::Group& group : openapi::BaseCatalog(type)->groups()) {
    if (group.name == kApiServicesResource.group) continue;
    for (const openapi::GroupVersion& version : group.versions) each(group, version.version);
  }
}

}  // namespace

std::vector<Json> ImpliedApis(const Hub& hub, const WorkspaceView& workspace) {
  std::vector<Json> out;
  // As old as the workspace, and as much its own, as the namespace that cannot be deleted.
  const ObjectPtr home = hub.store.Get({workspace.name, kNamespacesResource, "", "default"});
  if (home == nullptr) return out;
  const std::string since = home->ScalarAt("metadata.creationTimestamp");
  ForEach(workspace.type, [&](const openapi::Group& group, const std::string& version) {
    out.push_back(ApiService(group.name, version, "onstart", group.priority,
                             VersionPriority(group.name, version)));
    const std::string name = version + "." + group.name;
    Complete(out.back(), StableUid(home->meta().uid, name), since);
  });
  return out;
}

bool IsImpliedApi(openapi::WorkspaceType type, std::string_view group, std::string_view version) {
  bool found = false;
  ForEach(type, [&](const openapi::Group& each, const std::string& its_version) {
    found = found || (each.name == group && its_version == version);
  });
  return found;
}

Json DefinitionApi(const std::string& group, const std::string& version) {
  return ApiService(group, version, "true", kDefinitionGroup, kDefinitionVersion);
}

Result<void> PrepareApiService(Call& call, Json& object, const Json* live) {
  if (live != nullptr) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  for (const Json& implied : ImpliedApis(call.hub, call.workspace)) {
    if (StringAt(implied, {"metadata", "name"}) == name) {
      return AlreadyExists(call.type->plural, call.type->gvk.group, name);
    }
  }
  return Ok();
}

void RenewApiService(const Call& call, const Object& object, storage::Txn& txn) {
  for (Json& implied : ImpliedApis(call.hub, call.workspace)) {
    if (StringAt(implied, {"metadata", "name"}) != object.meta().name) continue;
    Complete(implied, NewUid(), FormatTime(call.hub.clock.Now()));
    storage::Operation& removal = txn.operations.back();
    removal.type = storage::Operation::Type::kPut;
    removal.value = std::make_shared<const std::string>(Object::Encode(implied));
  }
}

}  // namespace mailroom::apiserver
