#include "translator/syncer_config.h"

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"

namespace mailroom::translator {
namespace {

Json NewEntry(const ConfigItem& item) {
  return {{"group", item.id.resource.group},
          {"resource", item.id.resource.resource},
          {"apiVersion", item.version}};
}

// The last entry of `list` when it is for the item's resource, else a new one.
Json& EntryFor(const ConfigItem& item, std::string_view names, Json& list) {
  const bool same = !list.empty() && StringAt(list.back(), {"group"}) == item.id.resource.group &&
                    StringAt(list.back(), {"resource"}) == item.id.resource.resource;
  if (!same) {
    list.push_back(NewEntry(item));
    Set(list.back(), {names}, Json::array());
  }
  return *Find(list.back(), {names});
}

const Json& ArrayAt(const Json& parent, std::string_view field) {
  static const Json kNone = Json::array();
  const Json* list = Find(parent, {field});
  return list != nullptr && list->is_array() ? *list : kNone;
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

std::vector<ConfigItem> ParseSyncerConfigSpec(const Json& spec) {
  std::vector<ConfigItem> out;
  const auto add = [&out](const Json& entry, const std::string& ns, const std::string& name) {
    const GroupResource resource{StringAt(entry, {"group"}), StringAt(entry, {"resource"})};
    out.push_back({{resource, ns, name}, StringAt(entry, {"apiVersion"})});
  };
  for (const Json& entry : ArrayAt(spec, "namespacedObjects")) {
    for (const Json& group : ArrayAt(entry, "objectsByNamespace")) {
      const std::string ns = StringAt(group, {"namespace"});
      for (const std::string& name : StringsAt(group, {"names"})) add(entry, ns, name);
    }
  }
  for (const Json& entry : ArrayAt(spec, "clusterScope")) {
    for (const std::string& name : StringsAt(entry, {"objects"})) add(entry, "", name);
  }
  return out;
}

std::vector<ConfigItem> Union(const std::vector<ConfigItem>& first,
                              const std::vector<ConfigItem>& second) {
  std::map<ObjectId, std::string> all;
  for (const ConfigItem& item : first) all.emplace(item.id, item.version);
  for (const ConfigItem& item : second) all.emplace(item.id, item.version);
  std::vector<ConfigItem> out;
  for (auto& [id, version] : all) out.push_back({id, version});
  return out;
}

Result<client::Requeue> SyncerConfig::Reconcile(const client::WorkKey& key) {
  if (!plan_.Serves(key.lane)) return client::Requeue{};
  if (!configs_->synced()) return parked_.Park(key, [this] { return configs_->synced(); });
  const bool complete = plan_.Complete();
  TRY(Write(key.lane, complete));
  if (complete) return client::Requeue{};
  return parked_.Park(key, [this] { return plan_.Complete(); });
}

Result<void> SyncerConfig::Write(const std::string& mailbox, bool complete) const {
  const client::Gvr gvr{std::string(openapi::kEdgeApi), "syncerconfigs"};
  const std::string name(openapi::kSyncerConfigName);
  const client::Client workspace = hub_.InWorkspace(mailbox);
  std::vector<ConfigItem> items = plan_.ConfigOf(mailbox);
  const ObjectPtr found = configs_->Get({.workspace = mailbox, .ns = "", .name = name});
  if (found == nullptr) {
    const Json fresh = {{"apiVersion", openapi::kEdgeApi},
                        {"kind", "SyncerConfig"},
                        {"metadata", {{"name", name}}},
                        {"spec", RenderSyncerConfigSpec(items)}};
    auto created = workspace.Create(gvr, "", fresh, client::Client::Answer::kDropped);
    if (!created.ok() && created.error().reason() != Reason::kAlreadyExists) {
      return std::move(created).error();
    }
    return Ok();
  }
  Json body = found->ToJson();
  const Json* present = Find(body, {"spec"});
  if (!complete && present != nullptr) items = Union(items, ParseSyncerConfigSpec(*present));
  const Json spec = RenderSyncerConfigSpec(items);
  if (present != nullptr && *present == spec) return Ok();
  Set(body, {"spec"}, spec);
  TRY(workspace.Update({.gvr = gvr, .ns = "", .name = name, .subresource = ""}, body,
                       client::Client::Answer::kDropped));
  return Ok();
}

}  // namespace mailroom::translator
