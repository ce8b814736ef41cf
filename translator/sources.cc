#include "translator/sources.h"

#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "translator/conditions.h"
#include "translator/what.h"

namespace mailroom::translator {
namespace {

// The version in which copies of a definition's resource are watched.
std::string ServedVersion(const Json& crd) {
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return "";
  for (const Json& version : *versions) {
    if (BoolAt(version, {"served"})) return StringAt(version, {"name"});
  }
  return "";
}

bool AnyServed(const Json& crd) { return !ServedVersion(crd).empty(); }

}  // namespace

Sources::Sources(client::Client hub, Plan& plan, Copies& copies, Wiring wiring)
    : hub_(std::move(hub)), plan_(plan), copies_(copies), wiring_(std::move(wiring)) {}

Result<client::Requeue> Sources::Reconcile(const client::WorkKey& key) {
  if (key == ListedKey()) return ReconcileListed();
  if (key == CopiesKey()) {
    WatchCopies();
    return client::Requeue{};
  }
  return key == SyncedKey(key.lane) ? ReconcileSynced(key.lane) : ReconcileWds(key.lane);
}

Result<client::Requeue> Sources::ReconcileListed() {
  if (!wiring_.listed()) return client::Requeue{};
  plan_.SetListed();
  wiring_.complete();
  return client::Requeue{};
}

bool Sources::IsWds(const std::string& workspace) const {
  const ObjectPtr object = workspaces_->Get({.workspace = "", .ns = "", .name = workspace});
  return object != nullptr && object->meta().deletion_timestamp.empty() &&
         object->ScalarAt("spec.type") == "wds";
}

void Sources::Drop(const std::string& wds, const GroupResource& resource) {
  wdses_[wds].erase(resource);  // no event of it comes any more
  wiring_.changed(plan_.DropResource(wds, resource));
}

Sources::Feed Sources::Open(const std::string& wds, const ResourceFacts& facts) {
  plan_.SetResource(wds, facts);
  auto informer = client::Informer::Start(
      {.client = hub_.InWorkspace(wds),
       .gvr = facts.gvr(),
       .query = {},
       .metadata_only = false,
       .watch_list = true,
       .on_synced = [this, wds] { wiring_.again(SyncedKey(wds)); }},
      [this, wds, resource = facts.resource](const client::ObjectKey& key, const ObjectPtr&,
                                             const ObjectPtr& now) {
        wiring_.changed(plan_.SetObject({wds, ObjectId{resource, key.ns, key.name}}, now));
        if (resource == kCrds) wiring_.again(WdsKey(wds));
      });
  return {facts, std::move(informer), ""};
}

bool Sources::Current(const Feeds& feeds) {
  const auto crds = feeds.find(kCrds);
  if (crds == feeds.end()) return true;
  for (const auto& [key, object] : crds->second.informer->List()) {
    const auto defined = DefinedBy(key.name);
    if (!defined || !GoesToEdge(*defined) || feeds.contains(*defined)) continue;
    const Json crd = object->ToJson();
    if (ConditionIsTrue(crd, "Established") && AnyServed(crd)) return false;
  }
  return true;
}

void Sources::DropAll(const std::string& wds) {
  const auto found = wdses_.find(wds);
  if (found == wdses_.end()) return;
  std::vector<GroupResource> all;
  for (const auto& [resource, feed] : found->second) all.push_back(resource);
  for (const GroupResource& resource : all) Drop(wds, resource);
  wdses_.erase(wds);
  WatchCopies();
  wiring_.complete();
}

Result<client::Requeue> Sources::ReconcileWds(const std::string& wds) {
  if (!IsWds(wds)) {
    DropAll(wds);
    return client::Requeue{};
  }
  Feeds& feeds = wdses_[wds];
  std::map<GroupResource, ResourceFacts> served;
  for (const ResourceFacts& facts : TRY(Discover(hub_.InWorkspace(wds)))) {
    if (GoesToEdge(facts.resource)) served.emplace(facts.resource, facts);
  }
  std::vector<GroupResource> gone;
  for (const auto& [resource, feed] : feeds) {
    const auto now = served.find(resource);
    if (now == served.end() || now->second.version != feed.facts.version) gone.push_back(resource);
  }
  bool changed = false;
  for (const GroupResource& resource : gone) {
    // Served in another version, its objects are listed anew; nothing is judged meanwhile.
    if (served.contains(resource)) plan_.SetReady(wds, false);
    Drop(wds, resource);
    changed = true;
  }
  for (const auto& [resource, facts] : served) {
    const auto feed = feeds.find(resource);
    if (feed == feeds.end()) {
      plan_.SetReady(wds, false);
      feeds.emplace(resource, Open(wds, facts));
      changed = true;
    } else if (!(feed->second.facts == facts)) {
      feed->second.facts = facts;
      plan_.SetResource(wds, facts);
    }
  }
  if (changed) WatchCopies();
  if (!Current(feeds)) return client::Requeue{limits::kSyncedCheck};
  wiring_.again(SyncedKey(wds));
  return client::Requeue{};
}

Result<client::Requeue> Sources::ReconcileSynced(const std::string& wds) {
  const auto found = wdses_.find(wds);
  if (found == wdses_.end()) return client::Requeue{};
  for (auto& [resource, feed] : found->second) {
    if (feed.informer->synced()) continue;
    // Each list that ends wakes this key. One that cannot be had holds up every removal, so it
    // must be heard of.
    std::string error = feed.informer->last_error();
    if (!error.empty() && error != feed.logged) {
      Log(Level::kWarn, "cannot list a resource; nothing is removed from mailboxes until it can",
          {{"workspace", wds}, {"resource", resource.resource}, {"error", error}});
      feed.logged = std::move(error);
    }
    return client::Requeue{limits::kDependencyCheck};
  }
  if (!Current(found->second)) {
    wiring_.again(WdsKey(wds));
    return client::Requeue{};
  }
  plan_.SetReady(wds, true);
  wiring_.complete();
  return client::Requeue{};
}

void Sources::WatchCopies() {
  std::map<GroupResource, std::string> versions;
  for (const ResourceFacts& facts : wiring_.builtins) {
    versions.emplace(facts.resource, facts.version);
  }
  for (const auto& [wds, feeds] : wdses_) {
    for (const auto& [resource, feed] : feeds) versions.emplace(resource, feed.facts.version);
  }
  // Copies outlive the workspace they came from until they are swept.
  for (const auto& [name, crd] : copies_.Definitions()) {
    const auto defined = DefinedBy(name);
    if (!defined || versions.contains(*defined)) continue;
    const Json tree = crd->ToJson();
    if (ConditionIsTrue(tree, "Established") && AnyServed(tree)) {
      versions.emplace(*defined, ServedVersion(tree));
    }
  }
  copies_.Watch(versions);
}

}  // namespace mailroom::translator
