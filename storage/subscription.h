// The river's side of one Watcher: scope, filter, and a bounded queue between the thread that
// applies changes and whoever drains. Offer and Flush are called by the river with the cache
// locked; Wake after the cache was unlocked; Drain and Detach by the subscriber. The only lock
// order is cache, then subscription.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "storage/cached_store.h"

namespace mailroom::storage {

class Subscription {
 public:
  // The revision that the cache is at; stored after all events up to it were offered.
  using Applied = std::shared_ptr<const std::atomic<std::uint64_t>>;

  Subscription(std::string ns, Filter filter, std::size_t bound, Applied applied)
      : ns_(std::move(ns)),
        filter_(std::move(filter)),
        applied_(std::move(applied)),
        bound_(bound) {}

  // How a watcher with this filter sees the event, if at all.
  std::optional<EventType> View(const Event& event) const;
  // Keeps the event for Flush. True for the first one since the last Flush.
  bool Offer(const EventPtr& event);
  // Queues what was offered. True when the subscriber has to be woken.
  bool Flush();
  // Puts events before the live ones, without counting them against the bound.
  void Preload(std::vector<Watcher::Item> items);
  // True when the subscriber has to be woken.
  bool Close();
  void Wake();

  void OnReady(std::function<void()> ready);
  Watcher::State Drain(std::vector<Watcher::Item>& out, std::size_t max, Revision& up_to);
  // After this returns, ready is not invoked any more.
  void Detach();

 private:
  bool Matches(const Object& object) const;

  const std::string ns_;
  const Filter filter_;
  const Applied applied_;
  std::vector<Watcher::Item> offered_;  // the river's
  std::mutex mutex_;
  std::size_t bound_;  // this and the next two guarded by mutex_
  std::deque<Watcher::Item> queue_;
  Watcher::State state_ = Watcher::State::kOpen;
  std::mutex ready_mutex_;       // held while ready_ runs
  std::function<void()> ready_;  // guarded by ready_mutex_
};

using SubscriptionPtr = std::shared_ptr<Subscription>;

}  // namespace mailroom::storage
