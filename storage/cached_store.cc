#include "storage/cached_store.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <shared_mutex>
#include <thread>

#include "storage/cache_state.h"
#include "storage/decoder.h"
#include "storage/gather.h"
#include "storage/loader.h"
#include "storage/object/clock.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/parking.h"
#include "storage/object/process_memory.h"
#include "storage/rw_lock.h"
#include "storage/shared_probe.h"
#include "storage/trim_rule.h"

namespace mailroom::storage {
namespace {

std::int64_t Second() {
  using std::chrono::duration_cast;
  const auto now = Clock::Real().Monotonic().time_since_epoch();
  return duration_cast<std::chrono::seconds>(now).count();
}

// Of the entries from `first` on, only what the filter lets pass.
void Keep(const Filter& filter, std::size_t first, std::vector<Entry>& entries) {
  const auto from = entries.begin() + static_cast<std::ptrdiff_t>(first);
  entries.erase(std::remove_if(from, entries.end(),
                               [&](const Entry& entry) { return !filter(*entry.object); }),
                entries.end());
}

class River final : public CachedStore, private ChangeSink {
 public:
  River(Store& store, const Options& options)
      : store_(store),
        options_(options),
        probe_(store),
        guarded_(std::make_shared<GuardedState>(options.history_events, limits::kHistoryBytes)) {}
  ~River() override { Stop(); }

  Result<void> Start();

  ObjectPtr Get(const ResourceKey& key) const override;
  Result<CacheListResult> List(const CacheListOptions& options) const override;
  Result<CacheWatch> Watch(const CacheWatchOptions& options) override;
  Revision applied() const override { return Revision(applied_->load()); }
  Revision LastChange(const Workspace& workspace, const GroupResource& resource) const override;
  std::size_t Count(const Workspace& workspace) const override;
  Result<void> WaitFor(Revision revision, std::chrono::milliseconds timeout) const override;
  Result<void> Freshen() override;
  Result<TxnResult> Commit(Txn txn) override;
  void Retire(Revision before) override { retired_ = before.value(); }
  CacheStats Stats() const override;
  void Stop() override;
  Unreadable unreadable() const { return decoder_.unreadable(); }

 private:
  class Subscriber;

  // ChangeSink, on the engine's thread.
  void OnChanges(const ChangeBatch& batch) override;
  void OnEnd(const Status& why) override;
  bool WantsPreviousValues() const override { return false; }

  // Completes the selection with the state at `at`, or at present, in slices between which the
  // river flows; of each only what the filter lets pass is kept. `as_of` is the revision of what it
  // shows.
  Result<void> Gather(std::optional<Revision> at, const Filter& filter, Revision& as_of,
                      Selection& selection) const;
  void Apply(const std::vector<DecodedChange>& changes, Revision revision,
             std::optional<Revision> gap_from);
  Result<void> Follow();
  Result<void> CheckKeys();
  // Brings the state up to date by comparing it with the store, then follows from there. For
  // when the place of the watch is gone from the store's history.
  Result<void> Resync();
  void Supervise(std::stop_token stop);
  // Gives memory back that only old history holds.
  void ForgetOldEvents();
  void CloseSubscribers();

  Store& store_;
  const Options options_;
  Decoder decoder_;
  SharedProbe probe_;
  // Stored after everything up to it was offered to all subscribers.
  const std::shared_ptr<std::atomic<std::uint64_t>> applied_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);

  const std::shared_ptr<GuardedState> guarded_;

  mutable std::mutex wait_mutex_;
  mutable std::condition_variable advanced_;  // applied_ grew or stopped_
  mutable std::atomic<int> waiting_{0};

  std::mutex river_mutex_;
  std::condition_variable_any broke_;
  std::optional<Status> broken_;  // this and the next guarded by river_mutex_
  bool following_ = false;
  std::unique_ptr<WatchHandle> handle_;  // owned by the supervisor once it runs
  std::atomic<std::uint64_t> retired_{0};
  std::atomic<std::uint64_t> probed_{0};
  std::atomic<std::uint64_t> interruptions_{0};
  TrimRule trim_rule_;  // of the river's thread
  std::atomic<std::uint64_t> comparisons_{0};
  std::atomic<bool> stopped_{false};
  std::mutex stop_mutex_;
  std::jthread supervisor_;
};

// What a caller of Watch holds; it may outlive the cache.
class River::Subscriber final : public Watcher {
 public:
  Subscriber(SubscriptionPtr subscription, std::function<void()> leave)
      : subscription_(std::move(subscription)), leave_(std::move(leave)) {}
  ~Subscriber() override {
    subscription_->Detach();
    leave_();
  }
  void OnReady(std::function<void()> ready) override { subscription_->OnReady(std::move(ready)); }
  State Drain(std::vector<Item>& out, std::size_t max, Revision& up_to) override {
    return subscription_->Drain(out, max, up_to);
  }
  std::shared_ptr<const EventRun> DrainRun(std::size_t max_bytes) override {
    return subscription_->DrainRun(max_bytes);
  }
  bool overflowed() const override { return subscription_->overflowed(); }
  std::size_t pending() const override { return subscription_->pending(); }

