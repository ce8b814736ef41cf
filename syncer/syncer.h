// The syncer for one incarnation of one mailbox: wires informers of both sides to one queue and
// dispatches its keys. Runs from construction to destruction.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "apiserver/client/informer.h"
#include "syncer/downsync.h"
#include "syncer/memory.h"
#include "syncer/parts.h"

namespace mailroom::syncer {

class Syncer : public client::Reconciler {
 public:
  struct Options {
    client::Client mailbox;
    client::Client wec;
    Identity identity;
    std::string state_dir;  // "" keeps no record
    // The mailbox is another incarnation now; this syncer must be replaced. Called on the
    // mailbox's loop thread; must not block.
    std::function<void()> on_replaced;
  };
  explicit Syncer(Options options);
  ~Syncer() override;

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  // What the report says beside errors. Called by one worker at a time.
  Json Summary();
  Result<client::Requeue> ReadConfigs();
  Result<client::Requeue> ReconcileResource(const GroupResource& resource);
  Result<client::Requeue> CrdChanged(const std::string& name);
  Result<client::Requeue> Sweep();
  Result<client::Requeue> ReconcileObject(const Place& place);

  client::WorkQueue& queue() const { return controller_->queue(); }
  // True when the side serves it and its informer runs.
  Result<bool> Serve(Side& side, const GroupResource& resource, const std::string& api_version);
  // The version in use, "" when the resource is of no interest.
  std::string VersionOf(const GroupResource& resource) const;
  Result<void> StopResource(const GroupResource& resource);
  Status Missing(const GroupResource& resource, std::string message);
  // Asks for ReconcileResource, which in turn asks for every object of the resource.
  void Look(const GroupResource& resource);
  void EnqueueAll(const GroupResource& resource);
  void EnqueueResources();
  std::unique_ptr<client::Informer> WatchCrds(const client::Client& client);
  std::unique_ptr<client::Informer> WatchIdentity();

  // True when the resource has been without a wish and without an object for a while. The pause
  // lets an object that was applied a moment ago show up in the WEC's watch.
  bool Idle(const GroupResource& resource, bool unused);

  const Options options_;
  Memory memory_;
  std::unique_ptr<client::Controller> controller_;
  Parts parts_;
  Downsync downsync_;
  std::string wec_version_;  // of the worker that reports
  std::atomic<std::int64_t> observed_{0};  // the generation of `the-one` that is in force
  std::mutex idle_mutex_;
  std::map<GroupResource, std::chrono::steady_clock::time_point> idle_;  // guarded by idle_mutex_
  std::unique_ptr<client::Informer> configs_;
  std::unique_ptr<client::Informer> mailbox_crds_;
  std::unique_ptr<client::Informer> wec_crds_;
  std::unique_ptr<client::Informer> identity_;
};

}  // namespace mailroom::syncer
