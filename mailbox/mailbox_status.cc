#include "mailbox/mailbox_status.h"

#include <algorithm>

#include "storage/object/clock.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::mailbox {
namespace {

struct Condition {
  const char* type;
  std::string status;
  const char* reason;
  std::string message;
};

void SetCondition(Json& object, const Condition& wanted, const std::string& now) {
  Json* conditions = Find(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) {
    conditions = &Set(object, {"status", "conditions"}, Json::array());
  }
  Json* known = nullptr;
  for (Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == wanted.type) known = &condition;
  }
  if (known == nullptr) known = &conditions->emplace_back(Json::object());
  const bool flips = StringAt(*known, {"status"}) != wanted.status;
  Set(*known, {"lastTransitionTime"}, flips ? now : StringAt(*known, {"lastTransitionTime"}));
  Set(*known, {"type"}, wanted.type);
  Set(*known, {"status"}, wanted.status);
  Set(*known, {"reason"}, wanted.reason);
  Set(*known, {"message"}, wanted.message);
}

Condition Connected(const char* type, const Report& report) {
  if (report.connected) return {type, "True", "HeartbeatSeen", "the syncer reports"};
  if (report.heartbeat.empty()) {
    return {type, "False", "NeverConnected", "no syncer has reported yet"};
  }
  return {type, "False", "HeartbeatLost", "the syncer has not reported for a while"};
}

// In the words of KubeStellar's API, whose reason of a failing heartbeat this is.
Condition HeartbeatOf(const char* type, const Report& report) {
  Condition condition = Connected(type, report);
  if (!report.connected) condition.reason = "ErrorHeartbeat";
  return condition;
}

Condition Synced(const Report& report) {
  if (report.synced == "True") return {"Synced", "True", "AllApplied", ""};
  if (report.synced == "False") return {"Synced", "False", "ApplyFailed", report.trouble};
  return {"Synced", "Unknown", "SyncerSilent", "the syncer does not report"};
}

// Heartbeats come often and are many; people need them to the minute.
void SetHeartbeat(const Report& report, bool changed, Json& object) {
  const std::string known = StringAt(object, {"status", "lastSyncerHeartbeatTime"});
  if (report.heartbeat.empty() || known == report.heartbeat) return;
  const std::int64_t step = ParseTime(report.heartbeat) - ParseTime(known);
  if (changed || known.empty() || step >= limits::kHeartbeatCopy.count()) {
    Set(object, {"status", "lastSyncerHeartbeatTime"}, report.heartbeat);
  }
}

void SetUnlessEmpty(Json& object, std::string_view field, const std::string& value) {
  if (!value.empty()) Set(object, {"status", field}, value);
}

// What the mailbox has for its cluster, by the names that the translator lists.
std::int64_t CountWanted(const Json& spec) {
  std::size_t count = 0;
  auto each = [](const Json& from, std::string_view list, const auto& take) {
    const Json* entries = Find(from, {list});
    if (entries == nullptr || !entries->is_array()) return;
    for (const Json& entry : *entries) take(entry);
  };
  each(spec, "clusterScope",
       [&](const Json& entry) { count += StringsAt(entry, {"objects"}).size(); });
  each(spec, "namespacedObjects", [&](const Json& entry) {
    each(entry, "objectsByNamespace",
         [&](const Json& part) { count += StringsAt(part, {"names"}).size(); });
  });
  return static_cast<std::int64_t>(count);
}

bool IsEmptyAt(const Json& spec, std::string_view list) {
  const Json* entries = Find(spec, {list});
  return entries == nullptr || entries->empty();
}

}  // namespace

