// One thread that runs short tasks, at once or at their time, those due together in the order they
// were given: watch deadlines, bookmarks, the loopback's loop. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace mailroom::apiserver {

class TimerQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Names a task that was given. None by itself.
  using Id = std::pair<Time, std::uint64_t>;
  TimerQueue();
  ~TimerQueue();  // pending tasks are dropped

  void Post(std::function<void()> task);
  Id At(Time when, std::function<void()> task);
  // Drops the task, and what it holds, unless it has begun; a second time does nothing.
  void Cancel(Id id);
  // Tasks that wait for their time.
  std::size_t size() const;

 private:
  void Run(const std::stop_token& stop);
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::uint64_t given_ = 0;                     // guarded by mutex_
  std::map<Id, std::function<void()>> tasks_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace mailroom::apiserver
