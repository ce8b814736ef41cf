#include "storage/sqlite_log.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/directory_lock.h"
#include "storage/object/log.h"
#include "storage/sqlite_connection.h"

namespace mailroom::storage {
namespace {

constexpr std::uint64_t kSchemaVersion = 1;
constexpr const char* kSchema =
    "CREATE TABLE log (position INTEGER PRIMARY KEY, created INTEGER NOT NULL, key BLOB NOT NULL,"
    " value BLOB);"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('revision', 0), ('compacted', 0);";

// Copies the pages of the write-ahead log into the database file that no reader holds back, and
// returns how many of the log are there now. Blocks nobody.
int CopyLog(SqliteConnection& connection) {
  int length = 0, copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(connection.handle(), nullptr,
                                             SQLITE_CHECKPOINT_PASSIVE, &length, &copied);
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    Log(Level::kWarn, "checkpoint failed",
        {{"error", connection.Error("copy the write-ahead log").message()}});
  }
  return copied;
}

// Copies the log in a thread of its own whenever it has grown by limits::kWalPages, until so
// little is left that the writer may copy the rest. A log that is copied whole is written from
// its beginning again: syncing a file that does not grow is much cheaper.
class Checkpointer {
 public:
  explicit Checkpointer(SqliteConnection connection)
      : connection_(std::move(connection)), thread_([this](std::stop_token stop) { Run(stop); }) {}

  // Called by the writer after each commit.
  void Grown(int pages) {
    if (pages < seen_) seen_ = 0;
    if (pages - seen_ < limits::kWalPages) return;
    seen_ = pages;
    {
      std::lock_guard lock(mutex_);
      asked_ = true;
    }
    wake_.notify_one();
  }

  // True once whenever the writer should copy what is left.
  bool TakeRest() { return nearly_done_.exchange(false); }

 private:
  void Run(std::stop_token stop) {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (!wake_.wait(lock, stop, [this] { return asked_; })) return;
        asked_ = false;
      }
      // Each pass leaves what was written during it.
      int before = 0, now = CopyLog(connection_);
      while (now - before > limits::kWalPagesWaitedFor && now < limits::kWalPagesAtMost) {
        before = now;
        now = CopyLog(connection_);
      }
      nearly_done_ = true;
    }
  }

  SqliteConnection connection_;  // used by thread_ only
  int seen_ = 0;                 // when last asked; the writer's
  std::atomic<bool> nearly_done_{false};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool asked_ = false;   // guarded by mutex_
  std::jthread thread_;  // last: stops before the rest goes
};

class SqliteLog final : public ChangeLog {
 public:
  static Result<std::unique_ptr<ChangeLog>> Open(const std::string& directory);

  Result<State> Load(const std::function<void(LogRow)>& visit) override;
  Result<void> Append(const std::vector<LogRow>& rows) override;
  Result<SharedBytes> Read(Position position) override;
  Result<std::vector<LogRow>> Scan(Position after, std::size_t limit) override;
  Result<void> Forget(Revision compacted, Revision revision,
                      const std::vector<Position>& rows) override;

 private:
  SqliteLog(DirectoryLock lock, SqliteConnection writer, SqliteConnection reader)
      : lock_(std::move(lock)), writer_(std::move(writer)), reader_(std::move(reader)) {}
  Result<void> PrepareAll();
  // Runs a bound statement of the writer that yields nothing.
  Result<void> Finish(SqliteStatement& statement, const char* doing);
  Result<void> Insert(const LogRow& row);
  Result<void> Erase(Position position);
  // Runs `body` in one write transaction.
  template <typename Body>
  Result<void> Transact(Body body);

  DirectoryLock lock_;
  SqliteConnection writer_;  // with its statements: the committer's
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement insert_;
  SqliteStatement erase_;
  SqliteStatement set_meta_;
  std::mutex read_mutex_;
  SqliteConnection reader_;  // with its statements: guarded by read_mutex_
  SqliteStatement read_;
  SqliteStatement scan_;
  std::optional<Checkpointer> checkpointer_;
};

