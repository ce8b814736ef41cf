// One thread that runs short tasks, at once or at their time, those due together in the order they
// were given: watch deadlines, bookmarks, the loopback's loop. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace mailroom::apiserver {

class TimerQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  TimerQueue();
  ~TimerQueue();  // pending tasks are dropped

  void Post(std::function<void()> task);
  void At(Time when, std::function<void()> task);

 private:
  void Run(const std::stop_token& stop);
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::multimap<Time, std::function<void()>> tasks_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace mailroom::apiserver
