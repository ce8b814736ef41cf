// Transactions waiting for the committer, bounded in number and bytes. Any thread pushes; who
// takes a batch has the turn until it is done, so one at a time flushes: the committer's thread,
// or a pusher that waits anyway and found nobody at work, which saves two thread switches.
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

  // True when the turn is now the caller's, who must call TakeNow. Leaves `pending` alone and says
  // why when it cannot be taken.
  Result<bool> Push(PendingTxn& pending);
  Result<void> PushTask(Task task);
  // Waits for work and the turn, then takes as much as one flush may hold.
  Batch Take();
  // The same for one who has the turn.
  Batch TakeNow();
  // Gives the turn back.
  void Done();
  // Refuses further work; what was accepted is still handed out.
  void Close();

 private:
  Batch TakeLocked();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PendingTxn> txns_;  // this and the rest guarded by mutex_
  std::deque<Task> tasks_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  bool taken_ = false;  // somebody has the turn
};

}  // namespace mailroom::storage
