#include "apiserver/worker_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/rest.h"

namespace mailroom::apiserver {
namespace {

constexpr int kLowPriority = 10;  // as nice(1) counts: a tenth of an ordinary thread's share

thread_local bool no_waiting = false;
thread_local WorkerPool* current_pool = nullptr;

}  // namespace

WorkerPool::WorkerPool(std::size_t tasks, std::size_t queue_bound, std::size_t spare,
                       Priority priority, std::size_t carriers)
    : tasks_(tasks), carriers_(carriers == 0 ? tasks : std::min(carriers, tasks)),
      queue_bound_(queue_bound), spare_(spare), priority_(priority),
      share_(std::max<std::size_t>(1, tasks / limits::kWorkspaceShare)),
      most_(tasks - tasks / 4) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < carriers_; ++i) StartLocked();
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
  WakeForLocked(mine);
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
  try {
    worker.thread = std::jthread([this, &worker] { Run(worker); });
  } catch (...) {
    workers_.pop_back();
    throw;
  }
  ++alive_;
}

void WorkerPool::WakeOneLocked() {
  if (idle_.empty()) return;
  Worker& worker = *idle_.back();
  idle_.pop_back();
  worker.woken = true;
  ++coming_;
  worker.wake.notify_one();
}

void WorkerPool::WakeForLocked(const Flow& flow) {
  if (coming_ == 0 && MayCarry(flow)) WakeOneLocked();
}

void WorkerPool::WakeAllLocked() {
  while (!idle_.empty()) WakeOneLocked();
}

void WorkerPool::StandInLocked() {
  if (alive_ - waiting_ >= carriers_ || alive_ >= carriers_ + spare_) return;
  // Those that ended before are joined here, at once; so there are never many of them.
  std::erase_if(workers_, [](const Worker& worker) { return worker.ended; });
  try {
    StartLocked();
  } catch (const std::system_error&) {  // no thread to be had: then nobody stands in
  }
}

void WorkerPool::BeginWait() {
  std::lock_guard lock(mutex_);
  ++waiting_;
  --current_flow_->running;
  --current_flow_->carried;
  if (queued_ > 0 || !ready_.empty()) WakeOneLocked();  // its flow may run another
  StandInLocked();
}

void WorkerPool::EndWait() {
  std::lock_guard lock(mutex_);
  --waiting_;
  ++current_flow_->running;
  ++current_flow_->carried;
  WakeOneLocked();  // a stand-in may have become one too many
}

void WorkerPool::BeginBlock(Flow& flow) {
  std::lock_guard lock(mutex_);
  ++waiting_;
  --flow.carried;
  if (queued_ > 0 || !ready_.empty()) WakeOneLocked();
  StandInLocked();
}

void WorkerPool::EndBlock(Flow& flow) {
  std::lock_guard lock(mutex_);
  --waiting_;
  ++flow.carried;
  WakeOneLocked();
}

std::list<std::string>::iterator WorkerPool::FirstInLineLocked() {
  if (Carries() && under_way_ >= tasks_ + waiting_) return line_.end();
  const std::size_t bound = line_.size() == 1 ? most_ : share_;
  return std::find_if(line_.begin(), line_.end(), [&](const std::string& name) {
    const Flow& flow = flows_.find(name)->second;
    return flow.running < bound && MayCarry(flow);
  });
}

WorkerPool::Flows::iterator WorkerPool::NextLocked() {
  const auto first = FirstInLineLocked();
  if (first == line_.end()) return flows_.end();
  line_.splice(line_.end(), line_, first);
  return flows_.find(*first);
}

std::deque<WorkerPool::Berth*>::iterator WorkerPool::FirstReadyLocked() {
  return std::find_if(ready_.begin(), ready_.end(),
                      [this](const Berth* berth) { return MayCarry(*berth->begun.flow); });
}

WorkerPool::Begun WorkerPool::BeginLocked(Flows::iterator next) {
  Flow& flow = next->second;
  Begun begun{std::move(flow.waiting.front()), next->first, &flow};
  flow.waiting.pop_front();
  --queued_;
  ++under_way_;
  ++flow.running;
  ++flow.begun;
  if (flow.waiting.empty()) {
    flow.in_line = false;
    line_.pop_back();  // it was moved there
  }
  return begun;
}

void WorkerPool::EndLocked(Begun& begun) {
  Flow& flow = *begun.flow;
  --under_way_;
  --flow.running;
  if (--flow.begun == 0 && flow.waiting.empty()) flows_.erase(begun.name);
  if (stopped_) WakeAllLocked();
}