Report ReadReport(const Object* config, const std::string& now) {
  Report report;
  report.synced = "Unknown";
  if (config == nullptr) return report;
  const Json tree = config->ToJson();
  const Json spec = tree.value("spec", Json::object());
  report.wanted = CountWanted(spec);
  report.heartbeat = StringAt(tree, {"status", "lastSyncerHeartbeatTime"});
  if (report.heartbeat.empty()) return report;
  const std::int64_t age = ParseTime(now) - ParseTime(report.heartbeat);
  report.connected = age < limits::kHeartbeatStale.count();
  if (report.connected) {
    report.fresh_for =
        limits::kHeartbeatStale - std::chrono::seconds(std::max<std::int64_t>(age, 0));
  }
  const Json* errors = Find(tree, {"status", "errors"});
  const bool fails = errors != nullptr && errors->is_array() && !errors->empty();
  if (report.connected) report.synced = fails ? "False" : "True";
  if (fails) {
    const Json& first = errors->front();
    report.trouble = std::to_string(errors->size()) + " not applied; first " +
                     StringAt(first, {"resource"}) + " " + StringAt(first, {"namespace"}) + "/" +
                     StringAt(first, {"name"}) + ": " + StringAt(first, {"message"});
  }
  report.objects = IntAt(tree, {"status", "objectCount"});
  report.syncer_version = StringAt(tree, {"status", "syncerVersion"});
  report.wec_version = StringAt(tree, {"status", "wecVersion"});
  if (const Json* list = Find(tree, {"status", "syncedResources"})) report.resources = *list;
  const bool wants = !IsEmptyAt(spec, "namespacedObjects") || !IsEmptyAt(spec, "clusterScope");
  // Counts of former instructions say nothing about what came of these. (Older syncers do not tell.)
  const std::int64_t generation = IntAt(tree, {"metadata", "generation"});
  const bool current = IntAt(tree, {"status", "observedGeneration"}, generation) == generation;
  report.idle = current && !wants && IntAt(tree, {"status", "objectCount"}, -1) == 0 &&
                IntAt(tree, {"status", "selectedResources"}, -1) == 0;
  return report;
}

bool FillMailbox(const Report& report, const std::string& url, const std::string& now,
                 Json& mailbox) {
  const Json before = mailbox;
  Set(mailbox, {"status", "url"}, url);
  Set(mailbox, {"status", "phase"}, "Ready");
  Set(mailbox, {"status", "wantedCount"}, report.wanted);
  Set(mailbox, {"status", "objectCount"}, report.objects);
  SetUnlessEmpty(mailbox, "syncerVersion", report.syncer_version);
  SetUnlessEmpty(mailbox, "wecVersion", report.wec_version);
  SetCondition(mailbox,
               {"Ready", "True", "WorkspaceServing", "the mailbox workspace is being served"}, now);
  SetCondition(mailbox, Connected("SyncerConnected", report), now);
  SetCondition(mailbox, Synced(report), now);
  SetHeartbeat(report, mailbox != before, mailbox);
  return mailbox != before;
}

bool FillEntry(const Report& report, const std::string& url, const std::string& now, Json& entry) {
  const Json before = entry;
  if (StringAt(entry, {"kind"}) == "ManagedCluster") {
    if (report.heartbeat.empty()) return false;
    SetCondition(entry, {"ManagedClusterJoined", "True", "ManagedClusterJoined",
                         "the syncer has reported"}, now);
    Condition available = Connected("ManagedClusterConditionAvailable", report);
    // Of a cluster that is silent nobody knows whether it is there.
    if (!report.connected) available.status = "Unknown";
    SetCondition(entry, available, now);
    if (!report.wec_version.empty()) {
      Set(entry, {"status", "version", "kubernetes"}, report.wec_version);
    }
    return entry != before;
  }
  Json resources = Json::array();
  for (const Json& each : report.resources) {
    Json resource = each;
    resource["state"] = "Accepted";
    resources.push_back(std::move(resource));
  }
  Set(entry, {"status", "syncedResources"}, std::move(resources));
  Set(entry, {"status", "virtualWorkspaces"}, Json::array({{{"syncerURL", url}}}));
  // Whoever reports has shown its certificate. There is no importer of APIs to be ready.
  SetCondition(entry, {"SyncerAuthorized", "True", "Reported", "the syncer has reported"}, now);
  for (const char* type : {"HeartbeatHealthy", "SyncerReady", "Ready"}) {
    SetCondition(entry, HeartbeatOf(type, report), now);
  }
  SetHeartbeat(report, entry != before, entry);
  return entry != before;
}

}  // namespace mailroom::mailbox
