#include "storage/delivery.h"

#include "storage/object/limits.h"
#include "storage/object/rest.h"

namespace mailroom::storage {

Delivery::Delivery(std::function<void(FlushedBatch)> tell)
    : tell_(std::move(tell)), thread_([this](std::stop_token stop) { Run(stop); }) {}

Delivery::~Delivery() {
  Drain();
  thread_.request_stop();
}

void Delivery::Push(FlushedBatch batch) {
  {
    std::unique_lock lock(mutex_);
    const bool idle = waiting_.empty() && !telling_;
    if (!idle || batch.txns.size() > limits::kInlineDelivery) {
      changed_.wait(lock, [this] { return waiting_.size() < limits::kUntoldBatches; });
      waiting_.push_back(std::move(batch));
      lock.unlock();
      changed_.notify_all();
      return;
    }
  }
  // Nothing waits and only this thread pushes, so order is kept.
  tell_(std::move(batch));
}

void Delivery::Drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !telling_; });
}

void Delivery::Run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (WaitAtRest(changed_, lock, stop, [this] { return !waiting_.empty(); })) {
    FlushedBatch batch = std::move(waiting_.front());
    waiting_.pop_front();
    telling_ = true;
    lock.unlock();
    changed_.notify_all();
    tell_(std::move(batch));
    lock.lock();
    telling_ = false;
    changed_.notify_all();
  }
}

}  // namespace mailroom::storage
