// Threads for work that may block. The queue is bounded: Submit refuses instead of waiting, and
// the caller answers 429. Thread-safe. Tasks must not throw.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

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
  bool HasWorkLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t queue_bound_;
  mutable absl::Mutex mutex_;
  std::deque<Task> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;  // filled by the constructor, emptied by Stop
};

}  // namespace mailroom::apiserver
