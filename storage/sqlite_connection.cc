#include "storage/sqlite_connection.h"

#include "storage/object/limits.h"

namespace mailroom::storage {

void SqliteStatement::BindInt(int index, std::uint64_t value) {
  sqlite3_bind_int64(handle_.get(), index, static_cast<sqlite3_int64>(value));
}

void SqliteStatement::BindBytes(int index, std::string_view bytes) {
  sqlite3_bind_blob64(handle_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
}

void SqliteStatement::BindText(int index, std::string_view text) {
  sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::BindNull(int index) { sqlite3_bind_null(handle_.get(), index); }

std::uint64_t SqliteStatement::Int(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(handle_.get(), column));
}

std::string_view SqliteStatement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return data ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size))
              : std::string_view();
}

void SqliteStatement::Reset() { sqlite3_reset(handle_.get()); }

namespace {

// The directory's lock keeps other processes out, so SQLite's own need not leave this one. A
// default other than SQLite's usual one was put there on purpose.
const char* Locking() {
  const sqlite3_vfs* usual = sqlite3_vfs_find(nullptr);
  return usual != nullptr && std::string_view(usual->zName) == "unix" ? "unix-excl" : nullptr;
}

}  // namespace

Result<SqliteConnection> SqliteConnection::Open(const std::string& file, Mode mode) {
  sqlite3* handle = nullptr;
  const int flags =
      SQLITE_OPEN_NOMUTEX |
      (mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, Locking());
  if (!handle) return Internal("storage: out of memory opening " + file);
  SqliteConnection connection(handle);
  if (code != SQLITE_OK) return connection.Error("open " + file);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, limits::kDatabaseBusyMs);
  // Writing into a log that is long already is cheaper than making it long anew.
  int persist = 1;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  return connection;
}

Result<void> SqliteConnection::Execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Error(sql);
  return Ok();
}

Result<SqliteStatement> SqliteConnection::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK) {
    return Error(sql);
  }
  return SqliteStatement(statement);
}

Result<std::uint64_t> SqliteConnection::QueryInt(const char* sql) {
  SqliteStatement statement = TRY(Prepare(sql));
  if (statement.Step() != SQLITE_ROW) return Error(sql);
  return statement.Int(0);
}

Status SqliteConnection::Error(std::string_view doing) const {
  const int code = sqlite3_extended_errcode(handle());
  std::string message = "storage: cannot " + std::string(doing) + ": " + sqlite3_errmsg(handle()) +
                        " (SQLite code " + std::to_string(code) + ")";
  constexpr int kInsufficientStorage = 507;
  if ((code & 0xff) == SQLITE_FULL) {
    return Status(Reason::kInternalError, kInsufficientStorage, std::move(message));
  }
  return Internal(message);
}

}  // namespace mailroom::storage
