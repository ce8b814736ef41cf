#include "storage/subscription.h"

#include <algorithm>

namespace mailroom::storage {

bool Subscription::Matches(const Object& object) const {
  return (ns_.empty() || object.meta().ns == ns_) && (!filter_ || filter_(object));
}

std::optional<EventType> Subscription::View(const Event& event) const {
  const bool before = event.previous() && Matches(*event.previous());
  const bool now = event.now() && Matches(*event.now());
  if (now) return before ? EventType::kModified : EventType::kAdded;
  if (before) return EventType::kDeleted;
  return std::nullopt;
}

void Subscription::Offer(const EventPtr& event) {
  if (const std::optional<EventType> type = View(*event)) {
    offered_.push_back(Watcher::Item{*type, event});
  }
}

bool Subscription::Flush() {
  if (offered_.empty()) return false;
  auto items = std::make_shared<const std::vector<Watcher::Item>>(std::move(offered_));
  offered_ = {};
  return Queue(std::move(items));
}

bool Subscription::Queue(Items items) {
  std::lock_guard lock(mutex_);
  if (state_ != Watcher::State::kOpen) return false;
  const bool was_empty = queued_ == 0;
  const std::size_t room = bound_ - std::min(bound_, queued_);
  const std::size_t taken = std::min(room, items->size());
  if (taken < items->size()) {
    state_ = Watcher::State::kOverflow;
    overflowed_ = true;
  }
  if (taken > 0) {
    queued_ += taken;
    runs_.push_back(Run{std::move(items), 0, taken});
  }
  return was_empty || state_ == Watcher::State::kOverflow;
}

void Subscription::Preload(std::vector<Watcher::Item> items) {
  if (items.empty()) return;
  const std::size_t count = items.size();
  auto shared = std::make_shared<const std::vector<Watcher::Item>>(std::move(items));
  std::lock_guard lock(mutex_);
  bound_ += count;
  queued_ += count;
  runs_.push_front(Run{std::move(shared), 0, count});
}

bool Subscription::Close() {
  std::lock_guard lock(mutex_);
  if (state_ != Watcher::State::kOpen) return false;
  state_ = Watcher::State::kClosed;
  return true;
}

void Subscription::Wake() {
  std::lock_guard lock(ready_mutex_);
  if (ready_) ready_();
}

void Subscription::OnReady(std::function<void()> ready) {
  std::lock_guard lock(ready_mutex_);
  ready_ = std::move(ready);
}

Watcher::State Subscription::Drain(std::vector<Watcher::Item>& out, std::size_t max,
                                   Revision& up_to) {
  std::lock_guard lock(mutex_);
  while (max > 0 && !runs_.empty()) {
    Run& run = runs_.front();
    const std::size_t count = std::min(max, run.end - run.next);
    const auto first = run.items->begin() + static_cast<std::ptrdiff_t>(run.next);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(count));
    max -= count;
    queued_ -= count;
    run.next += count;
    if (run.next == run.end) runs_.pop_front();
  }
  // What was queued before the end is still handed out.
  if (queued_ > 0) return Watcher::State::kOpen;
  // An event up to the applied revision was offered before that revision was stored, hence
  // before this lock was taken: it has been handed out.
  if (state_ == Watcher::State::kOpen) up_to = Revision(applied_->load());
  return state_;
}

void Subscription::Detach() {
  std::lock_guard lock(ready_mutex_);
  ready_ = nullptr;
}

}  // namespace mailroom::storage
