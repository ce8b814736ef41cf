// List + watch of one resource into a local cache, with notifications by key. Works against any
// Kubernetes API server (1.20 and later): LIST in pages, then WATCH with bookmarks; resumes from
// its last revision after a broken connection, lists again on 410, reconnects with jittered
// back-off. Runs on the transport's loop thread; holds no thread of its own.
//
// Guarantees: handlers see, per object, a subsequence of its true states in order, and every
// object's last state. After a relist, objects that vanished meanwhile are notified as deleted.
// Absent guarantees: no order across objects.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/client/client.h"
#include "storage/object/object.h"

namespace mailroom::client {

// Identity within an informer. `workspace` is set only by informers over all workspaces, which
// take it from annotation mailbox.kubestellar.io/workspace (and remove that annotation from the
// cached object).
struct ObjectKey {
  std::string workspace;
  std::string ns;
  std::string name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

class Informer {
 public:
  struct Options {
    Client client;  // base path decides the workspace; `/clusters/*` for all
    Gvr gvr;
    ListQuery query;
    // Ask for PartialObjectMetadata; a server that cannot still answers with whole objects.
    bool metadata_only = false;
    // Ask for the first state as a stream instead of a list (WatchList): no page is ever whole in
    // memory on either side. A server that does not know it is listed as usual.
    bool watch_list = false;
    // Called once, on the loop thread, when the first complete list has been notified.
    std::function<void()> on_synced = {};
  };
  // `before` is null for a new object, `now` is null for a deleted one. Called on the loop
  // thread; must not block.
  using Handler =
      std::function<void(const ObjectKey&, const ObjectPtr& before, const ObjectPtr& now)>;

  virtual ~Informer() = default;  // stops; no handler runs afterwards
  static std::unique_ptr<Informer> Start(Options options, Handler handler);

  // The first complete list has been cached and notified.
  virtual bool synced() const = 0;
  // Blocks until synced; false on timeout.
  virtual bool WaitSynced(std::chrono::milliseconds timeout) const = 0;
  virtual ObjectPtr Get(const ObjectKey& key) const = 0;
  virtual std::vector<std::pair<ObjectKey, ObjectPtr>> List() const = 0;
  virtual std::size_t size() const = 0;
  // The last failure of list or watch, "" while healthy; for conditions and logs.
  virtual std::string last_error() const = 0;
};

}  // namespace mailroom::client
