#include "mailbox/mailbox_step.h"

#include <algorithm>

#include "mailbox/mailbox_status.h"
#include "openapi/drain_names.h"
#include "openapi/edge_names.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::mailbox {
namespace {

using openapi::kDeletionPolicyAnnotation;
using openapi::kDrainFinalizer;
using openapi::kDrainPolicy;
using openapi::kSyncTargetNameAnnotation;

Step Write(Step::Kind kind, Json body) { return {.kind = kind, .body = std::move(body), .uid = ""}; }

Step Remove(Step::Kind kind, const Object& object) {
  return {.kind = kind, .body = Json(), .uid = std::string(object.meta().uid)};
}

Step Wait(std::chrono::milliseconds time) {
  return {.kind = Step::Kind::kNothing, .body = Json(), .uid = "", .after = time};
}

bool Live(const ObjectPtr& object) {
  return object != nullptr && object->meta().deletion_timestamp.empty();
}

bool HasDrain(const Json& entry) {
  const std::vector<std::string> all = StringsAt(entry, {"metadata", "finalizers"});
  return std::find(all.begin(), all.end(), kDrainFinalizer) != all.end();
}

Json LabelsOf(const Object& object) {
  Json labels = Json::object();
  for (const auto& [key, value] : object.meta().labels) {
    labels[std::string(key)] = std::string(value);
  }
  return labels;
}

Json SpecOf(const Seen& seen) {
  const auto parsed = openapi::ParseMailboxName(seen.name);
  return {{"inventory", parsed->inventory},
          {"syncTargetName", std::string(seen.entry->meta().name)},
          {"syncTargetUID", std::string(seen.entry->meta().uid)},
          {"workspace", seen.name}};
}

Json NewWorkspace(const Seen& seen) {
  return {{"apiVersion", openapi::kMailboxApi},
          {"kind", "Workspace"},
          {"metadata",
           {{"name", seen.name},
            {"annotations",
             {{std::string(kSyncTargetNameAnnotation), std::string(seen.entry->meta().name)}}}}},
          {"spec", {{"type", "mailbox"}}}};
}

Json NewMailbox(const Seen& seen) {
  return {{"apiVersion", openapi::kMailboxApi},
          {"kind", "Mailbox"},
          {"metadata",
           {{"name", seen.name},
            {"labels", LabelsOf(*seen.entry)},
            {"annotations",
             {{std::string(kSyncTargetNameAnnotation), std::string(seen.entry->meta().name)}}}}},
          {"spec", SpecOf(seen)}};
}

// The labels are exactly the entry's, so that selecting mailboxes is selecting inventory.
bool Mirror(const Seen& seen, Json& mailbox) {
  const Json before = mailbox;
  const Json labels = LabelsOf(*seen.entry);
  if (LabelsOf(*seen.mailbox) != labels) Set(mailbox, {"metadata", "labels"}, labels);
  Set(mailbox, {"metadata", "annotations", kSyncTargetNameAnnotation},
      std::string(seen.entry->meta().name));
  const Json spec = SpecOf(seen);
  for (const auto& [field, value] : spec.items()) Set(mailbox, {"spec", field}, value);
  return mailbox != before;
}

// The finalizer is there exactly when the policy says drain.
bool HoldEntry(Json& entry) {
  const bool drains = StringAt(entry, {"metadata", "annotations", kDeletionPolicyAnnotation}) ==
                      kDrainPolicy;
  if (drains == HasDrain(entry)) return false;
  Json kept = Json::array();
  for (std::string& each : StringsAt(entry, {"metadata", "finalizers"})) {
    if (each != kDrainFinalizer) kept.push_back(std::move(each));
  }
  if (drains) kept.push_back(kDrainFinalizer);
  Set(entry, {"metadata", "finalizers"}, std::move(kept));
  return true;
}

Step Keep(const Seen& seen, const std::string& now) {
  if (seen.workspace == nullptr) return Write(Step::Kind::kCreateWorkspace, NewWorkspace(seen));
  // One that is going away is made again once it is gone.
  if (!Live(seen.workspace)) return {};
  const Report report = ReadReport(seen.config.get(), now);
  const std::string url = seen.workspace->ScalarAt("status.url");
  if (seen.mailbox == nullptr) {
    Json fresh = NewMailbox(seen);
    FillMailbox(report, url, now, fresh);
    return Write(Step::Kind::kCreateMailbox, std::move(fresh));
  }
  if (!Live(seen.mailbox)) return {};
  Json mailbox = seen.mailbox->ToJson();
  if (Mirror(seen, mailbox)) return Write(Step::Kind::kUpdateMailbox, std::move(mailbox));
  if (FillMailbox(report, url, now, mailbox)) {
    return Write(Step::Kind::kUpdateMailboxStatus, std::move(mailbox));
  }
  Json entry = seen.entry->ToJson();
  if (HoldEntry(entry)) return Write(Step::Kind::kUpdateEntry, std::move(entry));
  // An entry that never had a syncer is left as its author wrote it.
  if (!report.heartbeat.empty() && FillEntry(report, url, now, entry)) {
    return Write(Step::Kind::kUpdateEntryStatus, std::move(entry));
  }
  return Wait(report.fresh_for);
}

// A deleted entry whose policy is drain stays, and its mailbox with it, until the syncer has
// nothing left in the cluster, or has had its time.
Step Drain(const Seen& seen, const std::string& now) {
  const std::int64_t since = ParseTime(seen.entry->meta().deletion_timestamp);
  const std::int64_t waited = ParseTime(now) - since;
  const Report report = ReadReport(seen.config.get(), now);
  const bool over = waited >= limits::kDrainPatience.count();
  // Without a mailbox nothing can be told to the syncer any more.
  if (!over && !report.idle && Live(seen.workspace)) {
    return Wait(limits::kDrainPatience - std::chrono::seconds(std::max<std::int64_t>(waited, 0)));
  }
  Json entry = seen.entry->ToJson();
  Json kept = Json::array();
  for (std::string& each : StringsAt(entry, {"metadata", "finalizers"})) {
    if (each != kDrainFinalizer) kept.push_back(std::move(each));
  }
  Set(entry, {"metadata", "finalizers"}, std::move(kept));
  return Write(Step::Kind::kUpdateEntry, std::move(entry));
}

// Only what this controller made: a workspace that somebody typed with such a name stays.
bool IsOurs(const Object& workspace) {
  if (workspace.ScalarAt("spec.type") != "mailbox") return false;
  const Json tree = workspace.ToJson();
  return Find(tree, {"metadata", "annotations", kSyncTargetNameAnnotation}) != nullptr;
}

Step Release(const Seen& seen) {
  if (Live(seen.mailbox)) {
    return Remove(Step::Kind::kDeleteMailbox, *seen.mailbox);
  }
  if (Live(seen.workspace) && IsOurs(*seen.workspace)) {
    return Remove(Step::Kind::kDeleteWorkspace, *seen.workspace);
  }
  return {};
}

}  // namespace

Step NextStep(const Seen& seen, const std::string& now) {
  if (Live(seen.entry)) return Keep(seen, now);
  const bool held = seen.entry != nullptr && seen.entry->meta().has_finalizers &&
                    HasDrain(seen.entry->ToJson());
  return held ? Drain(seen, now) : Release(seen);
}

}  // namespace mailroom::mailbox
