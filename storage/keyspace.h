// The embedded engine's state in memory: which keys exist, at which revisions, and how far the
// store has come. Shared by readers, the committer and compaction.
#pragma once

#include "storage/revision_map.h"
#include "storage/rw_lock.h"

namespace mailroom::storage {

struct Keyspace {
  mutable RwLock lock;
  RevisionMap map;     // this and the rest guarded by lock
  Revision revision;   // published: readers see nothing newer
  Revision compacted;  // reads below this are Expired
};

}  // namespace mailroom::storage
