// Writes status.instances and status.availableInstances of every Location, in all inventory
// workspaces. Note* are called from informer handlers, Reconcile from a controller's worker.
#pragma once

#include <latch>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "apiserver/client/informer.h"
#include "mailbox/location_counts.h"

namespace mailroom::mailbox {

class LocationReconciler : public client::Reconciler {
 public:
  struct Caches {
    const client::Informer* sync_targets;  // over all workspaces
    const client::Informer* locations;     // over all workspaces
    client::WorkQueue* queue;              // of this reconciler
  };
  explicit LocationReconciler(client::Client root_client) : root_(std::move(root_client)) {}

  // Reconcile waits until the caches are given.
  void Begin(Caches caches);
  // To be added whenever one of the caches has been listed.
  static client::WorkKey SyncedKey() { return {"", "synced"}; }
  void NoteTarget(const client::ObjectKey& key, const ObjectPtr& now, client::WorkQueue& queue);
  void NoteLocation(const client::ObjectKey& key, const ObjectPtr& now, client::WorkQueue& queue);

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  const client::Client root_;
  LocationCounts counts_;
  std::latch ready_{1};
  Caches caches_{};  // set before ready_ opens, then constant
};

}  // namespace mailroom::mailbox
