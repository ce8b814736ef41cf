#include "apiserver/remote_apis.h"

#include <algorithm>

#include "apiserver/conditions.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

bool Before(const RemoteApi& a, const RemoteApi& b) {
  if (a.group_priority != b.group_priority) return a.group_priority > b.group_priority;
  if (a.group != b.group) return a.group < b.group;
  if (a.version_priority != b.version_priority) return a.version_priority > b.version_priority;
  return openapi::VersionLess(a.version, b.version);
}

// What acts goes on acting when more are made.
void SortByAge(std::vector<storage::Entry>& entries) {
  std::vector<std::pair<std::string, storage::Entry>> dated;
  for (storage::Entry& entry : entries) {
    dated.emplace_back(entry.object->ScalarAt("metadata.creationTimestamp"), std::move(entry));
  }
  std::sort(dated.begin(), dated.end(), [](const auto& a, const auto& b) {
    return std::pair(std::string_view(a.first), a.second.object->meta().name) <
           std::pair(std::string_view(b.first), b.second.object->meta().name);
  });
  for (std::size_t i = 0; i < dated.size(); ++i) entries[i] = std::move(dated[i].second);
}

}  // namespace

bool ServedHere(const openapi::Catalog& catalog, std::string_view group,
                std::string_view version) {
  for (const openapi::Group& each : catalog.groups()) {
    if (each.name != group) continue;
    return std::any_of(each.versions.begin(), each.versions.end(),
                       [&](const openapi::GroupVersion& one) { return one.version == version; });
  }
  return false;
}

bool ApiServicesAct(openapi::WorkspaceType type) {
  return type == openapi::WorkspaceType::kRoot || type == openapi::WorkspaceType::kCluster;
}

std::optional<RemoteApi> ReadRemoteApi(const Json& api_service) {
  const Json* spec = Find(api_service, {"spec"});
  if (spec == nullptr || Find(*spec, {"service"}) == nullptr) return std::nullopt;
  RemoteApi api;
  api.name = StringAt(api_service, {"metadata", "name"});
  api.group = StringAt(*spec, {"group"});
  api.version = StringAt(*spec, {"version"});
  api.service_namespace = StringAt(*spec, {"service", "namespace"});
  api.service_name = StringAt(*spec, {"service", "name"});
  if (const Json* port = Find(*spec, {"service", "port"}); port != nullptr && port->is_number()) {
    api.port = port->get<int>();
  }
  api.insecure = BoolAt(*spec, {"insecureSkipTLSVerify"}, false);
  if (auto ca = openapi::DecodeBase64(StringAt(*spec, {"caBundle"}))) api.ca_pem = std::move(*ca);
  api.group_priority = IntAt(*spec, {"groupPriorityMinimum"});
  api.version_priority = IntAt(*spec, {"versionPriority"});
  const Json* available = ConditionOf(api_service, "Available");
  api.available = available != nullptr && StringAt(*available, {"status"}) == "True";
  // The core group and what is no path segment are never somebody else's.
  if (api.group.empty() || api.version.empty()) return std::nullopt;
  return api;
}

bool RemoteApis::IsLive(const Workspace& workspace) const {
  const auto view = workspaces_.Find(workspace);
  return view.ok() && ApiServicesAct(view->type);
}

RemoteApiList RemoteApis::Of(const Workspace& workspace) const {
  static const RemoteApiList kNone = std::make_shared<const std::vector<RemoteApi>>();
  const Revision revision = store_.LastChange(workspace, kApiServicesResource);
  if (revision == Revision()) return kNone;
  const auto view = workspaces_.Find(workspace);
  if (!view.ok() || !ApiServicesAct(view->type)) return kNone;
  {
    std::lock_guard lock(mutex_);
    const auto known = known_.find(workspace);
    if (known != known_.end() && known->second.revision == revision &&
        known->second.catalog == view->catalog) {
      return known->second.list;
    }
  }
  auto listed = store_.List({.scope = {workspace, kApiServicesResource, ""}});
  if (!listed.ok()) return kNone;
  if (listed->entries.size() > limits::kAggregatedApis) SortByAge(listed->entries);
  auto list = std::make_shared<std::vector<RemoteApi>>();
  for (const storage::Entry& entry : listed->entries) {
    if (list->size() == limits::kAggregatedApis) break;
    if (entry.object->ScalarAt("spec.service.name").empty()) continue;
    auto api = ReadRemoteApi(entry.object->ToJson());
    if (api && !ServedHere(*view->catalog, api->group, api->version)) list->push_back(std::move(*api));
  }
  std::sort(list->begin(), list->end(), Before);
  {
    std::lock_guard lock(mutex_);
    known_[workspace] = {revision, view->catalog, list};
  }
  // It may have gone, and been forgotten, before that was remembered.
  if (!workspaces_.Find(workspace).ok()) Forget(workspace);
  return list;
}

RemoteApis::Standing RemoteApis::StandingOf(const Workspace& workspace,
                                            const RemoteApi& api) const {
  const RemoteApiList list = Of(workspace);
  const bool acts = std::any_of(list->begin(), list->end(),
                                [&](const RemoteApi& each) { return each.name == api.name; });
  if (acts) return Standing::kActs;
  const auto view = workspaces_.Find(workspace);
  const bool here = view.ok() && ServedHere(*view->catalog, api.group, api.version);
  return here ? Standing::kServedHere : Standing::kTooMany;
}

void RemoteApis::Forget(const Workspace& workspace) const {
  std::lock_guard lock(mutex_);
  known_.erase(workspace);
}

}  // namespace mailroom::apiserver
