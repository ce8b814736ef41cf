#include "mailbox/mailbox_reconciler.h"

#include <set>

#include "apiserver/client/discard.h"
#include "openapi/edge_names.h"
#include "storage/object/clock.h"
#include "storage/object/log.h"

namespace mailroom::mailbox {
namespace {

using client::Discard;

const client::Gvr kWorkspaces{std::string(openapi::kMailboxApi), "workspaces"};
constexpr auto kDropped = client::Client::Answer::kDropped;
const client::Gvr kMailboxes{std::string(openapi::kMailboxApi), "mailboxes"};

client::WorkKey KeyOf(const std::string& mailbox) {
  const auto parsed = openapi::ParseMailboxName(mailbox);
  return {parsed ? parsed->inventory : "", mailbox};
}

client::ObjectRef RefOf(const client::Gvr& gvr, const std::string& name,
                        std::string subresource = "") {
  return {.gvr = gvr, .ns = "", .name = name, .subresource = std::move(subresource)};
}

// An answer that says the wish is already fulfilled; the informer will show it.
Result<void> Tolerate(Reason fulfilled, Result<void> result) {
  if (!result.ok() && result.error().reason() == fulfilled) return Ok();
  return result;
}

}  // namespace

void MailboxReconciler::Begin(Caches caches) {
  caches_ = caches;
  ready_.count_down();
}

void MailboxReconciler::AddAll() const {
  std::set<std::string> names;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : entries_) names.insert(name);
  }
  for (const client::Informer* informer : {caches_.workspaces, caches_.mailboxes}) {
    for (const auto& [key, object] : informer->List()) names.insert(key.name);
  }
  for (const std::string& name : names) NoteNamed(name, *caches_.queue);
}

void MailboxReconciler::NoteEntry(EntryKind kind, const client::ObjectKey& key,
                                  const ObjectPtr& before, const ObjectPtr& now,
                                  client::WorkQueue& queue) {
  const auto name_of = [&key](const ObjectPtr& object) {
    return object == nullptr ? std::string()
                             : openapi::MailboxNameOf(key.workspace, object->meta().uid);
  };
  const std::string old_name = name_of(before);
  const std::string new_name = name_of(now);
  {
    std::lock_guard lock(mutex_);
    if (!old_name.empty() && old_name != new_name) entries_.erase(old_name);
    if (!new_name.empty()) entries_.insert_or_assign(new_name, Entry{kind, key});
    if (thinned_.Now(entries_.size())) PutTogether(entries_);
  }
  if (!old_name.empty() && old_name != new_name) queue.Add(KeyOf(old_name));
  if (!new_name.empty()) queue.Add(KeyOf(new_name));
}

void MailboxReconciler::NoteNamed(const std::string& name, client::WorkQueue& queue) {
  if (openapi::ParseMailboxName(name)) queue.Add(KeyOf(name));
}

void MailboxReconciler::NoteWorkspace(const std::string& name, client::WorkQueue& queue) const {
  const std::string first = name + std::string(openapi::kMailboxInfix);
  std::lock_guard lock(mutex_);
  for (auto at = entries_.lower_bound(first);
       at != entries_.end() && at->first.starts_with(first); ++at) {
    if (at->second.key.workspace == name) queue.Add(KeyOf(at->first));
  }
}

bool MailboxReconciler::Synced() const {
  return caches_.sync_targets->synced() && caches_.managed_clusters->synced() &&
         caches_.workspaces->synced() && caches_.mailboxes->synced() &&
         caches_.configs->synced();
}

bool MailboxReconciler::IsInventory(const std::string& workspace) const {
  const ObjectPtr object = caches_.workspaces->Get({.workspace = "", .ns = "", .name = workspace});
  return object != nullptr && object->ScalarAt("spec.type") == "inventory";
}

