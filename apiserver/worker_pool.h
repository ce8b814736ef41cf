// Threads for work that may block. The queue is bounded: Submit refuses instead of waiting, and
// the caller answers 429. Thread-safe. Tasks must not throw.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mailroom::apiserver {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  WorkerPool(std::size_t threads, std::size_t queue_bound);
  ~WorkerPool();  // Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full or the pool is stopped; the task is then not run.
  [[nodiscard]] bool Submit(Task task);
  // Tasks waiting for a thread.
  std::size_t queued() const;
  // Refuses further tasks, runs the queued ones and joins the threads. Not from a task.
  // Idempotent.
  void Stop();

 private:
  void Run();

  const std::size_t queue_bound_;
  mutable std::mutex mutex_;  // guards queue_ and stopped_
  std::condition_variable changed_;
  std::deque<Task> queue_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;  // filled by the constructor, emptied by Stop
};

}  // namespace mailroom::apiserver
