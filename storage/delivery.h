// The stage after the flush: watches are told, then writers. A thread of its own, so that telling
// one batch overlaps with flushing the next; when there is nothing to overlap, a small batch is
// told at once by the caller. Batches are told in the order of Push, one at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/commit_queue.h"
#include "storage/txn.h"

namespace mailroom::storage {

struct FlushedBatch {
  std::vector<PendingTxn> txns;
  std::vector<Result<Decision>> decisions;  // of each
  std::vector<Revision> revisions;          // after each
  Changes changes;                          // of all
};

class Delivery {
 public:
  explicit Delivery(std::function<void(FlushedBatch)> tell);
  // Tells what was pushed, then ends.
  ~Delivery();

  // One caller only. Waits while too many batches are untold.
  void Push(FlushedBatch batch);
  // Waits until everything pushed has been told.
  void Drain();

 private:
  void Run(std::stop_token stop);

  const std::function<void(FlushedBatch)> tell_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<FlushedBatch> waiting_;  // guarded by mutex_
  bool telling_ = false;              // guarded by mutex_
  std::jthread thread_;               // last: everything it uses exists
};

}  // namespace mailroom::storage
