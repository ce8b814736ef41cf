#include "apiserver/http/front_state.h"

#include <trantor/net/EventLoop.h>

#include "absl/time/time.h"

namespace mailroom::apiserver {

FrontState::Counted::Counted(std::shared_ptr<FrontState> state, std::atomic<std::size_t>& counter)
    : state_(std::move(state)), counter_(counter) {
  ++counter_;
}

FrontState::Counted::~Counted() {
  if (--counter_ == 0 && state_->draining) absl::MutexLock lock(&state_->counts_);
}

bool FrontState::AwaitNone(std::atomic<std::size_t>& counter,
                           std::chrono::steady_clock::time_point deadline) {
  absl::MutexLock lock(&counts_);
  const auto none = [](std::atomic<std::size_t>* value) { return *value == 0; };
  return counts_.AwaitWithTimeout(absl::Condition(+none, &counter),
                                  absl::FromChrono(deadline - std::chrono::steady_clock::now()));
}

void FrontState::Post(trantor::EventLoop* loop, std::function<void()> task) {
  absl::ReaderMutexLock lock(&loops_);
  if (!stopped_) loop->queueInLoop(std::move(task));
}

void FrontState::Stopped() {
  absl::MutexLock lock(&loops_);
  stopped_ = true;
}

}  // namespace mailroom::apiserver
