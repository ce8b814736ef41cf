#include "storage/embedded_store.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <shared_mutex>
#include <thread>

#include "storage/commit_queue.h"
#include "storage/live_watches.h"
#include "storage/memory_log.h"
#include "storage/object/resource_key.h"
#include "storage/revision_map.h"
#include "storage/rw_lock.h"
#include "storage/sqlite_log.h"
#include "storage/txn.h"

namespace mailroom::storage {
namespace {

class EmbeddedStore final : public Store {
 public:
  EmbeddedStore(std::unique_ptr<ChangeLog> log, RevisionMap map, ChangeLog::State state)
      : log_(std::move(log)),
        watches_(state.revision),
        map_(std::move(map)),
        revision_(state.revision),
        compacted_(state.compacted),
        committer_([this] { RunCommitter(); }) {}
  ~EmbeddedStore() override { Close(); }

  Result<GetResult> Get(const std::string& key) override;
  Result<ListResult> List(const ListOptions& options) override;
  void Commit(Txn txn, CommitDone done) override;
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override;
  Result<void> Compact(Revision at) override;
  Result<Revision> CurrentRevision() override;
  void Close() override;

 private:
  struct Found {
    std::string key;
    Version version;
  };
  struct Selection {
    std::vector<Found> found;
    Revision revision;
    bool more = false;
  };
  Result<Selection> SelectVersions(const ListOptions& options) const;
  // The entry of a version whose row may have been compacted away meanwhile (then nullopt).
  Result<std::optional<KeyValue>> ReadEntry(const std::string& key, const Version& version);

  void RunCommitter();
  void CommitBatch(std::vector<PendingTxn>& txns);
  std::vector<Result<Decision>> DecideAll(const std::vector<PendingTxn>& txns,
                                          std::vector<PendingChange>& changes,
                                          std::vector<Revision>& revisions);
  void Undo(const std::vector<PendingChange>& changes);
  void Publish(Revision revision);
  Result<ChangeBatch> MakeBatch(std::vector<PendingChange> changes, bool previous_values);
  Result<TxnResult> Conclude(const Decision& decision, Revision revision,
                             const std::vector<PendingChange>& changes);
  Result<void> ForgetRows(Revision at, std::vector<Position> rows);
  // Delivers what the log holds in (after, through].
  Result<void> Replay(const std::string& prefix, Revision after, Revision through,
                      ChangeSink& sink);

