#include "apiserver/timer_queue.h"

#include "storage/object/rest.h"

namespace mailroom::apiserver {

TimerQueue::TimerQueue() : thread_([this](const std::stop_token& stop) { Run(stop); }) {}

TimerQueue::~TimerQueue() { Stop(); }

void TimerQueue::Stop() {
  thread_.request_stop();
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TimerQueue::Post(std::function<void()> task) {
  At(std::chrono::steady_clock::now(), std::move(task));
}

TimerQueue::Id TimerQueue::At(Time when, std::function<void()> task) {
  bool earliest = false;
  Id id;
  {
    std::lock_guard lock(mutex_);
    earliest = tasks_.empty() || when < tasks_.begin()->first.first;
    id = {when, ++given_};
    tasks_.emplace(id, std::move(task));
  }
  if (earliest) wake_.notify_all();  // whoever wakes finds the lock free
  return id;
}

void TimerQueue::Cancel(Id id) {
  std::function<void()> dropped;  // outside the lock
  std::lock_guard lock(mutex_);
  const auto it = tasks_.find(id);
  if (it == tasks_.end()) return;
  dropped = std::move(it->second);
  tasks_.erase(it);
}

std::size_t TimerQueue::size() const {
  std::lock_guard lock(mutex_);
  return tasks_.size();
}

void TimerQueue::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (tasks_.empty()) {
      WaitAtRest(wake_, lock, stop, [this] { return !tasks_.empty(); });
      continue;
    }
    const Time next = tasks_.begin()->first.first;
    if (std::chrono::steady_clock::now() < next) {
      const auto sooner = [&] { return !tasks_.empty() && tasks_.begin()->first.first < next; };
      WaitAtRest(wake_, lock, stop, sooner, next);
      continue;
    }
    auto task = std::move(tasks_.extract(tasks_.begin()).mapped());
    lock.unlock();
    task();
    task = nullptr;  // what it held is released outside the lock
    lock.lock();
  }
}

}  // namespace mailroom::apiserver
