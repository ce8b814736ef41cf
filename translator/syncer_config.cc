#include "translator/syncer_config.h"

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::translator {
namespace {

Json NewEntry(const ConfigItem& item) {
  return {{"group", item.id.resource.group},
          {"resource", item.id.resource.resource},
          {"apiVersion", item.version}};
}

// The last entry of `list` when it is for the item's resource, else a new one.
Json& EntryFor(const ConfigItem& item, std::string_view names, Json& list) {
  const bool same = !list.empty() &&
                    StringAt(list.back(), {"group"}) == item.id.resource.group &&
                    StringAt(list.back(), {"resource"}) == item.id.resource.resource;
  if (!same) {
    list.push_back(NewEntry(item));
    Set(list.back(), {names}, Json::array());
  }
  return *Find(list.back(), {names});
}

}  // namespace

Json RenderSyncerConfigSpec(const std::vector<ConfigItem>& items) {
  Json namespaced = Json::array();
  Json cluster = Json::array();
  for (const ConfigItem& item : items) {
    if (item.id.ns.empty()) {
      EntryFor(item, "objects", cluster).push_back(item.id.name);
      continue;
    }
    Json& by_namespace = EntryFor(item, "objectsByNamespace", namespaced);
    if (by_namespace.empty() || StringAt(by_namespace.back(), {"namespace"}) != item.id.ns) {
      by_namespace.push_back({{"namespace", item.id.ns}, {"names", Json::array()}});
    }
    Find(by_namespace.back(), {"names"})->push_back(item.id.name);
  }
  return {{"namespaceScope", Json::object()},
          {"namespacedObjects", std::move(namespaced)},
          {"clusterScope", std::move(cluster)},
          {"upsync", Json::array()}};
}

Result<client::Requeue> SyncerConfig::Reconcile(const client::WorkKey& key) {
  const std::string& mailbox = key.lane;
  if (!plan_.Serves(mailbox)) return client::Requeue{};
  // An incomplete plan would tell the syncer to let go of objects that are merely not listed yet.
  if (!plan_.Complete()) return parked_.Park(key, [this] { return plan_.Complete(); });
  if (!configs_->synced()) return client::Requeue{limits::kSyncedCheck};
  const client::Gvr gvr{std::string(openapi::kEdgeApi), "syncerconfigs"};
  const std::string name(openapi::kSyncerConfigName);
  const Json spec = RenderSyncerConfigSpec(plan_.ConfigOf(mailbox));
  const client::Client workspace = hub_.InWorkspace(mailbox);
  const ObjectPtr found = configs_->Get({.workspace = mailbox, .ns = "", .name = name});
  if (found == nullptr) {
    const Json fresh = {{"apiVersion", openapi::kEdgeApi},
                        {"kind", "SyncerConfig"},
                        {"metadata", {{"name", name}}},
                        {"spec", spec}};
    auto created = workspace.Create(gvr, "", fresh);
    if (!created.ok() && created.error().reason() != Reason::kAlreadyExists) {
      return std::move(created).error();
    }
    return client::Requeue{};
  }
  Json body = found->ToJson();
  const Json* present = Find(body, {"spec"});
  if (present != nullptr && *present == spec) return client::Requeue{};
  Set(body, {"spec"}, spec);
  TRY(workspace.Update({.gvr = gvr, .ns = "", .name = name, .subresource = ""}, body));
  return client::Requeue{};
}

}  // namespace mailroom::translator
