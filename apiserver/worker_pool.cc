#include "apiserver/worker_pool.h"

#include <utility>

namespace mailroom::apiserver {

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue_bound) : queue_bound_(queue_bound) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
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
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::Run() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace mailroom::apiserver
