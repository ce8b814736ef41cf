// The reconciler keyed by mailbox: its SyncerConfig `the-one`, the syncer's instructions, is kept
// equal to what the plan wants there. Never deleted; its status belongs to the syncer.
#pragma once

#include <vector>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "apiserver/client/informer.h"
#include "translator/parked.h"
#include "translator/plan.h"

namespace mailroom::translator {

// The spec, sorted and compact: objects of one resource share an entry, objects of one namespace
// a list of names. `items` sorted by id.
Json RenderSyncerConfigSpec(const std::vector<ConfigItem>& items);

class SyncerConfig : public client::Reconciler {
 public:
  SyncerConfig(client::Client hub, const Plan& plan) : hub_(std::move(hub)), plan_(plan) {}
  // The informer over all SyncerConfigs; to be set before the first Reconcile.
  void Begin(const client::Informer* configs) { configs_ = configs; }

  // Keys that wait for a complete plan.
  Parked& parked() { return parked_; }

  // The lane is the mailbox.
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  const client::Client hub_;
  const Plan& plan_;
  const client::Informer* configs_ = nullptr;
  Parked parked_;
};

}  // namespace mailroom::translator