void WorkerPool::EnterLocked(Flow& flow) {
  current_flow_ = &flow;
  ++flow.carried;
  if (idle_.empty()) return;
  if (FirstReadyLocked() != ready_.end() || FirstInLineLocked() != line_.end()) WakeOneLocked();
}

void WorkerPool::LeaveLocked(Flow& flow) {
  current_flow_ = nullptr;
  --flow.carried;
}

void WorkerPool::RunOne(Flows::iterator next, std::unique_lock<std::mutex>& lock) {
  Begun begun = BeginLocked(next);
  EnterLocked(*begun.flow);
  lock.unlock();
  begun.task();
  begun.task = nullptr;
  lock.lock();
  LeaveLocked(*begun.flow);
  EndLocked(begun);
}

WorkerPool::Berth* WorkerPool::FreeBerthLocked() {
  if (!free_.empty()) {
    Berth* berth = free_.back();
    free_.pop_back();
    return berth;
  }
  try {
    return &berths_.emplace_back(*this);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void WorkerPool::CarryOne(Berth& berth, std::unique_lock<std::mutex>& lock) {
  EnterLocked(*berth.begun.flow);
  lock.unlock();
  Parking::Enter(&berth);
  const bool ended = berth.Carry();
  Parking::Enter(nullptr);
  lock.lock();
  LeaveLocked(*berth.begun.flow);
  if (ended) {
    EndLocked(berth.begun);
    free_.push_back(&berth);
  } else if (!berth.Settle()) {
    ready_.push_back(&berth);
  }
}

void WorkerPool::Ready(Berth& berth) {
  std::lock_guard lock(mutex_);
  ready_.push_back(&berth);
  WakeForLocked(*berth.begun.flow);
}

void WorkerPool::Run(Worker& self) {
  current_pool = this;
  // On Linux each thread has a priority of its own; where lowering it is refused, it just runs.
  if (priority_ == Priority::kLow) (void)setpriority(PRIO_PROCESS, 0, kLowPriority);
  std::unique_lock lock(mutex_);
  while (true) {
    auto surplus = [this] { return alive_ - waiting_ > carriers_; };
    // What has begun goes first, since others wait for its answer already; but some write so often
    // that nobody else would ever begin.
    Flows::iterator next = flows_.end();
    const auto on = FirstReadyLocked();
    if (on == ready_.end() || ++resumed_ % limits::kResumedInTurn == 0) next = NextLocked();
    if (next == flows_.end() && on != ready_.end()) {
      Berth& berth = **on;
      ready_.erase(on);
      CarryOne(berth, lock);
    } else if (next != flows_.end()) {
      if (Berth* berth = Carries() ? FreeBerthLocked() : nullptr; berth != nullptr) {
        berth->begun = BeginLocked(next);
        CarryOne(*berth, lock);
      } else {
        RunOne(next, lock);
      }
    } else if (!(stopped_ && queued_ == 0 && (!Carries() || under_way_ == 0)) &&
               (!surplus() || idle_.empty())) {
      // One too many stays while it alone is idle: all others may be with one flow, which cannot have it.
      idle_.push_back(&self);
      while (!std::exchange(self.woken, false)) WaitAtRest(self.wake, lock);
      --coming_;
      continue;
    } else {
      break;
    }
    if (surplus()) break;
  }
  --alive_;
  self.ended = true;
  if (!ready_.empty() || queued_ > 0) WakeOneLocked();
}

WorkerPool::Berth::Berth(WorkerPool& pool) : pool_(pool), fiber_([this] { Live(); }) {}

WorkerPool::Berth::~Berth() {
  over_ = true;
  if (ended_) fiber_.Resume();
}

void WorkerPool::Berth::Live() {
  while (true) {
    begun.task();
    begun.task = nullptr;
    ended_ = true;
    fiber_.Suspend();
    if (over_) return;
    ended_ = false;
  }
}

bool WorkerPool::Berth::Carry() {
  fiber_.Resume();
  return ended_;
}

bool WorkerPool::Berth::Settle() {
  State runs = State::kRuns;
  if (state_.compare_exchange_strong(runs, State::kParked)) return true;
  state_ = State::kRuns;
  return false;
}

void WorkerPool::Berth::Park() {
  if (state_.load() == State::kHasWord) {
    state_ = State::kRuns;
  } else {
    fiber_.Suspend();
  }
}

void WorkerPool::Berth::Unpark() {
  if (state_.exchange(State::kHasWord) != State::kParked) return;
  state_ = State::kRuns;
  pool_.Ready(*this);
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
