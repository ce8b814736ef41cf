#include "mailbox/mailbox_step.h"

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"

namespace mailroom::mailbox {
namespace {

using openapi::kSyncTargetNameAnnotation;

bool Live(const ObjectPtr& object) {
  return object != nullptr && object->meta().deletion_timestamp.empty();
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

// Conditions of other writers are kept.
bool MarkReady(const Seen& seen, const std::string& now, Json& mailbox) {
  const Json before = mailbox;
  Set(mailbox, {"status", "url"}, "/clusters/" + seen.name);
  Set(mailbox, {"status", "phase"}, "Ready");
  Json* conditions = Find(mailbox, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) {
    conditions = &Set(mailbox, {"status", "conditions"}, Json::array());
  }
  Json* ready = nullptr;
  for (Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == "Ready") ready = &condition;
  }
  if (ready == nullptr) ready = &conditions->emplace_back(Json{{"type", "Ready"}});
  if (StringAt(*ready, {"status"}) != "True") {
    *ready = {{"type", "Ready"},
              {"status", "True"},
              {"reason", "WorkspaceServing"},
              {"message", "the mailbox workspace is being served"},
              {"lastTransitionTime", now}};
  }
  return mailbox != before;
}

Step Keep(const Seen& seen, const std::string& now) {
  if (seen.workspace == nullptr) return {Step::Kind::kCreateWorkspace, NewWorkspace(seen), ""};
  // One that is going away is made again once it is gone.
  if (!Live(seen.workspace)) return {};
  if (seen.mailbox == nullptr) return {Step::Kind::kCreateMailbox, NewMailbox(seen), ""};
  if (!Live(seen.mailbox)) return {};
  Json mailbox = seen.mailbox->ToJson();
  if (Mirror(seen, mailbox)) return {Step::Kind::kUpdateMailbox, std::move(mailbox), ""};
  if (MarkReady(seen, now, mailbox)) {
    return {Step::Kind::kUpdateMailboxStatus, std::move(mailbox), ""};
  }
  return {};
}

// Only what this controller made: a workspace that somebody typed with such a name stays.
bool IsOurs(const Object& workspace) {
  if (workspace.ScalarAt("spec.type") != "mailbox") return false;
  const Json tree = workspace.ToJson();
  return Find(tree, {"metadata", "annotations", kSyncTargetNameAnnotation}) != nullptr;
}

Step Release(const Seen& seen) {
  if (Live(seen.mailbox)) {
    return {Step::Kind::kDeleteMailbox, Json(), std::string(seen.mailbox->meta().uid)};
  }
  if (Live(seen.workspace) && IsOurs(*seen.workspace)) {
    return {Step::Kind::kDeleteWorkspace, Json(), std::string(seen.workspace->meta().uid)};
  }
  return {};
}

}  // namespace

Step NextStep(const Seen& seen, const std::string& now) {
  return Live(seen.entry) ? Keep(seen, now) : Release(seen);
}

}  // namespace mailroom::mailbox
