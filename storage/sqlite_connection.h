// Thin ownership over SQLite's C handles: a connection, a prepared statement, and the mapping of
// SQLite's result codes to Status. Used by sqlite_log only. A connection is used by one thread at
// a time; its owner sees to that.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/object/result.h"

namespace mailroom::storage {

class SqliteStatement {
 public:
  SqliteStatement() = default;
  explicit SqliteStatement(sqlite3_stmt* handle) : handle_(handle, &sqlite3_finalize) {}

  // Parameters and columns are numbered from 1 and from 0, as SQLite does. Bound bytes must stay
  // alive until Reset.
  void BindInt(int index, std::uint64_t value);
  void BindBytes(int index, std::string_view bytes);
  void BindText(int index, std::string_view text);
  void BindNull(int index);
  std::uint64_t Int(int column) const;
  std::string_view Bytes(int column) const;
  // SQLITE_ROW, SQLITE_DONE or an error code.
  int Step() { return sqlite3_step(handle_.get()); }
  void Reset();

 private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle_{nullptr, &sqlite3_finalize};
};

class SqliteConnection {
 public:
  enum class Mode { kReadWrite, kReadOnly };
  // Opens or creates `file` and applies the pragmas every connection needs.
  static Result<SqliteConnection> Open(const std::string& file, Mode mode);

  Result<void> Execute(const char* sql);
  Result<SqliteStatement> Prepare(const char* sql);
  // The single integer that a statement yields.
  Result<std::uint64_t> QueryInt(const char* sql);
  // The error of the last call, as a Status that says what was being done.
  Status Error(std::string_view doing) const;
  sqlite3* handle() const { return handle_.get(); }

 private:
  explicit SqliteConnection(sqlite3* handle) : handle_(handle, &sqlite3_close_v2) {}
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

}  // namespace mailroom::storage
