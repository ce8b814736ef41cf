// The river and what it feeds: every object of the hub in memory, applied by one thread in
// revision order from a single watch over the whole key prefix, so all resources are always at
// one revision. Reads are answered here without touching the engine; watches start here without
// a gap or a duplicate and resume from a bounded history. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/event.h"
#include "storage/object/limits.h"
#include "storage/object/selector.h"
#include "storage/store.h"

namespace mailroom::storage {

// What a list or watch covers. An empty workspace means all workspaces; an empty resource all
// resources (then lists are grouped by resource in no order, and not paged); an empty ns all
// namespaces.
struct Scope {
  Workspace workspace = {};
  GroupResource resource = {};
  std::string ns = {};

  bool every_resource() const { return resource.resource.empty(); }
};

using Filter = std::function<bool(const Object&)>;  // empty: everything

struct Entry {
  std::shared_ptr<const Workspace> workspace = {};  // shared by all entries of the workspace
  ObjectPtr object = {};
  const GroupResource* resource = nullptr;  // lives as long as `workspace` is held
};

struct CacheListOptions {
  Scope scope = {};
  LabelSelector labels = {};  // what does not match costs a look and nothing else
  Filter filter = {};
  // Key after which to start, in the order (workspace, namespace, name); from `next` below.
  std::string start_after = {};
  std::size_t limit = 0;  // 0: all; counts matching objects
  std::optional<Revision> at =
      {};  // exactly this revision; Expired when retired, or history no longer reaches it
};

struct CacheListResult {
  std::vector<Entry> entries = {};
  Revision revision = {};     // the state the list reflects
  std::string next = {};      // start_after of the next page, "" when complete
  std::size_t remaining = 0;  // objects after the last one returned (without a filter only)
};

class EventRun;

// One subscriber. Filled by the river up to a bound; ended (kOverflow) past it.
class Watcher {
 public:
  struct Item {
    EventType type;  // as this watcher sees it, by its filter on the new and previous object
    EventPtr event;
  };
  enum class State { kOpen, kOverflow, kClosed };  // kClosed: the cache restarted or stopped

  virtual ~Watcher() = default;
  // Set once, before the first Drain. Invoked from the river after the queue went from empty to
  // not empty, when more bytes wait than Options::watch_lag, and when the state changes. Must not
  // block.
  virtual void OnReady(std::function<void()> ready) = 0;
  // Moves at most `max` queued items to `out`. When the queue is empty afterwards, `up_to` is
  // the revision through which this watcher has now seen everything (for bookmarks); otherwise
  // it is left alone.
  virtual State Drain(std::vector<Item>& out, std::size_t max, Revision& up_to) = 0;
  // Takes what is queued first if it came together, is shared, and keeps at most `max_bytes` in
  // memory; otherwise null, and Drain tells what there is.
  virtual std::shared_ptr<const EventRun> DrainRun(std::size_t max_bytes) {
    (void)max_bytes;
    return nullptr;
  }
  // Whether the queue has overflowed, though items may be left in it. Never blocks for long.
  virtual bool overflowed() const = 0;
  // Bytes of what is queued, without what a resumed watch began with.
  virtual std::size_t pending() const = 0;
};

struct CacheWatchOptions {
  Scope scope = {};
  Filter filter = {};
  // Events after this revision; Expired when history no longer reaches it. Absent: the current
  // state is returned as `initial` and events follow from there.
  std::optional<Revision> after = {};
};

struct CacheWatch {
  std::vector<Entry> initial = {};  // matching objects, in key order; only when `after` was absent
  Revision revision = {};           // of `initial`, or the revision reached by the replay
  std::unique_ptr<Watcher> watcher = {};
};

struct CacheStats {
  std::size_t objects = 0;
  std::size_t workspaces = 0;   // with objects in them
  std::size_t collections = 0;  // a resource in a workspace
  std::size_t watchers = 0;
  std::size_t history_events = 0;
  Revision applied = {};
  Revision probed = {};             // last known of the engine; ahead of `applied` by the lag
  std::uint64_t interruptions = 0;  // of the engine's watch
  std::uint64_t comparisons = 0;    // after history was lost
};

class CachedStore {
 public:
  struct Options {
    std::size_t history_events;  // limits::kHistoryEvents
    std::size_t watch_queue;     // limits::kWatchQueueEvents
    std::size_t watch_lag = limits::kStreamPendingBytes;  // see Watcher::OnReady
    // Asks the engine for its revision before a consistent read; false when the engine feeds the
    // river before acknowledging (embedded).
    bool probe = true;
  };

  // Loads by range, then follows the watch. Fails when the engine cannot be read.
  static Result<std::unique_ptr<CachedStore>> Start(Store& store, Options options);
  virtual ~CachedStore() = default;

  // The newest applied state, or nullptr.
  virtual ObjectPtr Get(const ResourceKey& key) const = 0;
  virtual Result<CacheListResult> List(const CacheListOptions& options) const = 0;
  virtual Result<CacheWatch> Watch(const CacheWatchOptions& options) = 0;

  // The revision everything in the cache is at.
  virtual Revision applied() const = 0;
  // Revision of the last change to any object of that resource in that workspace (0: none yet
  // seen). Lets derived snapshots (catalogues, RBAC) be rebuilt only when needed.
  virtual Revision LastChange(const Workspace& workspace, const GroupResource& resource) const = 0;
  // Number of objects in a workspace.
  virtual std::size_t Count(const Workspace& workspace) const = 0;
  // Waits until the river has passed `revision`; TooLargeResourceVersion after `timeout`.
  virtual Result<void> WaitFor(Revision revision, std::chrono::milliseconds timeout) const = 0;
  // After this returns, reads reflect every write acknowledged before the call. Concurrent
  // callers share one probe of the engine.
  virtual Result<void> Freshen() = 0;
  // Commits and waits until the river has applied the result, so that the writer reads its own
  // write.
  virtual Result<TxnResult> Commit(Txn txn) = 0;
  // From now on lists of exactly a revision before this are Expired, even where nothing changed
  // since: a page must not be of any age. Watches keep their place.
  virtual void Retire(Revision before) = 0;
  virtual CacheStats Stats() const = 0;
  // Ends all watchers and stops following. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace mailroom::storage
