// Threads for work that may block. The queue is bounded: Submit refuses instead of waiting, and
// the caller answers 429. Thread-safe. Tasks must not throw.
//
// A task that waits for somebody outside (a webhook) says so with WaitElsewhere; another thread
// then stands in for its own, up to a bound, so that such waits hold up nobody else's work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace mailroom::apiserver {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  // At most `spare` threads stand in for waiting ones.
  WorkerPool(std::size_t threads, std::size_t queue_bound, std::size_t spare = 0);
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
  friend class WaitElsewhere;
  struct Worker {
    std::jthread thread;
    bool ended = false;  // guarded by the pool's mutex; only joining is left
  };
  void Run(Worker& self);
  void StartLocked();
  void BeginWait();
  void EndWait();

  const std::size_t wanted_;  // threads that do not wait elsewhere
  const std::size_t queue_bound_;
  const std::size_t spare_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::deque<Task> queue_;
  bool stopped_ = false;
  std::list<Worker> workers_;
  std::size_t alive_ = 0;    // threads that have not ended
  std::size_t waiting_ = 0;  // of them, those that wait elsewhere
};

// While it lives, the calling thread waits for somebody outside. Costs nothing on threads of no
// pool.
class WaitElsewhere {
 public:
  WaitElsewhere();
  ~WaitElsewhere();
  WaitElsewhere(const WaitElsewhere&) = delete;
  WaitElsewhere& operator=(const WaitElsewhere&) = delete;

 private:
  WorkerPool* const pool_;
};

}  // namespace mailroom::apiserver
