#include "apiserver/client/work_queue.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "apiserver/client/backoff.h"
#include "storage/object/limits.h"
#include "storage/object/rest.h"

namespace mailroom::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A key is in at most one lane's line (it is then in waiting_), or in processing_, or in both
// processing_ and again_ when it was added while being handled. delayed_ is independent.
class LanedQueue : public WorkQueue {
 public:
  void Add(const WorkKey& key) override {
    std::lock_guard lock(mutex_);
    AddLocked(key);
  }

  void AddAfter(const WorkKey& key, std::chrono::milliseconds delay) override {
    std::lock_guard lock(mutex_);
    AddAfterLocked(key, delay);
  }

  void AddRateLimited(const WorkKey& key) override {
    std::lock_guard lock(mutex_);
    const int failures = failures_[key]++;
    AddAfterLocked(key, Backoff(limits::kRetryFirst, limits::kRetryLast, failures));
  }

  void Forget(const WorkKey& key) override {
    std::lock_guard lock(mutex_);
    failures_.erase(key);
  }

  std::optional<WorkKey> Take() override {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      MoveDueLocked();
      if (!turns_.empty()) return NextLocked();
      if (due_.empty()) {
        WaitAtRest(changed_, lock);
      } else {
        WaitAtRest(changed_, lock, due_.begin()->first);
      }
    }
    return std::nullopt;
  }

  void Done(const WorkKey& key) override {
    std::lock_guard lock(mutex_);
    processing_.erase(key);
    if (again_.erase(key) > 0) AddLocked(key);
  }

  std::size_t size() const override {
    std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  void Stop() override {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  void AddLocked(const WorkKey& key) {
    if (stopped_) return;
    if (processing_.contains(key)) {
      again_.insert(key);
      return;
    }
    if (!waiting_.insert(key).second) return;
    std::deque<WorkKey>& line = lanes_[key.lane];
    if (line.empty()) turns_.push_back(key.lane);
    line.push_back(key);
    changed_.notify_one();
  }

  // Of two delays for one key the earlier one counts.
  void AddAfterLocked(const WorkKey& key, std::chrono::milliseconds delay) {
    if (delay <= std::chrono::milliseconds::zero()) return AddLocked(key);
    if (stopped_) return;
    const auto when =
        SteadyClock::now() + std::min<std::chrono::milliseconds>(delay, limits::kLongestDelay);
    auto known = delayed_.find(key);
    if (known != delayed_.end()) {
      if (known->second <= when) return;
      due_.erase({known->second, key});
      known->second = when;
    } else {
      delayed_.emplace(key, when);
    }
    due_.insert({when, key});
    changed_.notify_one();
  }

  void MoveDueLocked() {
    const auto now = SteadyClock::now();
    while (!due_.empty() && due_.begin()->first <= now) {
      const WorkKey key = due_.begin()->second;
      due_.erase(due_.begin());
      delayed_.erase(key);
      AddLocked(key);
    }
  }

  WorkKey NextLocked() {
    const std::string lane = std::move(turns_.front());
    turns_.pop_front();
    auto line = lanes_.find(lane);
    WorkKey key = std::move(line->second.front());
    line->second.pop_front();
    if (line->second.empty()) {
      lanes_.erase(line);
    } else {
      turns_.push_back(lane);
    }
    waiting_.erase(key);
    processing_.insert(key);
    // A worker that waits only for a due time must not sleep through the work left here.
    if (!turns_.empty() || !due_.empty()) changed_.notify_one();
    return key;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool stopped_ = false;
  std::map<std::string, std::deque<WorkKey>> lanes_;
  std::deque<std::string> turns_;  // lanes with work, next first
  std::set<WorkKey> waiting_;
  std::set<WorkKey> processing_;
  std::set<WorkKey> again_;
  std::map<WorkKey, SteadyClock::time_point> delayed_;
  std::set<std::pair<SteadyClock::time_point, WorkKey>> due_;
  std::map<WorkKey, int> failures_;
};

}  // namespace

std::unique_ptr<WorkQueue> WorkQueue::Make() { return std::make_unique<LanedQueue>(); }

}  // namespace mailroom::client
