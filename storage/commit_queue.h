// Transactions waiting for the committer, bounded in number and bytes. Any thread pushes, one
// takes.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "storage/store.h"

namespace mailroom::storage {

struct PendingTxn {
  Txn txn;
  Store::CommitDone done;
};

class CommitQueue {
 public:
  // Work of the committer that is not a transaction (compaction); runs between batches.
  using Task = std::function<void()>;
  struct Batch {
    std::vector<PendingTxn> txns;
    Task task;
    bool closed = false;  // and nothing is left
  };

  // Leaves `pending` alone and says why when it cannot be taken.
  Result<void> Push(PendingTxn& pending);
  Result<void> PushTask(Task task);
  // Waits for work, then takes as much as one flush may hold.
  Batch Take();
  // Refuses further work; what was accepted is still handed out.
  void Close();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PendingTxn> txns_;  // this and the rest guarded by mutex_
  std::deque<Task> tasks_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace mailroom::storage