 private:
  SubscriptionPtr subscription_;
  std::function<void()> leave_;
};

Result<void> River::Start() {
  const std::size_t replay = options_.probe
                                 ? std::min(options_.history_events, limits::kReplayEvents)
                                 : options_.history_events;
  Loaded loaded = TRY(LoadPast(store_, decoder_, replay));
  {
    std::unique_lock lock(guarded_->lock);
    for (DecodedChange& each : loaded.objects)
      guarded_->state.Load(each.key, std::move(each.object));
    guarded_->state.SetFloor(loaded.revision);
    guarded_->state.SetApplied(loaded.revision);
  }
  std::vector<DecodedChange>().swap(loaded.objects);
  applied_->store(loaded.revision.value());
  TRY(Follow());
  // An engine that replays too slowly is brought up to date by comparing instead.
  if (!WaitFor(loaded.current, limits::kFreshnessWait).ok()) {
    handle_.reset();
    TRY(Resync());
  }
  TRY(CheckKeys());
  supervisor_ = std::jthread([this](std::stop_token stop) { Supervise(stop); });
  return Ok();
}

// What cannot be opened and was never seen would be missing, which controllers take for deleted.
Result<void> River::CheckKeys() {
  const Unreadable unreadable = decoder_.unreadable();
  if (unreadable.sealed == 0) return Ok();
  return Internal("storage: " + std::to_string(unreadable.sealed) +
                  " stored values are sealed with keys that are not given "
                  "(--encryption-keys-file), as " + unreadable.key);
}

Result<void> River::Follow() {
  handle_ = TRY(store_.Watch(HubPrefix(), applied(), *this));
  std::lock_guard lock(river_mutex_);
  following_ = !broken_;
  return Ok();
}

ObjectPtr River::Get(const ResourceKey& key) const {
  std::shared_lock lock(guarded_->lock);
  return guarded_->state.Find(key);
}

Revision River::LastChange(const Workspace& workspace, const GroupResource& resource) const {
  std::shared_lock lock(guarded_->lock);
  return guarded_->state.LastChange(workspace, resource);
}

std::size_t River::Count(const Workspace& workspace) const {
  std::shared_lock lock(guarded_->lock);
  return guarded_->state.Count(workspace);
}

Result<void> River::Gather(std::optional<Revision> at, const Filter& filter, Revision& as_of,
                           Selection& selection) const {
  const std::string start = selection.reached;
  // Later slices undo what changed since the first. Should that be forgotten meanwhile, all is
  // taken at once.
  for (const std::size_t slice : {limits::kHeavyList, std::size_t{0}}) {
    std::optional<Revision> shown = at;
    Result<void> taken = Ok();
    while (taken.ok() && !selection.done) {
      const std::size_t before = selection.entries.size();
      {
        std::shared_lock lock(guarded_->lock);
        if (!shown) shown = guarded_->state.applied();
        taken = guarded_->state.Select(*shown, slice, selection);
      }
      // Somebody else's code: it runs without the lock.
      if (filter) Keep(filter, before, selection.entries);
    }
    if (taken.ok()) {
      as_of = *shown;
      return Ok();
    }
    if (at || taken.error().reason() != Reason::kExpired) return taken;
    selection = Selection{selection.scope, selection.limit, start, selection.labels};
  }
  return Expired("the state to be listed was forgotten");
}

Result<CacheListResult> River::List(const CacheListOptions& options) const {
  if (options.at && options.at->value() < retired_) {
    return Expired("revision " + options.at->ToString() + " was retired");
  }
  CacheListResult result;
  const LabelSelector* labels = options.labels.empty() ? nullptr : &options.labels;
  Filter filter = options.filter;
  if (labels != nullptr && labels->terms() > limits::kTermsUnderLock) {
    filter = [labels, &beside = options.filter](const Object& object) {
      return labels->Matches(object.meta().labels) && (!beside || beside(object));
    };
    labels = nullptr;
  }
  // With a filter, what lies beyond the limit is known when all candidates have been looked at.
  Selection selection{options.scope, filter ? 0 : options.limit, options.start_after, labels};
  TRY(Gather(options.at, filter, result.revision, selection));
  result.remaining = selection.rest;
  std::vector<Entry>& entries = selection.entries;
  bool more = result.remaining > 0;
  if (filter && options.limit != 0 && entries.size() > options.limit) {
    entries.resize(options.limit);
    more = true;
  }
  if (more) result.next = ListPosition(*entries.back().workspace, *entries.back().object);
  result.entries = std::move(entries);
  return result;
}

Result<CacheWatch> River::Watch(const CacheWatchOptions& options) {
  CacheWatch watch;
  auto subscription = std::make_shared<Subscription>(options.scope.ns, options.filter,
                                                     options_.watch_queue, options_.watch_lag,
                                                     applied_);
  std::vector<Watcher::Item> items;
  auto view = [&](const std::vector<EventPtr>& events) {
    for (const EventPtr& event : events) {
      if (auto type = subscription->View(*event)) items.push_back(Watcher::Item{*type, event});
    }
  };
  // Most of the work is done beside the river; what happened meanwhile is added under its lock.
  Revision reached;
  {
    std::vector<EventPtr> events;
    if (options.after) {
      std::shared_lock lock(guarded_->lock);
      reached = guarded_->state.applied();
      if (*options.after > reached) {
        return TooLargeResourceVersion(options.after->value(), reached.value());
      }
      events = TRY(guarded_->state.Events(options.scope, *options.after));
    } else {
      Selection selection{options.scope, 0, ""};
      TRY(Gather(std::nullopt, options.filter, reached, selection));
      watch.initial = std::move(selection.entries);
    }
    view(events);
  }
  {
    std::unique_lock lock(guarded_->lock);
    if (stopped_) return Unavailable("the cache is stopping");
    view(TRY(guarded_->state.Events(options.scope, reached)));
    watch.revision = options.after ? guarded_->state.applied() : reached;
    subscription->Preload(std::move(items));
    guarded_->state.Subscribe(options.scope, subscription);
  }
  watch.watcher = std::make_unique<Subscriber>(
      subscription, [guarded = guarded_, scope = options.scope, subscription] {
        std::unique_lock lock(guarded->lock);
        guarded->state.Unsubscribe(scope, subscription);
      });
  return watch;
}

void River::Apply(const std::vector<DecodedChange>& changes, Revision revision,
                  std::optional<Revision> gap_from) {
  std::vector<SubscriptionPtr> wake;
  {
    std::vector<Audience*> offered;
    const std::int64_t second = Second();
    std::unique_lock lock(guarded_->lock);
    CacheState& state = guarded_->state;
    if (revision < state.applied()) return;
    for (const DecodedChange& change : changes) state.Apply(change, second, offered);
    if (gap_from) state.AddGap(*gap_from, revision);
    state.SetApplied(revision);
    for (Audience* each : offered) each->Flush(wake);
    applied_->store(revision.value());
  }
  for (const SubscriptionPtr& subscription : wake) subscription->Wake();
  if (waiting_.load() > 0) {
    { std::lock_guard lock(wait_mutex_); }
    advanced_.notify_all();
  }
}

void River::OnChanges(const ChangeBatch& batch) {
  std::vector<DecodedChange> changes;
  changes.reserve(batch.changes.size());
  for (const Change& change : batch.changes) {
    if (std::optional<DecodedChange> decoded = decoder_.Decode(change.entry)) {
      changes.push_back(std::move(*decoded));
    }
  }
  Apply(changes, batch.revision, std::nullopt);
}

void River::OnEnd(const Status& why) {
  {
    std::lock_guard lock(river_mutex_);
    broken_ = why;
    following_ = false;
  }
  broke_.notify_all();
}

Result<void> River::Resync() {
  Difference difference = TRY(CompareWithStore(store_, decoder_, *guarded_));
  const Revision before = applied();
  if (difference.revision < before) {
    return Internal("storage: the store went back from revision " + before.ToString() + " to " +
                    difference.revision.ToString() + "; was it restored from a backup?");
  }
  ++comparisons_;
  Log(Level::kWarn, "watch bridged by comparing with the store",
      {{"from", before.ToString()},
       {"to", difference.revision.ToString()},
       {"changes", std::to_string(difference.changes.size())}});
  Apply(difference.changes, difference.revision, before);
  return Follow();
}

void River::Supervise(std::stop_token stop) {
  auto delay = limits::kReconnectFirst;
  std::unique_lock lock(river_mutex_);
  while (!stop.stop_requested()) {
    if (!broke_.wait_for(lock, stop, limits::kHistoryTrim,
                         [this] { return broken_.has_value(); })) {
      lock.unlock();
      ForgetOldEvents();
      lock.lock();
      continue;
    }
    Log(Level::kWarn, "watch of the store ended", {{"error", broken_->message()}});
    ++interruptions_;
    const bool expired = broken_->reason() == Reason::kExpired;
    broken_.reset();
    lock.unlock();
    handle_.reset();
    Result<void> again = expired ? Resync() : Follow();
    lock.lock();
    if (again.ok()) {
      delay = limits::kReconnectFirst;
      continue;
    }
    broken_ = again.error();
    broke_.wait_for(lock, stop, delay, [] { return false; });
    delay = std::min<std::chrono::milliseconds>(delay * 2, limits::kReconnectLast);
  }
}

void River::ForgetOldEvents() {
  std::size_t bytes = 0;
  {
    std::unique_lock lock(guarded_->lock);
    bytes = guarded_->state.ForgetEvents(Second() - limits::kHistoryAge.count());
  }
  const bool moved = GatherScattered(*guarded_, Second());
  if (trim_rule_.Due(bytes, std::chrono::seconds(Second())) || moved) ReturnFreed();
}

CacheStats River::Stats() const {
  CacheStats stats;
  {
    std::shared_lock lock(guarded_->lock);
    guarded_->state.Measure(stats);
  }
  stats.probed = std::max(Revision(probed_.load()), stats.applied);
  stats.interruptions = interruptions_.load();
  stats.comparisons = comparisons_.load();
  return stats;
}

Result<void> River::WaitFor(Revision revision, std::chrono::milliseconds timeout) const {
  if (applied() >= revision) return Ok();
  ++waiting_;
  bool reached = false;
  {
    const Blocking others_may_run;
    std::unique_lock lock(wait_mutex_);
    reached =
        advanced_.wait_for(lock, timeout, [&] { return applied() >= revision || stopped_.load(); });
  }
  --waiting_;
  if (reached && applied() >= revision) return Ok();
  if (stopped_) return Unavailable("the cache is stopping");
  return TooLargeResourceVersion(revision.value(), applied().value());
}

Result<void> River::Freshen() {
  if (options_.probe) {
    const Revision current = TRY(probe_.Ask());
    std::uint64_t probed = probed_.load();
    while (probed < current.value() && !probed_.compare_exchange_weak(probed, current.value())) {
    }
    const Revision before = applied();
    Result<void> arrived = WaitFor(current, limits::kFreshnessWait);
    // A river that stands still while the store moves on has lost something.
    if (!arrived.ok() && applied() == before && !stopped_) {
      OnEnd(Expired("nothing arrived although the store is at " + current.ToString()));
    }
    return arrived;
  }
  std::lock_guard lock(river_mutex_);
  if (!following_) return Unavailable("the store cannot be followed at present");
  return Ok();
}

Result<TxnResult> River::Commit(Txn txn) {
  TxnResult result = TRY(CommitAndWait(store_, std::move(txn)));
  // The write stands even if the river is late.
  if (result.committed) (void)WaitFor(result.revision, limits::kFreshnessWait).ok();
  return result;
}

void River::CloseSubscribers() {
  std::vector<SubscriptionPtr> wake;
  {
    std::shared_lock lock(guarded_->lock);
    for (const SubscriptionPtr& each : guarded_->state.AllSubscribers()) {
      if (each->Close()) wake.push_back(each);
    }
  }
  for (const SubscriptionPtr& each : wake) each->Wake();
}

void River::Stop() {
  std::lock_guard one(stop_mutex_);
  if (stopped_) return;
  {
    std::unique_lock lock(guarded_->lock);
    stopped_ = true;
  }
  if (supervisor_.joinable()) {
    supervisor_.request_stop();
    supervisor_.join();
  }
  handle_.reset();
  { std::lock_guard lock(wait_mutex_); }
  advanced_.notify_all();
  CloseSubscribers();
}

}  // namespace

Result<std::unique_ptr<CachedStore>> CachedStore::Start(Store& store, Options options) {
  auto river = std::make_unique<River>(store, options);
  TRY(river->Start());
  return std::unique_ptr<CachedStore>(std::move(river));
}

// Every cache is made by Start.
Unreadable UnreadableValues(const CachedStore& store) {
  return static_cast<const River&>(store).unreadable();
}

}  // namespace mailroom::storage
