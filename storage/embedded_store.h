// The engine that needs no other process: a revisioned map of keys in memory over a durable log
// of values on SQLite. One committer thread decides transactions in the order of arrival, flushes
// everything that waits with one fsync, gives the changes to the open watches and only then
// acknowledges. Values stay in the log; only keys and revisions are held in memory.
#pragma once

#include <memory>
#include <string>

#include "storage/change_log.h"
#include "storage/store.h"

namespace mailroom::storage {

// Opens or creates the data directory; clear errors when it is locked by another process, cannot
// be written or comes from a newer version.
Result<std::unique_ptr<Store>> OpenEmbedded(const std::string& directory);
// Forgets all history of a store that nobody has open, and leaves no byte of it in the files.
Result<void> ScrubEmbedded(const std::string& directory);
// The same engine over a log that is gone with the process.
std::unique_ptr<Store> OpenMemory();
// The same engine over any log.
Result<std::unique_ptr<Store>> OpenOverLog(std::unique_ptr<ChangeLog> log);

}  // namespace mailroom::storage
