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
// The objects that such a spec lists; wildcards and other scopes are not read.
std::vector<ConfigItem> ParseSyncerConfigSpec(const Json& spec);
// Both lists, sorted; `first` decides the version of an object in both.
std::vector<ConfigItem> Union(const std::vector<ConfigItem>& first,
                              const std::vector<ConfigItem>& second);

class SyncerConfig : public client::Reconciler {
 public:
  SyncerConfig(client::Client hub, const Plan& plan) : hub_(std::move(hub)), plan_(plan) {}
  // The informer over all SyncerConfigs; to be set before the first Reconcile.
  void Begin(const client::Informer* configs) { configs_ = configs; }

  // Keys that wait for a complete plan. Until then objects are only added to a config: dropping
  // one that is merely not listed yet would make the syncer let go of it.
  Parked& parked() { return parked_; }

  // The lane is the mailbox.
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  Result<void> Write(const std::string& mailbox, bool complete) const;

  const client::Client hub_;
  const Plan& plan_;
  const client::Informer* configs_ = nullptr;
  Parked parked_;
};

}  // namespace mailroom::translator
