#include "syncer/syncer.h"

#include <atomic>

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "syncer/removal.h"

namespace mailroom::syncer {
namespace {

constexpr const char* kSyncerVersion = "v0.1.0";

std::string ApiVersion(const std::string& group, const std::string& version) {
  return group.empty() ? version : group + "/" + version;
}

// What has been deleted and is only held by others is not ours to wait for.
std::size_t CountLiving(const client::Informer& informer) {
  std::size_t living = 0;
  for (const auto& [key, object] : informer.List()) {
    if (object->meta().deletion_timestamp.empty()) ++living;
  }
  return living;
}

Place WholeResource(const GroupResource& resource) { return {resource, "", ""}; }

}  // namespace

Syncer::Syncer(Options options)
    : options_(std::move(options)),
      memory_(options_.state_dir, options_.identity.uid),
      controller_(client::Controller::Start("syncer", *this, limits::kSyncerWorkers)),
      parts_{.identity = options_.identity,
             .mailbox = {options_.mailbox, Kinds(options_.mailbox),
                         Collections(
                             options_.mailbox, "",
                             [this](const Place& place) { queue().Add(KeyOf(place)); },
                             [this](const GroupResource& resource) { Look(resource); })},
             .wec = {options_.wec, Kinds(options_.wec),
                     Collections(
                         options_.wec, options_.identity.LabelSelector(),
                         [this](const Place& place) {
                           queue().Add(KeyOf(place));
                           queue().AddAfter(Errand(kReportLane), limits::kReportDelay);
                         },
                         [this](const GroupResource& resource) { Look(resource); })},
             .instructions = {},
             .unserved = {},
             .report = {options_.mailbox, Clock::Real(),
                        [this] { queue().AddAfter(Errand(kReportLane), limits::kReportDelay); },
                        [this] { return Summary(); }}},
      downsync_(parts_) {
  identity_ = WatchIdentity();
  mailbox_crds_ = WatchCrds(options_.mailbox);
  wec_crds_ = WatchCrds(options_.wec);
  const auto read = [this] { queue().Add(Errand(kConfigLane)); };
  configs_ = client::Informer::Start(
      {.client = options_.mailbox,
       .gvr = {std::string(openapi::kEdgeApi), "syncerconfigs"},
       .query = {},
       .on_synced = read},
      [read](const client::ObjectKey&, const ObjectPtr&, const ObjectPtr&) { read(); });
  if (!memory_.known()) queue().Add(Errand(kSweepLane));
  queue().Add(Errand(kReportLane));
}

Syncer::~Syncer() {
  controller_->Stop();
  configs_.reset();
  mailbox_crds_.reset();
  wec_crds_.reset();
  identity_.reset();
  parts_.mailbox.collections.Clear();
  parts_.wec.collections.Clear();
}

Result<client::Requeue> Syncer::Reconcile(const client::WorkKey& key) {
  if (key.lane == kConfigLane) return ReadConfigs();
  if (key.lane == kResourceLane) return ReconcileResource(ResourceOf(key.id));
  if (key.lane == kCrdLane) return CrdChanged(key.id);
  if (key.lane == kSweepLane) return Sweep();
  if (key.lane == kReportLane) return parts_.report.Write();
  return ReconcileObject(PlaceOf(key));
}

Json Syncer::Summary() {
  // Read first: what follows is not older. Counts of what has not been gathered are about nothing.
  const std::int64_t observed = memory_.complete() ? observed_.load() : 0;
  std::size_t objects = 0;
  bool counted = true;
  Json resources = Json::array();
  for (const auto& [resource, api_version] : memory_.resources()) {
    const auto there = parts_.wec.collections.Of(resource);
    counted = counted && there != nullptr && there->synced();
    if (there != nullptr) objects += CountLiving(*there);
    const std::string version = client::Gvr{api_version, ""}.version();
    Json synced = {{"resource", resource.resource}, {"versions", Json::array({version})}};
    if (!resource.group.empty()) synced["group"] = resource.group;
    resources.push_back(std::move(synced));
  }
  Json summary = {{"syncedResources", std::move(resources)}, {"syncerVersion", kSyncerVersion}};
  // A count of what has not been listed would be a lie, and a drain would believe it.
  summary["objectCount"] = counted ? Json(objects) : Json();
  if (const auto selection = parts_.instructions.Get()) {
    summary["selectedResources"] = selection->resources().size();
  }
  summary["observedGeneration"] = observed;
  if (wec_version_.empty()) {
    auto version = parts_.wec.client.GetPath("/version");
    if (version.ok()) wec_version_ = StringAt(*version, {"gitVersion"});
  }
  if (!wec_version_.empty()) summary["wecVersion"] = wec_version_;
  return summary;
}

Result<client::Requeue> Syncer::ReadConfigs() {
  if (!configs_->synced()) return client::Requeue{};
  std::vector<Json> configs;
  std::int64_t generation = 0;
  for (const auto& [key, object] : configs_->List()) {
    configs.push_back(object->ToJson());
    if (key.name != openapi::kSyncerConfigName) continue;
    generation = IntAt(configs.back(), {"metadata", "generation"});
  }
  auto selection = std::make_shared<const Selection>(Selection::FromConfigs(configs));
  const auto before = parts_.instructions.Get();
  const bool same = before != nullptr && *before == *selection;
  if (!same) parts_.instructions.Set(selection);
  const bool told = observed_.exchange(generation) == generation;
  if (!same || !told) queue().AddAfter(Errand(kReportLane), limits::kReportDelay);
  if (same) return client::Requeue{};
  EnqueueResources();
  // What others need comes first.
  EnqueueAll(kNamespaces);
  EnqueueAll(kCrds);
  for (const auto& [resource, unused] : memory_.resources()) EnqueueAll(resource);
  for (const auto& [resource, unused] : selection->resources()) EnqueueAll(resource);
  return client::Requeue{};
}

Result<client::Requeue> Syncer::ReconcileResource(const GroupResource& resource) {
  const auto selection = parts_.instructions.Get();
  const std::string api_version = VersionOf(resource);
  if (selection == nullptr) return client::Requeue{};
  if (api_version.empty()) {
    TRY(StopResource(resource));
    return client::Requeue{};
  }
  const bool selected = selection->resources().contains(resource);
  const bool in_mailbox = TRY(Serve(parts_.mailbox, resource, api_version));
  parts_.unserved.Set(resource, !in_mailbox);
  const bool in_wec = TRY(Serve(parts_.wec, resource, api_version));
  if (!in_wec) {
    if (selected) return Missing(resource, "the WEC does not serve " + api_version);
    const bool gone = TRY(KindGone(parts_.wec.client, resource));
    if (gone) TRY(StopResource(resource));
    return client::Requeue{gone ? std::chrono::seconds(0) : limits::kForeignCheck};
  }
  TRY(memory_.Remember(resource, api_version));
  const auto there = parts_.wec.collections.Of(resource);
  const bool unused = !selected && there != nullptr && there->synced() && there->size() == 0;
  if (!unused) EnqueueAll(resource);
  if (!in_mailbox && selected) {
    return Missing(resource, "the mailbox does not serve " + api_version);
  }
  parts_.report.Clear(WholeResource(resource));
  if (Idle(resource, unused)) {
    TRY(StopResource(resource));
    return client::Requeue{};
  }
  const bool again = unused || !in_mailbox;
  return client::Requeue{again ? limits::kForeignCheck : std::chrono::seconds(0)};
}

bool Syncer::Idle(const GroupResource& resource, bool unused) {
  const auto now = Clock::Real().Monotonic();
  std::lock_guard lock(idle_mutex_);
  if (!unused) {
    idle_.erase(resource);
    return false;
  }
  return now - idle_.try_emplace(resource, now).first->second >= limits::kForeignCheck;
}

// A kind that is missing holds up its own objects only.
Status Syncer::Missing(const GroupResource& resource, std::string message) {
  message += " " + resource.resource + "; its objects wait";
  parts_.report.Set(WholeResource(resource), message);
  return Status(Reason::kNotFound, std::move(message));
}

Result<bool> Syncer::Serve(Side& side, const GroupResource& resource,
                           const std::string& api_version) {
  auto facts = side.kinds.Find({api_version, resource.resource});
  if (facts.ok()) {
    side.collections.Start(resource, api_version);
    return true;
  }
  if (facts.error().reason() != Reason::kNotFound) return std::move(facts).error();
  side.collections.Stop(resource);
  return false;
}

Result<void> Syncer::StopResource(const GroupResource& resource) {
  parts_.mailbox.collections.Stop(resource);
  parts_.wec.collections.Stop(resource);
  parts_.report.Clear(WholeResource(resource));
  return memory_.Forget(resource);
}

Result<client::Requeue> Syncer::CrdChanged(const std::string& name) {
  const GroupResource resource = ResourceOf(name);
  parts_.mailbox.kinds.Forget(resource.group);
  parts_.wec.kinds.Forget(resource.group);
  if (!VersionOf(resource).empty()) Look(resource);
  return client::Requeue{};
}

// Without a record of former work, every resource of the WEC is asked once for marked objects.
Result<client::Requeue> Syncer::Sweep() {
  const auto served = TRY(parts_.wec.kinds.All());
  for (const auto& [gvr, facts] : served) {
    auto list = parts_.wec.client.List(gvr, {.ns = "",
                                             .label_selector = parts_.identity.LabelSelector(),
                                             .field_selector = "",
                                             .limit = 1});
    if (!list.ok()) {
      if (list.error().reason() == Reason::kServiceUnavailable) return std::move(list).error();
      continue;
    }
    const Json* items = Find(*list, {"items"});
    if (items == nullptr || items->empty()) continue;
    TRY(memory_.Remember({gvr.group(), gvr.resource}, gvr.api_version));
  }
  TRY(memory_.Complete());
  queue().AddAfter(Errand(kReportLane), limits::kReportDelay);
  EnqueueResources();
  return client::Requeue{};
}

Result<client::Requeue> Syncer::ReconcileObject(const Place& place) {
  const std::string api_version = VersionOf(place.resource);
  if (api_version.empty()) return client::Requeue{};
  const auto requeue = TRY(downsync_.Reconcile(place, api_version));
  const auto selection = parts_.instructions.Get();
  const auto there = parts_.wec.collections.Of(place.resource);
  const bool selected = selection == nullptr || selection->resources().contains(place.resource);
  // The last object of a resource that is no longer wanted has gone: its watches may end.
  if (!selected && there != nullptr && there->size() == 0) {
    Look(place.resource);
  }
  return requeue;
}

std::string Syncer::VersionOf(const GroupResource& resource) const {
  if (const auto selection = parts_.instructions.Get(); selection != nullptr) {
    const auto wanted = selection->resources().find(resource);
    if (wanted != selection->resources().end()) {
      return ApiVersion(resource.group, wanted->second.version);
    }
  }
  const auto remembered = memory_.resources();
  const auto found = remembered.find(resource);
  return found == remembered.end() ? "" : found->second;
}

void Syncer::Look(const GroupResource& resource) {
  queue().Add(Errand(kResourceLane, LaneOf(resource)));
}

void Syncer::EnqueueAll(const GroupResource& resource) {
  for (const Side* side : {&parts_.mailbox, &parts_.wec}) {
    for (const Place& place : side->collections.Places(resource)) queue().Add(KeyOf(place));
  }
  const auto selection = parts_.instructions.Get();
  if (resource != kNamespaces || selection == nullptr) return;
  for (const std::string& name : selection->ensured()) {
    queue().Add(KeyOf({kNamespaces, "", name}));
  }
}

void Syncer::EnqueueResources() {
  Look(kNamespaces);
  Look(kCrds);
  for (const auto& [resource, unused] : memory_.resources()) Look(resource);
  const auto selection = parts_.instructions.Get();
  if (selection == nullptr) return;
  for (const auto& [resource, unused] : selection->resources()) Look(resource);
}

std::unique_ptr<client::Informer> Syncer::WatchCrds(const client::Client& client) {
  // What discovery says is never older than the first list, so only later changes matter.
  auto synced = std::make_shared<std::atomic<bool>>(false);
  return client::Informer::Start(
      {.client = client,
       .gvr = {kCrds.group + "/v1", kCrds.resource},
       .query = {},
       .metadata_only = true,
       .on_synced = [synced] { *synced = true; }},
      [this, synced](const client::ObjectKey& key, const ObjectPtr&, const ObjectPtr&) {
        if (*synced) queue().Add(Errand(kCrdLane, key.name));
      });
}

std::unique_ptr<client::Informer> Syncer::WatchIdentity() {
  return client::Informer::Start(
      {.client = options_.mailbox,
       .gvr = {"v1", "namespaces"},
       .query = {.ns = "", .label_selector = "", .field_selector = "metadata.name=kube-system"}},
      [this](const client::ObjectKey&, const ObjectPtr&, const ObjectPtr& now) {
        if (now == nullptr || now->meta().name != "kube-system") return;
        if (now->meta().uid == options_.identity.uid) return;
        Log(Level::kWarn, "the mailbox was replaced", {{"uid", std::string(now->meta().uid)}});
        options_.on_replaced();
      });
}

}  // namespace mailroom::syncer