  const std::unique_ptr<ChangeLog> log_;
  CommitQueue queue_;
  LiveWatches watches_;
  mutable RwLock map_lock_;
  RevisionMap map_;    // this and the next two guarded by map_lock_; written by the committer
  Revision revision_;  // published: readers see nothing newer
  Revision compacted_;
  std::mutex compact_mutex_;  // one compaction at a time
  std::mutex close_mutex_;
  std::jthread committer_;  // last: everything it uses exists
};

Result<Revision> EmbeddedStore::CurrentRevision() {
  std::shared_lock lock(map_lock_);
  return revision_;
}

Result<std::optional<KeyValue>> EmbeddedStore::ReadEntry(const std::string& key,
                                                         const Version& version) {
  SharedBytes value = TRY(log_->Read(version.position));
  if (!value) return std::optional<KeyValue>();
  return std::optional<KeyValue>(
      KeyValue{key, std::move(value), version.created, version.revision()});
}

Result<GetResult> EmbeddedStore::Get(const std::string& key) {
  while (true) {
    GetResult result;
    std::optional<Version> version;
    {
      std::shared_lock lock(map_lock_);
      result.revision = revision_;
      if (const Version* found = map_.At(key, revision_)) version = *found;
    }
    if (!version) return result;
    result.entry = TRY(ReadEntry(key, *version));
    if (result.entry) return result;
  }
}

Result<EmbeddedStore::Selection> EmbeddedStore::SelectVersions(const ListOptions& options) const {
  Selection selection;
  std::string from = options.prefix;
  if (!options.start_after.empty()) from = std::max(from, options.start_after + '\0');
  std::shared_lock lock(map_lock_);
  selection.revision = options.at.value_or(revision_);
  if (selection.revision > revision_) {
    return TooLargeResourceVersion(selection.revision.value(), revision_.value());
  }
  if (selection.revision < compacted_) {
    return Expired("revision " + selection.revision.ToString() + " has been compacted");
  }
  map_.Visit(from, PrefixEnd(options.prefix), selection.revision,
             [&](const std::string& key, const Version& version) {
               if (options.limit != 0 && selection.found.size() == options.limit) {
                 selection.more = true;
                 return false;
               }
               selection.found.push_back(Found{key, version});
               return true;
             });
  return selection;
}

Result<ListResult> EmbeddedStore::List(const ListOptions& options) {
  while (true) {
    Selection selection = TRY(SelectVersions(options));
    ListResult result;
    result.revision = selection.revision;
    result.more = selection.more;
    result.entries.reserve(selection.found.size());
    for (Found& found : selection.found) {
      std::optional<KeyValue> entry = TRY(ReadEntry(found.key, found.version));
      if (!entry) break;
      result.entries.push_back(std::move(*entry));
    }
    // A row that vanished was compacted while we read: with a revision given, the next round
    // says Expired; otherwise it reads a newer state.
    if (result.entries.size() == selection.found.size()) return result;
  }
}

void EmbeddedStore::Commit(Txn txn, CommitDone done) {
  if (Result<void> checked = CheckTxn(txn); !checked.ok()) {
    done(std::move(checked).error());
    return;
  }
  PendingTxn pending{std::move(txn), std::move(done)};
  if (Result<void> pushed = queue_.Push(pending); !pushed.ok()) {
    pending.done(std::move(pushed).error());
  }
}

void EmbeddedStore::RunCommitter() {
  while (true) {
    CommitQueue::Batch batch = queue_.Take();
    if (batch.closed) return;
    if (!batch.txns.empty()) CommitBatch(batch.txns);
    if (batch.task) batch.task();
  }
}

std::vector<Result<Decision>> EmbeddedStore::DecideAll(const std::vector<PendingTxn>& txns,
                                                       std::vector<PendingChange>& changes,
                                                       std::vector<Revision>& revisions) {
  std::vector<Result<Decision>> decisions;
  decisions.reserve(txns.size());
  std::unique_lock lock(map_lock_);
  Revision last = revision_;
  for (const PendingTxn& pending : txns) {
    const std::size_t before = changes.size();
    decisions.push_back(Decide(pending.txn, last.Next(), map_, changes));
    if (changes.size() > before) last = last.Next();
    revisions.push_back(last);
  }
  return decisions;
}

void EmbeddedStore::Undo(const std::vector<PendingChange>& changes) {
  std::unique_lock lock(map_lock_);
  for (const PendingChange& change : changes) map_.Undo(change.row.key, revision_);
}

void EmbeddedStore::Publish(Revision revision) {
  std::unique_lock lock(map_lock_);
  revision_ = revision;
}

Result<ChangeBatch> EmbeddedStore::MakeBatch(std::vector<PendingChange> changes,
                                             bool previous_values) {
  ChangeBatch batch;
  batch.revision = changes.back().row.position.revision();
  batch.changes.reserve(changes.size());
  for (PendingChange& pending : changes) {
    LogRow& row = pending.row;
    Change change;
    change.type = row.value ? Change::Type::kPut : Change::Type::kDelete;
    if (pending.previous) {
      change.previous =
          KeyValue{row.key, nullptr, pending.previous->created, pending.previous->revision()};
      if (previous_values) {
        change.previous->value = TRY(log_->Read(pending.previous->position));
        if (!change.previous->value) return Expired("history was compacted while being read");
      }
    }
    change.entry =
        KeyValue{std::move(row.key), std::move(row.value), row.created, row.position.revision()};
    batch.changes.push_back(std::move(change));
  }
  return batch;
}

Result<TxnResult> EmbeddedStore::Conclude(const Decision& decision, Revision revision,
                                          const std::vector<PendingChange>& changes) {
  TxnResult result{decision.committed, revision, {}};
  for (const auto& [key, version] : decision.actual) {
    auto pending = std::lower_bound(
        changes.begin(), changes.end(), version.position,
        [](const PendingChange& change, Position at) { return change.row.position < at; });
    if (pending != changes.end() && pending->row.position == version.position) {
      result.actual.push_back(
          KeyValue{key, pending->row.value, version.created, version.revision()});
      continue;
    }
    std::optional<KeyValue> entry = TRY(ReadEntry(key, version));
    if (entry) result.actual.push_back(std::move(*entry));
  }
  return result;
}

void EmbeddedStore::CommitBatch(std::vector<PendingTxn>& txns) {
  std::vector<PendingChange> changes;
  std::vector<Revision> revisions;
  std::vector<Result<Decision>> decisions = DecideAll(txns, changes, revisions);

  std::vector<Result<TxnResult>> results;
  results.reserve(txns.size());
  if (!changes.empty()) {
    std::vector<LogRow> rows;
    rows.reserve(changes.size());
    for (const PendingChange& change : changes) rows.push_back(change.row);
    if (Result<void> flushed = log_->Append(rows); !flushed.ok()) {
      // Later decisions may rest on earlier ones, so all fail alike.
      Undo(changes);
      for (PendingTxn& pending : txns) pending.done(flushed.error());
      return;
    }
    Publish(changes.back().row.position.revision());
  }
  for (std::size_t i = 0; i < txns.size(); ++i) {
    results.push_back(decisions[i].ok() ? Conclude(*decisions[i], revisions[i], changes)
                                        : Result<TxnResult>(decisions[i].error()));
  }
  if (!changes.empty()) {
    const Revision revision = changes.back().row.position.revision();
    Result<ChangeBatch> batch = MakeBatch(std::move(changes), watches_.WantsPreviousValues());
    if (batch.ok()) {
      watches_.Deliver(*batch);
    } else {
      watches_.Break(revision, batch.error());
    }
  }
  for (std::size_t i = 0; i < txns.size(); ++i) txns[i].done(std::move(results[i]));
}

Result<void> EmbeddedStore::Replay(const std::string& prefix, Revision after, Revision through,
                                   ChangeSink& sink) {
  Position last = Position::EndOf(after);
  const Position end = Position::EndOf(through);
  std::vector<PendingChange> held;  // changes of a revision whose end has not been read yet
  while (last < end) {
    std::vector<LogRow> rows = TRY(log_->Scan(last, limits::kScanRows));
    const bool complete = rows.size() < limits::kScanRows || rows.back().position > end;
    {
      std::shared_lock lock(map_lock_);
      if (after < compacted_) return Expired("revision " + after.ToString() + " was compacted");
      for (LogRow& row : rows) {
        if (row.position > end) break;
        last = row.position;
        PendingChange change{std::move(row), {}};
        const Revision before(last.revision().value() - 1);
        if (const Version* old = map_.At(change.row.key, before)) change.previous = *old;
        held.push_back(std::move(change));
      }
    }
    std::size_t ready = held.size();
    if (!complete) {
      while (ready > 0 && held[ready - 1].row.position.revision() == last.revision()) --ready;
    }
    if (ready > 0) {
      const auto middle = held.begin() + static_cast<std::ptrdiff_t>(ready);
      std::vector<PendingChange> rest(std::make_move_iterator(middle),
                                      std::make_move_iterator(held.end()));
      held.resize(ready);
      ChangeBatch batch = TRY(MakeBatch(std::move(held), sink.WantsPreviousValues()));
      DeliverSelected(batch, prefix, after, sink);
      held = std::move(rest);
    }
    if (complete) break;
  }
  return Ok();
}

Result<std::unique_ptr<WatchHandle>> EmbeddedStore::Watch(const std::string& prefix, Revision after,
                                                          ChangeSink& sink) {
  {
    std::shared_lock lock(map_lock_);
    if (after < compacted_) return Expired("revision " + after.ToString() + " was compacted");
  }
  // Most of the history is replayed while commits go on; only the rest holds up delivery.
  Revision reached = after;
  const Revision first = watches_.delivered();
  if (first > reached) {
    TRY(Replay(prefix, reached, first, sink));
    reached = first;
  }
  return watches_.Join(prefix, after, sink, [&](Revision delivered) -> Result<void> {
    if (delivered > reached) return Replay(prefix, reached, delivered, sink);
    return Ok();
  });
}

Result<void> EmbeddedStore::ForgetRows(Revision at, std::vector<Position> rows) {
  auto forgotten = std::make_shared<std::promise<Result<void>>>();
  TRY(queue_.PushTask([this, at, forgotten, rows = std::move(rows)] {
    Revision revision;
    {
      std::shared_lock lock(map_lock_);
      revision = revision_;
    }
    forgotten->set_value(log_->Forget(at, revision, rows));
  }));
  return forgotten->get_future().get();
}

Result<void> EmbeddedStore::Compact(Revision at) {
  std::lock_guard one(compact_mutex_);
  {
    std::shared_lock lock(map_lock_);
    if (at > revision_) return TooLargeResourceVersion(at.value(), revision_.value());
    if (at <= compacted_) return Ok();
  }
  // On disk first: a crash in between then leaves rows too many, never history with holes.
  TRY(ForgetRows(at, {}));
  {
    std::unique_lock lock(map_lock_);
    compacted_ = at;
  }
  std::string next;
  do {
    RevisionMap::Pruned pruned;
    {
      std::unique_lock lock(map_lock_);
      pruned = map_.Prune(next, at, limits::kPruneKeys);
    }
    next = std::move(pruned.next);
    if (!pruned.positions.empty()) TRY(ForgetRows(at, std::move(pruned.positions)));
  } while (!next.empty());
  return Ok();
}

void EmbeddedStore::Close() {
  queue_.Close();
  std::lock_guard lock(close_mutex_);
  if (committer_.joinable()) committer_.join();
  watches_.End(Unavailable("the store is closed"));
}

}  // namespace

Result<std::unique_ptr<Store>> OpenOverLog(std::unique_ptr<ChangeLog> log) {
  RevisionMap map;
  ChangeLog::State state = TRY(log->Load([&](LogRow row) {
    map.Apply(row.key, Version{row.position, row.created});
  }));
  return std::unique_ptr<Store>(
      std::make_unique<EmbeddedStore>(std::move(log), std::move(map), state));
}

Result<std::unique_ptr<Store>> OpenEmbedded(const std::string& directory) {
  return OpenOverLog(TRY(OpenSqliteLog(directory)));
}

std::unique_ptr<Store> OpenMemory() { return OpenOverLog(NewMemoryLog()).value(); }

}  // namespace mailroom::storage
