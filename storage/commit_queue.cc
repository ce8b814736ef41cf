#include "storage/commit_queue.h"

#include "storage/object/limits.h"
#include "storage/object/rest.h"
#include "storage/txn.h"

namespace mailroom::storage {

Result<bool> CommitQueue::Push(PendingTxn& pending) {
  const std::size_t bytes = TxnBytes(pending.txn);
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Unavailable("the store is closed");
    if (txns_.size() >= limits::kCommitQueue || bytes_ + bytes > limits::kCommitQueueBytes) {
      return TooManyRequests("too many writes are waiting for the disk", 1);
    }
    bytes_ += bytes;
    const bool waits = pending.txn.waits;
    txns_.push_back(std::move(pending));
    // Whoever has the turn looks again when done, and so does the thread that was woken before.
    if (taken_ || txns_.size() > 1) return false;
    if (waits && tasks_.empty()) {
      taken_ = true;
      return true;
    }
  }
  wake_.notify_one();
  return false;
}

Result<void> CommitQueue::PushTask(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Unavailable("the store is closed");
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
  return Ok();
}

CommitQueue::Batch CommitQueue::Take() {
  std::unique_lock lock(mutex_);
  while (taken_ || (!closed_ && txns_.empty() && tasks_.empty())) WaitAtRest(wake_, lock);
  taken_ = true;
  return TakeLocked();
}

CommitQueue::Batch CommitQueue::TakeNow() {
  std::lock_guard lock(mutex_);
  return TakeLocked();
}

void CommitQueue::Done() {
  {
    std::lock_guard lock(mutex_);
    taken_ = false;
    if (!closed_ && txns_.empty() && tasks_.empty()) return;
  }
  wake_.notify_one();
}

CommitQueue::Batch CommitQueue::TakeLocked() {
  Batch batch;
  if (!tasks_.empty()) {
    batch.task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  std::size_t bytes = 0;
  while (!txns_.empty() && batch.txns.size() < limits::kCommitBatch &&
         bytes < limits::kCommitBatchBytes) {
    bytes += TxnBytes(txns_.front().txn);
    batch.txns.push_back(std::move(txns_.front()));
    txns_.pop_front();
  }
  bytes_ -= bytes;
  batch.closed = closed_ && batch.txns.empty() && !batch.task && txns_.empty() && tasks_.empty();
  return batch;
}

void CommitQueue::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wake_.notify_one();
}

}  // namespace mailroom::storage
