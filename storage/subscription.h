// The river's side of one Watcher: scope, filter, and a bounded queue between the thread that
// applies changes and whoever drains. Offer, Flush and Queue are called by the river with the
// cache locked; Wake after the cache was unlocked; Drain and Detach by the subscriber. The only
// lock order is cache, then subscription.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "storage/cached_store.h"
#include "storage/event_run.h"

namespace mailroom::storage {

class Subscription {
 public:
  // The revision that the cache is at; stored after all events up to it were offered.
  using Applied = std::shared_ptr<const std::atomic<std::uint64_t>>;

  // `bound` is the most events that may be queued; more than `lag` bytes are worth a word.
  Subscription(std::string ns, Filter filter, std::size_t bound, std::size_t lag, Applied applied)
      : ns_(std::move(ns)),
        filter_(std::move(filter)),
        applied_(std::move(applied)),
        bound_(bound),
        lag_(lag) {}

  // False for one that sees every event of its namespace as it is.
  bool choosy() const { return static_cast<bool>(filter_); }
  const std::string& ns() const { return ns_; }
  // How a watcher with this filter sees the event, if at all.
  std::optional<EventType> View(const Event& event) const;
  // Keeps the event for Flush, if it is to be seen.
  void Offer(const EventPtr& event);
  // Queues what was offered. True when the subscriber has to be woken.
  bool Flush();
  // Queues events that others may share. Past the bound of events, or limits::kWatchQueueBytes, the
  // queue has overflowed; one event always fits. True when the subscriber has to be woken: the queue
  // was empty, has overflowed, or has grown past the lag.
  using Items = std::shared_ptr<const EventRun>;
  bool Queue(Items items);
  // Puts events before the live ones, without counting them against the bounds.
  void Preload(std::vector<Watcher::Item> items);
  // True when the subscriber has to be woken.
  bool Close();
  void Wake();

  void OnReady(std::function<void()> ready);
  Watcher::State Drain(std::vector<Watcher::Item>& out, std::size_t max, Revision& up_to);
  Items DrainRun(std::size_t max_bytes);
  bool overflowed() const { return overflowed_.load(std::memory_order_relaxed); }
  std::size_t pending() const { return bytes_.load(std::memory_order_relaxed); }
  // After this returns, ready is not invoked any more.
  void Detach();

 private:
  // Items that are still to be drained.
  struct Run {
    Items items;
    std::size_t next;
    std::size_t end;
    std::size_t bytes;    // of those from next to end
    bool counted = true;  // in queued_ and bytes_
  };
  // How many of the items, from the first, there is room for; `bytes` become theirs.
  std::size_t Fitting(const std::vector<Watcher::Item>& items, std::size_t& bytes) const;
  // Takes the next `count` items of the run off the counts.
  void Discount(Run& run, std::size_t count);
  bool Matches(const Object& object) const;

  const std::string ns_;
  const Filter filter_;
  const Applied applied_;
  std::vector<Watcher::Item> offered_;  // the river's
  const std::size_t bound_;
  const std::size_t lag_;
  std::mutex mutex_;
  std::deque<Run> runs_;  // this and the next three guarded by mutex_
  std::size_t queued_ = 0;  // in runs_, without what was preloaded
  std::atomic<std::size_t> bytes_{0};  // of them
  Watcher::State state_ = Watcher::State::kOpen;
  std::atomic<bool> overflowed_{false};  // state_ is kOverflow
  std::mutex ready_mutex_;       // held while ready_ runs
  std::function<void()> ready_;  // guarded by ready_mutex_
};

using SubscriptionPtr = std::shared_ptr<Subscription>;

}  // namespace mailroom::storage
