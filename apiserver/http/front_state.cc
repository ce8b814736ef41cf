#include "apiserver/http/front_state.h"

#include <trantor/net/EventLoop.h>

namespace mailroom::apiserver {

FrontState::Counted::Counted(std::shared_ptr<FrontState> state, std::atomic<std::size_t>& counter)
    : state_(std::move(state)), counter_(counter) {
  ++counter_;
}

FrontState::Counted::~Counted() {
  if (!state_) return;
  if (bytes_ > 0) state_->request_bytes -= bytes_;
  if (--counter_ > 0 || !state_->draining) return;
  // The lock keeps this from falling between a waiter's look and its sleep.
  std::lock_guard lock(state_->counts_);
  state_->none_left_.notify_all();
}

void FrontState::Counted::Hold(std::size_t bytes) {
  bytes_ = bytes;
  if (bytes > 0) state_->request_bytes += bytes;
}

bool FrontState::AwaitNone(std::atomic<std::size_t>& counter,
                           std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(counts_);
  return none_left_.wait_until(lock, deadline, [&] { return counter == 0; });
}

void FrontState::Post(trantor::EventLoop* loop, std::function<void()> task) {
  Inbox& inbox = InboxOf(loop);
  std::shared_lock running(loops_);
  if (stopped_) return;
  {
    std::lock_guard lock(inbox.mutex);
    inbox.tasks.push_back(std::move(task));
    if (inbox.tasks.size() > 1) return;
  }
  loop->queueInLoop([&inbox] { inbox.Run(); });
}

FrontState::Inbox& FrontState::InboxOf(trantor::EventLoop* loop) {
  {
    std::shared_lock lock(loops_);
    const auto found = inboxes_.find(loop);
    if (found != inboxes_.end()) return found->second;
  }
  std::unique_lock lock(loops_);
  return inboxes_[loop];
}

void FrontState::Inbox::Run() {
  std::vector<std::function<void()>> due;
  {
    std::lock_guard lock(mutex);
    due.swap(tasks);
  }
  for (const auto& task : due) task();
}

void FrontState::Stopped() {
  std::unique_lock lock(loops_);
  stopped_ = true;
}

void FrontState::LoopsEnded() {
  std::unordered_map<trantor::EventLoop*, Inbox> dropped;
  std::unique_lock lock(loops_);
  dropped.swap(inboxes_);
  lock.unlock();  // tasks may hold the last of anything
}

}  // namespace mailroom::apiserver
