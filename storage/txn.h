// Deciding one transaction of the embedded engine against its revision map. Pure but for the
// map; called by the committer with the map locked.
#pragma once

#include <vector>

#include "storage/revision_map.h"
#include "storage/store.h"

namespace mailroom::storage {

// Changes in order of position, each with the version that it replaces.
struct Changes {
  std::vector<LogRow> rows;
  std::vector<std::optional<Version>> previous;

  bool empty() const { return rows.empty(); }
  std::size_t size() const { return rows.size(); }
  void Add(LogRow row, std::optional<Version> replaced);
  // Keeps the first `count`.
  void Truncate(std::size_t count);
};

// The changes as a watch tells them. Expired when a wanted previous value has been forgotten.
Result<ChangeBatch> MakeBatch(ChangeLog& log, Changes changes, bool previous_values);

struct Decision {
  bool committed = false;
  std::vector<std::pair<std::string, Version>> actual;  // when not committed
};

// What no state of the store could make acceptable: too many operations, too large a value, a key
// written twice.
Result<void> CheckTxn(const Txn& txn);
// The bytes that `txn` keeps in memory while it waits.
std::size_t TxnBytes(const Txn& txn);
// Applies `txn` to `map` at `revision` when its compares hold, appending what changed. Fails,
// leaving both as they were, when it changes more than a revision can hold.
Result<Decision> Decide(const Txn& txn, Revision revision, RevisionMap& map, Changes& changes);

}  // namespace mailroom::storage