ObjectPtr MailboxReconciler::FindEntry(const std::string& mailbox) const {
  Entry entry;
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(mailbox);
    if (found == entries_.end()) return nullptr;
    entry = found->second;
  }
  const bool sync_target = entry.kind == EntryKind::kSyncTarget;
  ObjectPtr object =
      (sync_target ? caches_.sync_targets : caches_.managed_clusters)->Get(entry.key);
  // The cache may already hold a successor of the same name.
  if (object == nullptr || !IsInventory(entry.key.workspace)) return nullptr;
  const bool same = openapi::MailboxNameOf(entry.key.workspace, object->meta().uid) == mailbox;
  return same ? object : nullptr;
}

Result<client::Requeue> MailboxReconciler::Reconcile(const client::WorkKey& key) {
  ready_.wait();
  // Absence means something only once everything has been listed; then every key comes again.
  if (!Synced()) return client::Requeue{};
  if (key == SyncedKey()) {
    AddAll();
    return client::Requeue{};
  }
  const client::ObjectKey root_key{.workspace = "", .ns = "", .name = key.id};
  const Seen seen{.name = key.id,
                  .entry = FindEntry(key.id),
                  .workspace = caches_.workspaces->Get(root_key),
                  .mailbox = caches_.mailboxes->Get(root_key),
                  .config = caches_.configs->Get(
                      {.workspace = key.id,
                       .ns = "",
                       .name = std::string(openapi::kSyncerConfigName)})};
  const Step step = NextStep(seen, FormatTime(Clock::Real().Now()));
  TRY(Take(step, key.id));
  return client::Requeue{step.after};
}

client::ObjectRef MailboxReconciler::EntryRef(const std::string& mailbox,
                                              std::string subresource) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(mailbox);
  if (found == entries_.end()) return {};
  const bool sync_target = found->second.kind == EntryKind::kSyncTarget;
  const client::Gvr gvr =
      sync_target ? client::Gvr{std::string(openapi::kEdgeApi), "synctargets"}
                  : client::Gvr{std::string(openapi::kManagedClusterApi), "managedclusters"};
  return RefOf(gvr, found->second.key.name, std::move(subresource));
}

Result<void> MailboxReconciler::Take(const Step& step, const std::string& name) const {
  switch (step.kind) {
    case Step::Kind::kNothing:
      return Ok();
    case Step::Kind::kCreateWorkspace:
      Log(Level::kDebug, "creating mailbox workspace", {{"mailbox", name}});
      return Tolerate(Reason::kAlreadyExists, Discard(root_.Create(kWorkspaces, "", step.body, kDropped)));
    case Step::Kind::kCreateMailbox:
      return Tolerate(Reason::kAlreadyExists, Discard(root_.Create(kMailboxes, "", step.body, kDropped)));
    case Step::Kind::kUpdateMailbox:
      return Discard(root_.Update(RefOf(kMailboxes, name), step.body, kDropped));
    case Step::Kind::kUpdateMailboxStatus:
      return Discard(root_.Update(RefOf(kMailboxes, name, "status"), step.body, kDropped));
    case Step::Kind::kUpdateEntry:
    case Step::Kind::kUpdateEntryStatus: {
      const bool status = step.kind == Step::Kind::kUpdateEntryStatus;
      const client::ObjectRef entry = EntryRef(name, status ? "status" : "");
      const auto parsed = openapi::ParseMailboxName(name);
      if (entry.name.empty() || !parsed) return Ok();
      return Tolerate(Reason::kNotFound,
                      Discard(root_.InWorkspace(parsed->inventory).Update(entry, step.body, kDropped)));
    }
    case Step::Kind::kDeleteMailbox:
      return Tolerate(Reason::kNotFound,
                      root_.Delete(RefOf(kMailboxes, name),
                                   {.uid = step.uid, .resource_version = "", .propagation = ""}));
    case Step::Kind::kDeleteWorkspace:
      Log(Level::kDebug, "deleting mailbox workspace", {{"mailbox", name}});
      return Tolerate(Reason::kNotFound,
                      root_.Delete(RefOf(kWorkspaces, name),
                                   {.uid = step.uid, .resource_version = "", .propagation = ""}));
  }
  return Ok();
}

}  // namespace mailroom::mailbox
