#include "apiserver/worker_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr int kLowPriority = 10;  // as nice(1) counts: a tenth of an ordinary thread's share

thread_local bool no_waiting = false;
thread_local WorkerPool* current_pool = nullptr;
thread_local std::size_t* current_running = nullptr;  // of the flow whose task this thread runs

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue_bound, std::size_t spare,
                       Priority priority)
    : wanted_(threads), queue_bound_(queue_bound), spare_(spare), priority_(priority),
      share_(std::max<std::size_t>(1, threads / limits::kWorkspaceShare)),
      most_(threads - threads / 4) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < threads; ++i) StartLocked();
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Submit(const std::string& flow, Task task) {
  std::lock_guard lock(mutex_);
  if (stopped_ || queued_ >= queue_bound_) return false;
  Flow& mine = flows_[flow];
  const bool shares = !flow.empty();
  if (shares && mine.waiting.size() >= std::max<std::size_t>(1, queue_bound_ / 2)) return false;
  mine.waiting.push_back(std::move(task));
  ++queued_;
  if (!std::exchange(mine.in_line, true)) line_.push_back(flow);
  WakeOneLocked();
  return true;
}

std::size_t WorkerPool::queued() const {
  std::lock_guard lock(mutex_);
  return queued_;
}

void WorkerPool::Abandon() {
  std::vector<std::deque<Task>> dropped;  // beyond the lock: tasks may hold the last of anything
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    for (auto it = flows_.begin(); it != flows_.end();) {
      dropped.push_back(std::exchange(it->second.waiting, {}));
      it->second.in_line = false;
      it = it->second.begun == 0 ? flows_.erase(it) : std::next(it);
    }
    line_.clear();
    queued_ = 0;
    WakeAllLocked();
  }
}

void WorkerPool::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    WakeAllLocked();
  }
  // A waiting task may still bring in a stand-in, never after all threads have ended.
  while (true) {
    std::list<Worker> ending;
    {
      std::lock_guard lock(mutex_);
      if (workers_.empty()) return;
      ending.splice(ending.end(), workers_, workers_.begin());
    }
    ending.front().thread.join();
  }
}

void WorkerPool::StartLocked() {
  Worker& worker = workers_.emplace_back();
  ++alive_;
  worker.thread = std::jthread([this, &worker] { Run(worker); });
}

void WorkerPool::WakeOneLocked() {
  if (idle_.empty()) return;
  Worker& worker = *idle_.back();
  idle_.pop_back();
  worker.woken = true;
  worker.wake.notify_one();
}

void WorkerPool::WakeAllLocked() {
  while (!idle_.empty()) WakeOneLocked();
}

void WorkerPool::BeginWait() {
  std::lock_guard lock(mutex_);
  ++waiting_;
  --*current_running;
  if (queued_ > 0) WakeOneLocked();  // its flow may run another
  if (alive_ - waiting_ >= wanted_ || alive_ >= wanted_ + spare_) return;
  // Those that ended before are joined here, at once; so there are never many of them.
  std::erase_if(workers_, [](const Worker& worker) { return worker.ended; });
  StartLocked();
}

void WorkerPool::EndWait() {
  std::lock_guard lock(mutex_);
  --waiting_;
  ++*current_running;
  WakeOneLocked();  // a stand-in may have become one too many
}

WorkerPool::Flows::iterator WorkerPool::NextLocked() {
  const std::size_t bound = line_.size() == 1 ? most_ : share_;
  for (auto at = line_.begin(); at != line_.end(); ++at) {
    auto it = flows_.find(*at);
    if (it->second.running >= bound) continue;
    line_.splice(line_.end(), line_, at);
    return it;
  }
  return flows_.end();
}

void WorkerPool::RunOne(Flows::iterator next, std::unique_lock<std::mutex>& lock) {
  const std::string name = next->first;
  Flow& flow = next->second;
  Task task = std::move(flow.waiting.front());
  flow.waiting.pop_front();
  --queued_;
  ++flow.running;
  ++flow.begun;
  if (flow.waiting.empty()) {
    flow.in_line = false;
    line_.pop_back();  // it was moved there
  }
  current_running = &flow.running;
  lock.unlock();
  task();
  task = nullptr;
  lock.lock();
  current_running = nullptr;
  --flow.running;
  if (--flow.begun == 0 && flow.waiting.empty()) flows_.erase(name);
  if (queued_ > 0) WakeOneLocked();
  if (stopped_) WakeAllLocked();
}

void WorkerPool::Run(Worker& self) {
  current_pool = this;
  // On Linux each thread has a priority of its own; where lowering it is refused, it just runs.
  if (priority_ == Priority::kLow) (void)setpriority(PRIO_PROCESS, 0, kLowPriority);
  std::unique_lock lock(mutex_);
  while (true) {
    auto surplus = [this] { return alive_ - waiting_ > wanted_; };
    const Flows::iterator next = NextLocked();
    if (next != flows_.end()) {
      RunOne(next, lock);
    } else if (!(stopped_ && queued_ == 0) && !surplus()) {
      idle_.push_back(&self);
      self.wake.wait(lock, [&] { return std::exchange(self.woken, false); });
      continue;
    } else {
      break;
    }
    if (surplus()) break;
  }
  --alive_;
  self.ended = true;
}

WaitElsewhere::WaitElsewhere() : pool_(current_pool) {
  if (pool_ != nullptr) pool_->BeginWait();
}

WaitElsewhere::~WaitElsewhere() {
  if (pool_ != nullptr) pool_->EndWait();
}

NoWaiting::NoWaiting() : before_(std::exchange(no_waiting, true)) {}

NoWaiting::~NoWaiting() { no_waiting = before_; }

bool NoWaiting::Here() { return no_waiting; }

}  // namespace mailroom::apiserver
