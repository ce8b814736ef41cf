// One mailbox workspace and one Mailbox object per inventory entry (SyncTarget or
// ManagedCluster), created with it and deleted with it. Keyed by mailbox name; reads informers
// only. Note* are called from informer handlers, Reconcile from controller workers.
#pragma once

#include <latch>
#include <map>
#include <mutex>
#include <string>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "apiserver/client/informer.h"
#include "mailbox/mailbox_step.h"
#include "storage/object/thinned.h"

namespace mailroom::mailbox {

class MailboxReconciler : public client::Reconciler {
 public:
  enum class EntryKind { kSyncTarget, kManagedCluster };
  struct Caches {
    const client::Informer* sync_targets;      // over all workspaces
    const client::Informer* managed_clusters;  // over all workspaces
    const client::Informer* workspaces;        // of root
    const client::Informer* mailboxes;         // of root
    const client::Informer* configs;           // over all workspaces
    client::WorkQueue* queue;                  // of this reconciler
  };

  explicit MailboxReconciler(client::Client root_client) : root_(std::move(root_client)) {}

  // To be added whenever one of the caches has been listed.
  static client::WorkKey SyncedKey() { return {"", "synced"}; }

  // Reconcile waits until the caches are given.
  void Begin(Caches caches);
  // An inventory entry changed; remembers which entry a mailbox name stands for.
  void NoteEntry(EntryKind kind, const client::ObjectKey& key, const ObjectPtr& before,
                 const ObjectPtr& now, client::WorkQueue& queue);
  // A Workspace or Mailbox of root changed.
  static void NoteNamed(const std::string& name, client::WorkQueue& queue);
  // A Workspace came or went; its entries count while it is an inventory.
  void NoteWorkspace(const std::string& name, client::WorkQueue& queue) const;

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  struct Entry {
    EntryKind kind;
    client::ObjectKey key;
  };
  bool Synced() const;
  void AddAll() const;
  bool IsInventory(const std::string& workspace) const;
  // Null for what is no entry of an inventory, whatever it is called.
  ObjectPtr FindEntry(const std::string& mailbox) const;
  // Of the inventory entry of a mailbox; its name is "" when not known.
  client::ObjectRef EntryRef(const std::string& mailbox, std::string subresource) const;
  Result<void> Take(const Step& step, const std::string& name) const;

  const client::Client root_;
  std::latch ready_{1};
  Caches caches_{};  // set before ready_ opens, then constant

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by mailbox name; this and the next guarded by mutex_
  Thinned thinned_;
};

}  // namespace mailroom::mailbox
