// Threads for work that may block. The queue is bounded: Submit refuses instead of waiting, and
// the caller answers 429. Each task belongs to a flow (a workspace): flows take turns, one flow
// holds at most its share of the threads while others wait, never all of four or more, and half of
// the queue, so that a storm in one leaves the others their pace. The flow without a name is not
// held to that. Thread-safe. Tasks must not throw.
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
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace mailroom::apiserver {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  // kLow: its threads get a small part of a processor that others want, too.
  enum class Priority { kOrdinary, kLow };
  // At most `spare` threads stand in for waiting ones.
  WorkerPool(std::size_t threads, std::size_t queue_bound, std::size_t spare = 0,
             Priority priority = Priority::kOrdinary);
  ~WorkerPool();  // Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full or the pool is stopped; the task is then not run.
  [[nodiscard]] bool Submit(const std::string& flow, Task task);
  [[nodiscard]] bool Submit(Task task) { return Submit("", std::move(task)); }
  // Tasks waiting for a thread.
  std::size_t queued() const;
  // Refuses further tasks and drops the queued ones; those under way go on.
  void Abandon();
  // Refuses further tasks, runs the queued ones and joins the threads. Not from a task.
  // Idempotent.
  void Stop();

 private:
  friend class WaitElsewhere;
  struct Worker {
    std::jthread thread;
    std::condition_variable wake;  // this and the next two guarded by the pool's mutex
    bool woken = false;
    bool ended = false;  // only joining is left
  };
  // Tasks of one flow; exists while it has any waiting for a thread or on one.
  struct Flow {
    std::deque<Task> waiting;
    std::size_t running = 0;  // on threads, but for those that wait elsewhere
    std::size_t begun = 0;    // on threads
    bool in_line = false;
  };
  using Flows = std::unordered_map<std::string, Flow>;

  void Run(Worker& self);
  // The flow whose turn it is; the end when nobody may run.
  Flows::iterator NextLocked();
  void RunOne(Flows::iterator next, std::unique_lock<std::mutex>& lock);
  void StartLocked();
  void WakeOneLocked();
  void WakeAllLocked();
  void BeginWait();
  void EndWait();

  const std::size_t wanted_;  // threads that do not wait elsewhere
  const std::size_t queue_bound_;
  const std::size_t spare_;
  const Priority priority_;
  const std::size_t share_;   // threads one flow may hold while others wait
  const std::size_t most_;    // and when it is alone
  mutable std::mutex mutex_;  // guards everything below
  Flows flows_;
  std::list<std::string> line_;  // flows with tasks waiting for a thread, next first
  std::size_t queued_ = 0;
  bool stopped_ = false;
  std::list<Worker> workers_;
  std::vector<Worker*> idle_;  // the last has run last, and is woken first: what it needs is near
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

// While it lives, the calling thread must wait for nobody: it is an I/O loop's. Whoever finds that
// they would have to answers instead that the client shall come again.
class NoWaiting {
 public:
  NoWaiting();
  ~NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  // Whether the calling thread is such a one.
  static bool Here();

 private:
  const bool before_;
};

}  // namespace mailroom::apiserver
