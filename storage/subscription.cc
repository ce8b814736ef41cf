#include "storage/subscription.h"

#include <algorithm>

#include "storage/object/limits.h"

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

bool Subscription::Offer(const EventPtr& event) {
  const std::optional<EventType> type = View(*event);
  if (!type) return false;
  offered_.push_back(Watcher::Item{*type, event});
  return offered_.size() == 1;
}

bool Subscription::Flush() {
  std::lock_guard lock(mutex_);
  bool wake = false;
  if (state_ == Watcher::State::kOpen) {
    wake = queue_.empty();
    const std::size_t room = bound_ - std::min(bound_, queue_.size());
    const auto end =
        offered_.begin() + static_cast<std::ptrdiff_t>(std::min(room, offered_.size()));
    queue_.insert(queue_.end(), std::make_move_iterator(offered_.begin()),
                  std::make_move_iterator(end));
    if (end != offered_.end()) {
      state_ = Watcher::State::kOverflow;
      wake = true;
    }
  }
  offered_.clear();
  if (offered_.capacity() > limits::kKeptOffers) offered_.shrink_to_fit();
  return wake;
}

void Subscription::Preload(std::vector<Watcher::Item> items) {
  std::lock_guard lock(mutex_);
  bound_ += items.size();
  queue_.insert(queue_.begin(), std::make_move_iterator(items.begin()),
                std::make_move_iterator(items.end()));
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
  while (max-- > 0 && !queue_.empty()) {
    out.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  // What was queued before the end is still handed out.
  if (!queue_.empty()) return Watcher::State::kOpen;
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
