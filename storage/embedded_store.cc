#include "storage/embedded_store.h"

#include <algorithm>
#include <shared_mutex>

#include "storage/committer.h"
#include "storage/keyspace.h"
#include "storage/live_watches.h"
#include "storage/memory_log.h"
#include "storage/object/resource_key.h"
#include "storage/sqlite_log.h"
#include "storage/txn.h"

namespace mailroom::storage {
namespace {

class EmbeddedStore final : public Store {
 public:
  EmbeddedStore(std::unique_ptr<ChangeLog> log, RevisionMap map, ChangeLog::State state)
      : log_(std::move(log)),
        keyspace_{{}, std::move(map), state.revision, state.compacted},
        watches_(state.revision),
        committer_(*log_, keyspace_, watches_) {}
  ~EmbeddedStore() override { Close(); }

  Result<GetResult> Get(const std::string& key) override;
  Result<ListResult> List(const ListOptions& options) override;
  void Commit(Txn txn, CommitDone done) override {
    committer_.Commit(std::move(txn), std::move(done));
  }
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
  // The rows as changes, with the versions that they replaced. Expired when that is forgotten.
  Result<void> AddHistory(std::vector<LogRow> rows, Position end, Revision after,
                          Changes& changes) const;
  // Delivers what the log holds in (after, through].
  Result<void> Replay(const std::string& prefix, Revision after, Revision through,
                      ChangeSink& sink);

  const std::unique_ptr<ChangeLog> log_;
  Keyspace keyspace_;
  LiveWatches watches_;
  std::mutex compact_mutex_;  // one compaction at a time
  Committer committer_;       // last: its threads use the rest
};

Result<Revision> EmbeddedStore::CurrentRevision() {
  std::shared_lock lock(keyspace_.lock);
  return keyspace_.revision;
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
      std::shared_lock lock(keyspace_.lock);
      result.revision = keyspace_.revision;
      if (const Version* found = keyspace_.map.At(key, result.revision)) version = *found;
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
  std::shared_lock lock(keyspace_.lock);
  selection.revision = options.at.value_or(keyspace_.revision);
  if (selection.revision > keyspace_.revision) {
    return TooLargeResourceVersion(selection.revision.value(), keyspace_.revision.value());
  }
  if (selection.revision < keyspace_.compacted) {
    return Expired("revision " + selection.revision.ToString() + " has been compacted");
  }
  keyspace_.map.Visit(from, PrefixEnd(options.prefix), selection.revision,
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

Result<void> EmbeddedStore::AddHistory(std::vector<LogRow> rows, Position end, Revision after,
                                       Changes& changes) const {
  std::shared_lock lock(keyspace_.lock);
  if (after < keyspace_.compacted) {
    return Expired("revision " + after.ToString() + " was compacted");
  }
  for (LogRow& row : rows) {
    if (row.position > end) break;
    std::optional<Version> replaced;
    const Revision before(row.position.revision().value() - 1);
    if (const Version* old = keyspace_.map.At(row.key, before)) replaced = *old;
    changes.Add(std::move(row), replaced);
  }
  return Ok();
}

Result<void> EmbeddedStore::Replay(const std::string& prefix, Revision after, Revision through,
                                   ChangeSink& sink) {
  const Position end = Position::EndOf(through);
  Position last = Position::EndOf(after);
  Changes held;  // of a revision whose end has not been read yet
  while (true) {
    std::vector<LogRow> rows = TRY(log_->Scan(last, limits::kScanRows));
    const bool complete = rows.size() < limits::kScanRows || rows.back().position > end;
    if (!rows.empty()) last = rows.back().position;
    TRY(AddHistory(std::move(rows), end, after, held));
    std::size_t ready = held.size();
    while (!complete && ready > 0 && held.rows[ready - 1].position.revision() == last.revision()) {
      --ready;
    }
    if (ready > 0) {
      Changes rest;
      for (std::size_t i = ready; i < held.size(); ++i) {
        rest.Add(std::move(held.rows[i]), held.previous[i]);
      }
      held.Truncate(ready);
      ChangeBatch batch = TRY(MakeBatch(*log_, std::move(held), sink.WantsPreviousValues()));
      DeliverSelected(batch, prefix, after, sink);
      held = std::move(rest);
    }
    if (complete) return Ok();
  }
}

Result<std::unique_ptr<WatchHandle>> EmbeddedStore::Watch(const std::string& prefix, Revision after,
                                                          ChangeSink& sink) {
  {
    std::shared_lock lock(keyspace_.lock);
    if (after < keyspace_.compacted) {
      return Expired("revision " + after.ToString() + " was compacted");
    }
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

Result<void> EmbeddedStore::Compact(Revision at) {
  std::lock_guard one(compact_mutex_);
  {
    std::shared_lock lock(keyspace_.lock);
    if (at > keyspace_.revision) {
      return TooLargeResourceVersion(at.value(), keyspace_.revision.value());
    }
    if (at <= keyspace_.compacted) return Ok();
  }
  // On disk first: a crash in between then leaves rows too many, never history with holes.
  TRY(committer_.Forget(at, {}));
  {
    std::unique_lock lock(keyspace_.lock);
    keyspace_.compacted = at;
  }
  std::string next;
  do {
    RevisionMap::Pruned pruned;
    {
      std::unique_lock lock(keyspace_.lock);
      pruned = keyspace_.map.Prune(next, at, limits::kPruneKeys);
    }
    next = std::move(pruned.next);
    if (!pruned.positions.empty()) TRY(committer_.Forget(at, std::move(pruned.positions)));
  } while (!next.empty());
  std::unique_lock lock(keyspace_.lock);
  keyspace_.map.Settle();
  return Ok();
}

void EmbeddedStore::Close() {
  committer_.Close();
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

Result<void> ScrubEmbedded(const std::string& directory) {
  {
    auto store = TRY(OpenEmbedded(directory));
    auto forgotten = store->Compact(TRY(store->CurrentRevision()));
    store->Close();
    TRY(std::move(forgotten));
  }
  return RewriteSqliteLog(directory);
}

std::unique_ptr<Store> OpenMemory() { return OpenOverLog(NewMemoryLog()).value(); }

}  // namespace mailroom::storage
