#include "storage/committer.h"

#include <algorithm>
#include <future>
#include <shared_mutex>

namespace mailroom::storage {

Committer::Committer(ChangeLog& log, Keyspace& keyspace, LiveWatches& watches)
    : log_(log),
      keyspace_(keyspace),
      watches_(watches),
      delivery_([this](FlushedBatch batch) { Tell(std::move(batch)); }),
      thread_([this] { Run(); }) {}

void Committer::Commit(Txn txn, Store::CommitDone done) {
  if (Result<void> checked = CheckTxn(txn); !checked.ok()) {
    done(std::move(checked).error());
    return;
  }
  PendingTxn pending{std::move(txn), std::move(done)};
  Result<bool> pushed = queue_.Push(pending);
  if (!pushed.ok()) {
    pending.done(std::move(pushed).error());
  } else if (*pushed) {
    Work(queue_.TakeNow());
  }
}

Result<void> Committer::Forget(Revision compacted, std::vector<Position> rows) {
  auto forgotten = std::make_shared<std::promise<Result<void>>>();
  TRY(queue_.PushTask([this, compacted, forgotten, rows = std::move(rows)] {
    // Batches that are still to be told may show values that are about to go.
    delivery_.Drain();
    Revision revision;
    {
      std::shared_lock lock(keyspace_.lock);
      revision = keyspace_.revision;
    }
    forgotten->set_value(log_.Forget(compacted, revision, rows));
  }));
  return forgotten->get_future().get();
}

void Committer::Close() {
  queue_.Close();
  std::lock_guard lock(close_mutex_);
  if (thread_.joinable()) thread_.join();
  delivery_.Drain();
}

void Committer::Run() {
  while (true) {
    CommitQueue::Batch batch = queue_.Take();
    if (batch.closed) return;
    Work(std::move(batch));
  }
}

void Committer::Work(CommitQueue::Batch batch) noexcept {
  if (!batch.txns.empty()) Flush(std::move(batch.txns));
  if (batch.task) batch.task();
  queue_.Done();
}

void Committer::DecideAll(FlushedBatch& batch) {
  batch.decisions.reserve(batch.txns.size());
  batch.revisions.reserve(batch.txns.size());
  std::unique_lock lock(keyspace_.lock);
  Revision last = keyspace_.revision;
  for (const PendingTxn& pending : batch.txns) {
    const std::size_t before = batch.changes.size();
    batch.decisions.push_back(Decide(pending.txn, last.Next(), keyspace_.map, batch.changes));
    if (batch.changes.size() > before) last = last.Next();
    batch.revisions.push_back(last);
  }
}

void Committer::Undo(const Changes& changes) {
  std::unique_lock lock(keyspace_.lock);
  for (const LogRow& row : changes.rows) keyspace_.map.Undo(row.key, keyspace_.revision);
}

void Committer::Flush(std::vector<PendingTxn> txns) {
  FlushedBatch batch;
  batch.txns = std::move(txns);
  DecideAll(batch);
  if (!batch.changes.empty()) {
    if (Result<void> flushed = log_.Append(batch.changes.rows); !flushed.ok()) {
      // Later decisions may rest on earlier ones, so all fail alike.
      Undo(batch.changes);
      batch.changes = {};
      for (Result<Decision>& decision : batch.decisions) decision = flushed.error();
    } else {
      std::unique_lock lock(keyspace_.lock);
      keyspace_.revision = batch.revisions.back();
    }
  }
  delivery_.Push(std::move(batch));
}

Result<TxnResult> Committer::Conclude(const FlushedBatch& batch, std::size_t number) {
  if (!batch.decisions[number].ok()) return batch.decisions[number].error();
  const Decision& decision = *batch.decisions[number];
  TxnResult result{decision.committed, batch.revisions[number], {}};
  const std::vector<LogRow>& rows = batch.changes.rows;
  for (const auto& [key, version] : decision.actual) {
    auto row = std::lower_bound(rows.begin(), rows.end(), version.position,
                                [](const LogRow& each, Position at) { return each.position < at; });
    SharedBytes value = row != rows.end() && row->position == version.position
                            ? row->value
                            : TRY(log_.Read(version.position));
    // A value that is gone already was replaced and compacted since; the writer will see that.
    if (!value) continue;
    result.actual.push_back(KeyValue{key, std::move(value), version.created, version.revision()});
  }
  return result;
}

void Committer::Tell(FlushedBatch batch) {
  std::vector<Result<TxnResult>> results;
  results.reserve(batch.txns.size());
  for (std::size_t i = 0; i < batch.txns.size(); ++i) results.push_back(Conclude(batch, i));
  if (!batch.changes.empty()) {
    watches_.Deliver(batch.revisions.back(), [&](bool previous_values) {
      return MakeBatch(log_, std::move(batch.changes), previous_values);
    });
  }
  for (std::size_t i = 0; i < batch.txns.size(); ++i) batch.txns[i].done(std::move(results[i]));
}

}  // namespace mailroom::storage
