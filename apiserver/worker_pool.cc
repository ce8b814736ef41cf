#include "apiserver/worker_pool.h"

#include <utility>

namespace mailroom::apiserver {
namespace {

thread_local WorkerPool* current_pool = nullptr;

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue_bound, std::size_t spare)
    : wanted_(threads), queue_bound_(queue_bound), spare_(spare) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < threads; ++i) StartLocked();
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Submit(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (stopped_ || queue_.size() >= queue_bound_) return false;
    queue_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

std::size_t WorkerPool::queued() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

void WorkerPool::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
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

void WorkerPool::BeginWait() {
  std::lock_guard lock(mutex_);
  ++waiting_;
  if (alive_ - waiting_ >= wanted_ || alive_ >= wanted_ + spare_) return;
  // Those that ended before are joined here, at once; so there are never many of them.
  std::erase_if(workers_, [](const Worker& worker) { return worker.ended; });
  StartLocked();
}

void WorkerPool::EndWait() {
  std::lock_guard lock(mutex_);
  --waiting_;
  changed_.notify_one();  // a stand-in may have become one too many
}

void WorkerPool::Run(Worker& self) {
  current_pool = this;
  std::unique_lock lock(mutex_);
  while (true) {
    auto surplus = [this] { return alive_ - waiting_ > wanted_; };
    changed_.wait(lock, [&] { return stopped_ || !queue_.empty() || surplus(); });
    if (queue_.empty() && (stopped_ || surplus())) break;
    if (queue_.empty()) continue;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
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

}  // namespace mailroom::apiserver
