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

void Subscription::Offer(const EventPtr& event) {
  if (const std::optional<EventType> type = View(*event)) {
    offered_.push_back(Watcher::Item{*type, event});
  }
}

bool Subscription::Flush() {
  if (offered_.empty()) return false;
  auto items = std::make_shared<const EventRun>(std::move(offered_));
  offered_ = {};
  return Queue(std::move(items));
}

// Most batches fit as a whole, and then none of their events is looked at.
bool Subscription::Queue(Items items) {
  std::lock_guard lock(mutex_);
  if (state_ != Watcher::State::kOpen) return false;
  const bool was_empty = runs_.empty();
  const bool kept_up = bytes_ <= lag_;
  std::size_t bytes = items->bytes(), taken = items->items().size();
  if (queued_ + taken > bound_ || bytes_ + bytes > limits::kWatchQueueBytes) {
    taken = Fitting(items->items(), bytes);
  }
  if (taken < items->items().size()) {
    state_ = Watcher::State::kOverflow;
    overflowed_ = true;
    // The rest of the batch is not kept for its sake.
    const auto first = items->items().begin();
    std::vector<Watcher::Item> kept(first, first + static_cast<std::ptrdiff_t>(taken));
    if (taken > 0) items = std::make_shared<const EventRun>(std::move(kept));
  }
  if (taken > 0) {
    queued_ += taken;
    bytes_ += bytes;
    runs_.push_back(Run{std::move(items), 0, taken, bytes});
  }
  return was_empty || state_ == Watcher::State::kOverflow || (kept_up && bytes_ > lag_);
}

std::size_t Subscription::Fitting(const std::vector<Watcher::Item>& items,
                                  std::size_t& bytes) const {
  std::size_t taken = 0;
  bytes = 0;
  for (const Watcher::Item& item : items) {
    const std::size_t more = BytesOf(*item.event);
    const bool alone = queued_ + taken == 0;
    const bool fits = queued_ + taken < bound_ && bytes_ + bytes + more <= limits::kWatchQueueBytes;
    if (!alone && !fits) break;
    bytes += more;
    ++taken;
  }
  return taken;
}

void Subscription::Preload(std::vector<Watcher::Item> items) {
  if (items.empty()) return;
  const std::size_t count = items.size();
  auto shared = std::make_shared<const EventRun>(std::move(items));
  std::lock_guard lock(mutex_);
  runs_.push_front(Run{std::move(shared), 0, count, 0, false});
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

void Subscription::Discount(Run& run, std::size_t count) {
  if (!run.counted) return;
  std::size_t bytes = run.bytes;  // mostly the whole run goes
  if (run.next + count < run.end) {
    bytes = 0;
    for (std::size_t i = run.next; i < run.next + count; ++i) bytes += BytesOf(*run.items->items()[i].event);
  }
  run.bytes -= bytes;
  bytes_ -= bytes;
  queued_ -= count;
}

Watcher::State Subscription::Drain(std::vector<Watcher::Item>& out, std::size_t max,
                                   Revision& up_to) {
  std::lock_guard lock(mutex_);
  while (max > 0 && !runs_.empty()) {
    Run& run = runs_.front();
    const std::size_t count = std::min(max, run.end - run.next);
    const auto first = run.items->items().begin() + static_cast<std::ptrdiff_t>(run.next);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(count));
    Discount(run, count);
    max -= count;
    run.next += count;
    if (run.next == run.end) runs_.pop_front();
  }
  // What was queued before the end is still handed out.
  if (!runs_.empty()) return Watcher::State::kOpen;
  // An event up to the applied revision was offered before that revision was stored, hence
  // before this lock was taken: it has been handed out.
  if (state_ == Watcher::State::kOpen) up_to = Revision(applied_->load());
  return state_;
}

Subscription::Items Subscription::DrainRun(std::size_t max_bytes) {
  std::lock_guard lock(mutex_);
  // The text of a run that nobody else has would be made for this one alone; frames are everybody's.
  if (filter_ || runs_.empty()) return nullptr;
  Run& run = runs_.front();
  if (!run.counted || run.next > 0 || run.items->bytes() > max_bytes) return nullptr;
  Items items = std::move(run.items);
  Discount(run, run.end);
  runs_.pop_front();
  return items;
}

void Subscription::Detach() {
  std::lock_guard lock(ready_mutex_);
  ready_ = nullptr;
}

}  // namespace mailroom::storage
