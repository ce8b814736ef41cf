// Deciding one transaction of the embedded engine against its revision map. Pure but for the
// map; called by the committer with the map locked.
#pragma once

#include <vector>

#include "storage/revision_map.h"
#include "storage/store.h"

namespace mailroom::storage {

// A change decided but not yet flushed.
struct PendingChange {
  LogRow row;
  std::optional<Version> previous;  // the version it replaces
};

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
Result<Decision> Decide(const Txn& txn, Revision revision, RevisionMap& map,
                        std::vector<PendingChange>& changes);

}  // namespace mailroom::storage