Result<void> CheckSchema(SqliteConnection& writer, const std::string& file) {
  const std::uint64_t version = TRY(writer.QueryInt("PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return Internal("storage: " + file + " was written by a newer version (schema " +
                    std::to_string(version) + "; this one knows up to " +
                    std::to_string(kSchemaVersion) + ")");
  }
  if (version == kSchemaVersion) return Ok();
  TRY(writer.Execute("BEGIN IMMEDIATE"));
  TRY(writer.Execute(kSchema));
  TRY(writer.Execute("PRAGMA user_version=1"));
  return writer.Execute("COMMIT");
}

Result<std::unique_ptr<ChangeLog>> SqliteLog::Open(const std::string& directory) {
  DirectoryLock lock = TRY(DirectoryLock::Acquire(directory));
  const std::string file = directory + "/mailroom.db";
  using Mode = SqliteConnection::Mode;
  SqliteConnection writer = TRY(SqliteConnection::Open(file, Mode::kReadWrite));
  TRY(writer.Execute("PRAGMA page_size=8192"));
  TRY(writer.Execute("PRAGMA journal_mode=WAL"));
  TRY(writer.Execute("PRAGMA synchronous=FULL"));
  TRY(writer.Execute("PRAGMA wal_autocheckpoint=0"));
  TRY(writer.Execute("PRAGMA cache_size=-8192"));
  TRY(CheckSchema(writer, file));
  SqliteConnection reader = TRY(SqliteConnection::Open(file, Mode::kReadOnly));
  TRY(reader.Execute("PRAGMA cache_size=-2048"));
  SqliteConnection copier = TRY(SqliteConnection::Open(file, Mode::kReadWrite));
  TRY(copier.Execute("PRAGMA synchronous=FULL"));
  TRY(copier.Execute("PRAGMA cache_size=-256"));
  std::unique_ptr<SqliteLog> log(
      new SqliteLog(std::move(lock), std::move(writer), std::move(reader)));
  TRY(log->PrepareAll());
  log->checkpointer_.emplace(std::move(copier));
  return std::unique_ptr<ChangeLog>(std::move(log));
}

Result<void> SqliteLog::PrepareAll() {
  begin_ = TRY(writer_.Prepare("BEGIN IMMEDIATE"));
  commit_ = TRY(writer_.Prepare("COMMIT"));
  insert_ = TRY(writer_.Prepare("INSERT INTO log VALUES (?1, ?2, ?3, ?4)"));
  erase_ = TRY(writer_.Prepare("DELETE FROM log WHERE position = ?1"));
  set_meta_ = TRY(writer_.Prepare("UPDATE meta SET value = ?2 WHERE name = ?1"));
  read_ = TRY(reader_.Prepare("SELECT value FROM log WHERE position = ?1"));
  scan_ = TRY(reader_.Prepare(
      "SELECT position, created, key, value FROM log WHERE position > ?1 ORDER BY position"
      " LIMIT ?2"));
  sqlite3_wal_hook(
      writer_.handle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<SqliteLog*>(self)->checkpointer_->Grown(pages);
        return SQLITE_OK;
      },
      this);
  return Ok();
}

Result<ChangeLog::State> SqliteLog::Load(const std::function<void(LogRow)>& visit) {
  std::lock_guard lock(read_mutex_);
  State state;
  state.revision = Revision(TRY(reader_.QueryInt("SELECT value FROM meta WHERE name='revision'")));
  state.compacted =
      Revision(TRY(reader_.QueryInt("SELECT value FROM meta WHERE name='compacted'")));
  SqliteStatement all =
      TRY(reader_.Prepare("SELECT position, created, key FROM log ORDER BY position"));
  int code = all.Step();
  for (; code == SQLITE_ROW; code = all.Step()) {
    const Position position(all.Int(0));
    state.revision = std::max(state.revision, position.revision());
    visit(LogRow{position, Revision(all.Int(1)), std::string(all.Bytes(2)), nullptr});
  }
  if (code != SQLITE_DONE) return reader_.Error("read the log");
  return state;
}

