// Threads for work that may block. The queue is bounded: Submit refuses instead of waiting, and
// the caller answers 429. Each task belongs to a flow (a workspace): flows take turns, one flow
// holds at most its share of the threads while others wait, never all of four or more, and half of
// the queue, so that a storm in one leaves the others their pace. The flow without a name is not
// held to that. Thread-safe. Tasks must not throw.
//
// A task that waits for somebody outside (a webhook) says so with WaitElsewhere; another thread
// then stands in for its own, up to a bound, so that such waits hold up nobody else's work.
//
// A pool with fewer carriers than tasks at a time runs each on a stack of its own; one that waits for
// the store (Pause) leaves its thread to the others and goes on when its word has come. Whoever waits
// otherwise holds a thread, for which another stands in; it still counts for its flow. One flow never
// holds the last of several threads.
#pragma once

#include <algorithm>
#include <atomic>
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

#include "apiserver/fiber.h"
#include "storage/object/parking.h"

namespace mailroom::apiserver {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  // kLow: its threads get a small part of a processor that others want, too.
  enum class Priority { kOrdinary, kLow };
  // Runs `tasks` at a time. At most `spare` threads stand in for waiting ones. `carriers`: threads
  // for those that do not wait; 0: as many as tasks.
  WorkerPool(std::size_t tasks, std::size_t queue_bound, std::size_t spare = 0,
             Priority priority = Priority::kOrdinary, std::size_t carriers = 0);
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
    std::size_t running = 0;  // begun, but for those that wait elsewhere
    std::size_t begun = 0;
    std::size_t carried = 0;  // on carriers now, but for those that hold them to no purpose
    bool in_line = false;
  };
  using Flows = std::unordered_map<std::string, Flow>;

  // A task on a thread, or on its way to one.
  struct Begun {
    Task task;
    std::string name;     // of its flow
    Flow* flow = nullptr;
  };
  // A stack for one task after the other.
  class Berth final : public Parking {
   public:
    explicit Berth(WorkerPool& pool);
    ~Berth() override;
    // Runs the task until it ends or parks; whether it ended.
    bool Carry();
    // After Carry: false when the word has come already, and it must be carried again. Whoever gives
    // the word to a parked one may have it carried elsewhere at once.
    bool Settle();
    void Park() override;
    void Unpark() override;
    void BeginBlocking() override { pool_.BeginBlock(*begun.flow); }
    void EndBlocking() override { pool_.EndBlock(*begun.flow); }

    Begun begun;

   private:
    enum class State { kRuns, kHasWord, kParked };
    void Live();

    WorkerPool& pool_;
    std::atomic<State> state_ = State::kRuns;
    bool ended_ = false;  // the task; of the thread that carries it
    bool over_ = false;   // so is the fiber's life
    Fiber fiber_;
  };

  void Run(Worker& self);
  // The flow whose turn it is; the end when nobody may run.
  std::list<std::string>::iterator FirstInLineLocked();
  // The same, which goes to the end of the line.
  Flows::iterator NextLocked();
  // Of the parked tasks that may go on.
  std::deque<Berth*>::iterator FirstReadyLocked();
  Begun BeginLocked(Flows::iterator next);
  void EndLocked(Begun& begun);
  // Around what the calling thread does for a task of the flow; wakes another if there is more to do.
  void EnterLocked(Flow& flow);
  void LeaveLocked(Flow& flow);
  void RunOne(Flows::iterator next, std::unique_lock<std::mutex>& lock);
  void CarryOne(Berth& berth, std::unique_lock<std::mutex>& lock);
  // Null when there is no room for another stack: the thread's own will do.
  Berth* FreeBerthLocked();
  void Ready(Berth& berth);
  bool Carries() const { return carriers_ < tasks_; }
  // Whether another thread may take up tasks of the flow; those that do look for more by themselves.
  bool MayCarry(const Flow& flow) const {
    return !Carries() || flow.carried < std::max<std::size_t>(1, carriers_ - 1);
  }
  void StartLocked();
  void StandInLocked();
  void WakeOneLocked();
  // The flow has something new to do. A thread that comes already wakes the next if there is more.
  void WakeForLocked(const Flow& flow);
  void WakeAllLocked();
  // Around a wait for somebody outside, who bounds such waits himself: it is no part of the flow's share.
  void BeginWait();
  void EndWait();
  // Around any other wait that holds the thread.
  void BeginBlock(Flow& flow);
  void EndBlock(Flow& flow);

  inline static thread_local Flow* current_flow_ = nullptr;  // whose task this thread runs

  const std::size_t tasks_;     // at a time, but for those that wait elsewhere
  const std::size_t carriers_;  // threads that do not wait elsewhere
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
  std::deque<Berth> berths_;       // never more than tasks and spare threads
  std::vector<Berth*> free_;       // of them, the last used last
  std::deque<Berth*> ready_;       // whose word has come
  std::size_t under_way_ = 0;      // tasks that have begun and not ended
  std::size_t alive_ = 0;    // threads that have not ended
  std::size_t waiting_ = 0;  // of them, those that wait elsewhere or block
  std::size_t coming_ = 0;   // threads that were woken and have not looked for work yet
  std::size_t resumed_ = 0;  // parked tasks that went on, to give new ones a turn between them
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
