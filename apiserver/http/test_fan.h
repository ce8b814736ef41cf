// Events for many watches at once, for tests and benchmarks. Thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "storage/object/limits.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

// One list of events, of which every watch has its place. A watch that falls behind its end is
// ended.
class Fan {
 public:
  class Watch;
  std::unique_ptr<Stream> Open();
  void Publish(SharedBytes event);

 private:
  std::mutex mutex_;
  std::deque<SharedBytes> events_;  // the last ones
  std::size_t first_ = 0;           // number of the first of them
  std::unordered_set<Watch*> watches_;
};

class Fan::Watch : public Stream {
 public:
  explicit Watch(Fan& fan) : fan_(fan) {}
  void OnReady(std::function<void()> ready) override {
    std::lock_guard lock(fan_.mutex_);
    ready_ = std::move(ready);
    next_ = fan_.first_ + fan_.events_.size();
    fan_.watches_.insert(this);
  }
  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    std::lock_guard lock(fan_.mutex_);
    if (next_ < fan_.first_) return State::kEnd;  // too slow
    for (std::size_t bytes = 0; bytes < max_bytes; ++next_) {
      if (next_ == fan_.first_ + fan_.events_.size()) return State::kIdle;
      out.push_back(fan_.events_[next_ - fan_.first_]);
      bytes += out.back()->size();
    }
    return State::kMore;
  }
  void Cancel() override {
    std::lock_guard lock(fan_.mutex_);
    fan_.watches_.erase(this);
  }
  bool broken() const override {
    std::lock_guard lock(fan_.mutex_);
    return next_ < fan_.first_;
  }

 private:
  friend class Fan;
  Fan& fan_;
  std::function<void()> ready_;
  std::size_t next_ = 0;
};

inline std::unique_ptr<Stream> Fan::Open() { return std::make_unique<Watch>(*this); }

inline void Fan::Publish(SharedBytes event) {
  std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() > limits::kWatchQueueEvents) {
    events_.pop_front();
    ++first_;
  }
  for (Watch* watch : watches_) watch->ready_();
}

}  // namespace mailroom::apiserver