template <typename Body>
Result<void> SqliteLog::Transact(Body body) {
  TRY(Finish(begin_, "begin"));
  Result<void> done = body();
  if (done.ok()) done = Finish(commit_, "commit");
  if (!done.ok() && sqlite3_get_autocommit(writer_.handle()) == 0) {
    // The reason to report is the one that made the rollback necessary.
    (void)writer_.Execute("ROLLBACK").ok();
  }
  return done;
}

Result<void> SqliteLog::Finish(SqliteStatement& statement, const char* doing) {
  const int code = statement.Step();
  Result<void> done = code == SQLITE_DONE ? Ok() : Result<void>(writer_.Error(doing));
  statement.Reset();
  return done;
}

Result<void> SqliteLog::Insert(const LogRow& row) {
  insert_.BindInt(1, row.position.value());
  insert_.BindInt(2, row.created.value());
  insert_.BindBytes(3, row.key);
  if (row.value) {
    insert_.BindBytes(4, *row.value);
  } else {
    insert_.BindNull(4);
  }
  return Finish(insert_, "write");
}

Result<void> SqliteLog::Erase(Position position) {
  erase_.BindInt(1, position.value());
  return Finish(erase_, "compact");
}

Result<void> SqliteLog::Append(const std::vector<LogRow>& rows) {
  if (checkpointer_->TakeRest()) CopyLog(writer_);
  return Transact([&]() -> Result<void> {
    for (const LogRow& row : rows) TRY(Insert(row));
    return Ok();
  });
}

Result<SharedBytes> SqliteLog::Read(Position position) {
  std::lock_guard lock(read_mutex_);
  read_.BindInt(1, position.value());
  const int code = read_.Step();
  Result<SharedBytes> value = SharedBytes();
  if (code == SQLITE_ROW) {
    value = SharedBytes(std::make_shared<const std::string>(read_.Bytes(0)));
  } else if (code != SQLITE_DONE) {
    value = reader_.Error("read");
  }
  read_.Reset();
  return value;
}

Result<std::vector<LogRow>> SqliteLog::Scan(Position after, std::size_t limit) {
  std::lock_guard lock(read_mutex_);
  std::vector<LogRow> rows;
  scan_.BindInt(1, after.value());
  scan_.BindInt(2, limit);
  int code = scan_.Step();
  for (; code == SQLITE_ROW; code = scan_.Step()) {
    LogRow row{Position(scan_.Int(0)), Revision(scan_.Int(1)), std::string(scan_.Bytes(2)), {}};
    if (row.created != Revision()) {
      row.value = std::make_shared<const std::string>(scan_.Bytes(3));
    }
    rows.push_back(std::move(row));
  }
  Result<std::vector<LogRow>> result(std::move(rows));
  if (code != SQLITE_DONE) result = reader_.Error("read the log");
  scan_.Reset();
  return result;
}

Result<void> SqliteLog::Forget(Revision compacted, Revision revision,
                               const std::vector<Position>& rows) {
  TRY(Transact([&]() -> Result<void> {
    const std::pair<std::string_view, Revision> values[] = {{"compacted", compacted},
                                                            {"revision", revision}};
    for (const auto& [name, value] : values) {
      set_meta_.BindText(1, name);
      set_meta_.BindInt(2, value.value());
      TRY(Finish(set_meta_, "compact"));
    }
    for (Position position : rows) TRY(Erase(position));
    return Ok();
  }));
  // The pages of what is gone need not stay in memory.
  sqlite3_db_release_memory(writer_.handle());
  std::lock_guard lock(read_mutex_);
  sqlite3_db_release_memory(reader_.handle());
  return Ok();
}

}  // namespace

Result<std::unique_ptr<ChangeLog>> OpenSqliteLog(const std::string& directory) {
  return SqliteLog::Open(directory);
}

Result<void> RewriteSqliteLog(const std::string& directory) {
  const DirectoryLock lock = TRY(DirectoryLock::Acquire(directory));
  SqliteConnection whole =
      TRY(SqliteConnection::Open(directory + "/mailroom.db", SqliteConnection::Mode::kReadWrite));
  TRY(whole.Execute("PRAGMA synchronous=FULL"));
  TRY(whole.Execute("VACUUM"));
  return whole.Execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace mailroom::storage
