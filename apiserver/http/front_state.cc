#include "apiserver/http/front_state.h"

#include <trantor/net/EventLoop.h>

namespace mailroom::apiserver {

FrontState::Counted::Counted(std::shared_ptr<FrontState> state, std::atomic<std::size_t>& counter)
    : state_(std::move(state)), counter_(counter) {
  ++counter_;
}

FrontState::Counted::~Counted() {
  if (!state_ || --counter_ > 0 || !state_->draining) return;
  // The lock keeps this from falling between a waiter's look and its sleep.
  std::lock_guard lock(state_->counts_);
  state_->none_left_.notify_all();
}

bool FrontState::AwaitNone(std::atomic<std::size_t>& counter,
                           std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(counts_);
  return none_left_.wait_until(lock, deadline, [&] { return counter == 0; });
}

void FrontState::Post(trantor::EventLoop* loop, std::function<void()> task) {
  std::shared_lock lock(loops_);
  if (!stopped_) loop->queueInLoop(std::move(task));
}

void FrontState::Stopped() {
  std::unique_lock lock(loops_);
  stopped_ = true;
}

}  // namespace mailroom::apiserver
