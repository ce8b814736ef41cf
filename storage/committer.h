// The embedded engine's only writer. Decides waiting transactions in the order of arrival, each
// seeing the ones before it, flushes all of them with one fsync and publishes them; then the
// delivery stage tells the watches and acknowledges. When a flush fails, nothing of it remains and
// all its writers are told why. A lone writer does all this in its own thread.
#pragma once

#include <mutex>
#include <thread>

#include "storage/change_log.h"
#include "storage/commit_queue.h"
#include "storage/delivery.h"
#include "storage/keyspace.h"
#include "storage/live_watches.h"

namespace mailroom::storage {

class Committer {
 public:
  // All three must outlive it.
  Committer(ChangeLog& log, Keyspace& keyspace, LiveWatches& watches);
  ~Committer() { Close(); }

  // Blocks for a flush only one that `waits`.
  void Commit(Txn txn, Store::CommitDone done);
  // Removes rows that no reader can reach, after everything flushed before has been told.
  Result<void> Forget(Revision compacted, std::vector<Position> rows);
  // Refuses further work and finishes what was accepted. Idempotent.
  void Close();

 private:
  void Run();
  // Does what was taken from the queue and gives the turn back.
  void Work(CommitQueue::Batch batch) noexcept;
  void Flush(std::vector<PendingTxn> txns);
  void DecideAll(FlushedBatch& batch);
  void Undo(const Changes& changes);
  void Tell(FlushedBatch batch);
  Result<TxnResult> Conclude(const FlushedBatch& batch, std::size_t number);

  ChangeLog& log_;
  Keyspace& keyspace_;
  LiveWatches& watches_;
  CommitQueue queue_;
  Delivery delivery_;
  std::mutex close_mutex_;
  std::jthread thread_;  // last: everything it uses exists
};

}  // namespace mailroom::storage
