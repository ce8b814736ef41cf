// The embedded engine's log on SQLite: one database in WAL mode with synchronous=FULL in a
// directory that one process owns. Checkpoints run on a thread of their own, so that a commit
// pays for one fsync only. Sole user of SQLite.
#pragma once

#include <memory>
#include <string>

#include "storage/change_log.h"

namespace mailroom::storage {

// Creates the directory and database when absent. Refuses a directory that another process has
// open and a database written by a newer version.
Result<std::unique_ptr<ChangeLog>> OpenSqliteLog(const std::string& directory);
// Writes the database anew, so that nothing of what was deleted from it is left in its files.
// Nobody may have it open.
Result<void> RewriteSqliteLog(const std::string& directory);

}  // namespace mailroom::storage
