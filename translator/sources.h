// The workload objects of all WDSes: discovers what each WDS serves, keeps one informer per
// resource that may go to the edge, and feeds the plan. Also decides which resources' copies are
// watched in the mailboxes. A reconciler with exactly one worker, which owns all informers here;
// keys are listed below.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "apiserver/client/informer.h"
#include "translator/copies.h"
#include "translator/discover.h"
#include "translator/plan.h"

namespace mailroom::translator {

class Sources : public client::Reconciler {
 public:
  struct Wiring {
    std::vector<ResourceFacts> builtins;  // that may stand in a mailbox
    std::function<void(const Changes&)> changed;
    std::function<void(const client::WorkKey&)> again;  // into this reconciler's queue
    std::function<void()> complete;                     // the plan may have become complete
    std::function<bool()> listed;  // workspaces, inventory and placements are listed
  };
  Sources(client::Client hub, Plan& plan, Copies& copies, Wiring wiring);

  // The Workspace objects of root; to be set before the first Reconcile.
  void Begin(const client::Informer* workspaces) { workspaces_ = workspaces; }

  static client::WorkKey WdsKey(const std::string& wds) { return {wds, "discover"}; }
  static client::WorkKey CopiesKey() { return {"", "copies"}; }
  static client::WorkKey ListedKey() { return {"", "listed"}; }

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;
  // Ends all informers; no Reconcile may run any more.
  void Stop() { wdses_.clear(); }

 private:
  struct Feed {
    ResourceFacts facts;
    std::unique_ptr<client::Informer> informer;
    std::string logged;  // the last failure that was told
  };
  using Feeds = std::map<GroupResource, Feed>;

  static client::WorkKey SyncedKey(const std::string& wds) { return {wds, "synced"}; }
  Result<client::Requeue> ReconcileWds(const std::string& wds);
  Result<client::Requeue> ReconcileSynced(const std::string& wds);
  void DropAll(const std::string& wds);
  Result<client::Requeue> ReconcileListed();
  void WatchCopies();
  bool IsWds(const std::string& workspace) const;
  void Drop(const std::string& wds, const GroupResource& resource);
  Feed Open(const std::string& wds, const ResourceFacts& facts);
  // Every established definition is served; discovery may lag behind the object.
  static bool Current(const Feeds& feeds);

  const client::Client hub_;
  Plan& plan_;
  Copies& copies_;
  const Wiring wiring_;
  const client::Informer* workspaces_ = nullptr;
  std::map<std::string, Feeds> wdses_;  // the worker's
};

}  // namespace mailroom::translator
