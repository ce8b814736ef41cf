#include "storage/embedded_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "storage/memory_log.h"
#include "storage/object/limits.h"
#include "storage/store_contract.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using testing::Delete;
using testing::DeletePrefix;
using testing::MustCommit;
using testing::Put;
using testing::RecordingSink;
using testing::StoreContract;
using testing::TemporaryDirectory;
using testing::Write;

std::unique_ptr<Store> MustOpen(const std::string& directory) {
  Result<std::unique_ptr<Store>> store = OpenEmbedded(directory);
  EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message());
  return store.ok() ? std::move(*store) : nullptr;
}

// A store that takes its directory along when it goes.
class DisposableStore final : public Store {
 public:
  Result<GetResult> Get(const std::string& key) override { return store_->Get(key); }
  Result<ListResult> List(const ListOptions& options) override { return store_->List(options); }
  void Commit(Txn txn, CommitDone done) override {
    store_->Commit(std::move(txn), std::move(done));
  }
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    return store_->Watch(prefix, after, sink);
  }
  Result<void> Compact(Revision at) override { return store_->Compact(at); }
  Result<Revision> CurrentRevision() override { return store_->CurrentRevision(); }
  void Close() override { store_->Close(); }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_ = MustOpen(directory_.path());
};

INSTANTIATE_TEST_SUITE_P(
    Engines, StoreContract,
    ::testing::Values(testing::StoreFactory{"Embedded",
                                            [] { return std::make_unique<DisposableStore>(); }},
                      testing::StoreFactory{"Memory", [] { return OpenMemory(); }}),
    testing::FactoryName);

TEST(EmbeddedStore, SurvivesARestart) {
  TemporaryDirectory directory;
  Revision last;
  {
    auto store = MustOpen(directory.path());
    const Revision first = MustCommit(*store, Write({Put("/a", "1"), Put("/b", "1")}));
    MustCommit(*store, Write({Put("/a", "2")}));
    last = MustCommit(*store, Write({DeletePrefix("/")}));
    EXPECT_EQ(last.value(), first.value() + 2);
  }
  {
    auto store = MustOpen(directory.path());
    EXPECT_EQ(*store->CurrentRevision(), last);
    EXPECT_EQ(store->List({.prefix = "/", .at = Revision(last.value() - 1)})->entries.size(), 2u);
    RecordingSink sink;
    auto watch = store->Watch("/", Revision(), sink);
    ASSERT_TRUE(watch.ok());
    EXPECT_EQ(sink.WaitFor(last).size(), 5u);
    ASSERT_TRUE(store->Compact(last).ok());
  }
  auto store = MustOpen(directory.path());
  EXPECT_EQ(*store->CurrentRevision(), last) << "the counter must not fall when all rows are gone";
  EXPECT_EQ(store->List({.prefix = "/", .at = Revision(1)}).error().reason(), Reason::kExpired);
  EXPECT_EQ(MustCommit(*store, Write({Put("/a", "3")})), last.Next());
}

TEST(EmbeddedStore, CompactionFreesRows) {
  TemporaryDirectory directory;
  Revision last;
  auto store = MustOpen(directory.path());
  for (int i = 0; i < 100; ++i) {
    last = MustCommit(*store, Write({Put("/a", std::to_string(i)), Put("/b", "x")}));
  }
  MustCommit(*store, Write({Delete("/b")}));
  last = MustCommit(*store, Write({Put("/c", "x")}));
  ASSERT_TRUE(store->Compact(last).ok());
  store.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory.path() + "/mailroom.db").c_str(), &database), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, "SELECT count(*) FROM log", -1, &statement, nullptr);
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_EQ(sqlite3_column_int(statement, 0), 2);
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

TEST(EmbeddedStore, RefusesALockedDirectory) {
  TemporaryDirectory directory;
  auto store = MustOpen(directory.path());
  Result<std::unique_ptr<Store>> second = OpenEmbedded(directory.path());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find("in use by another process"), std::string::npos);
  store.reset();
  EXPECT_TRUE(OpenEmbedded(directory.path()).ok());
}

TEST(EmbeddedStore, RefusesANewerSchema) {
  TemporaryDirectory directory;
  MustOpen(directory.path()).reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory.path() + "/mailroom.db").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  Result<std::unique_ptr<Store>> store = OpenEmbedded(directory.path());
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message().find("newer version"), std::string::npos);
}

TEST(EmbeddedStore, RefusesWhatIsNoDirectory) {
  TemporaryDirectory directory;
  const std::string file = directory.path() + "/file";
  std::ofstream(file) << "x";
  EXPECT_FALSE(OpenEmbedded(file).ok());
  std::ofstream(directory.path() + "/mailroom.db") << std::string(8192, 'x');
  Result<std::unique_ptr<Store>> store = OpenEmbedded(directory.path());
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message().find("not a database"), std::string::npos);
}

// A file size limit stands for a full disk: writes fail, and succeed again when it is lifted.
TEST(EmbeddedStore, FailedWritesChangeNothingAndWorkContinues) {
  TemporaryDirectory directory;
  auto store = MustOpen(directory.path());
  const Revision before = MustCommit(*store, Write({Put("/a", "1")}));
  RecordingSink sink;
  auto watch = store->Watch("/", before, sink);
  ASSERT_TRUE(watch.ok());

  struct sigaction ignore = {}, old = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &old);
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  rlimit small = limit;
  small.rlim_cur = 64 * 1024;
  setrlimit(RLIMIT_FSIZE, &small);
  Result<TxnResult> failed = TxnResult{};
  for (int i = 0; i < 100 && failed.ok(); ++i) {
    failed = CommitAndWait(*store, Write({Put("/a", "2"), Put("/big", std::string(200'000, 'x'))}));
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  sigaction(SIGXFSZ, &old, nullptr);

  ASSERT_FALSE(failed.ok());
  EXPECT_GE(failed.error().code(), 500);
  EXPECT_NE(failed.error().message().find("storage"), std::string::npos);
  EXPECT_EQ(*store->CurrentRevision(), before);
  EXPECT_EQ(*store->Get("/a")->entry->value, "1");
  EXPECT_FALSE(store->Get("/big")->entry);
  const Revision after = MustCommit(*store, Write({Put("/a", "3")}));
  EXPECT_EQ(after, before.Next());
  EXPECT_EQ(sink.WaitFor(after).size(), 1u);
  watch->reset();
  store.reset();
  store = MustOpen(directory.path());
  EXPECT_EQ(*store->CurrentRevision(), after);
  EXPECT_EQ(*store->Get("/a")->entry->value, "3");
}

// A log whose flush can be held up or made to fail.
class ScriptedLog final : public ChangeLog {
 public:
  struct Script {
    std::mutex mutex;
    std::condition_variable changed;
    bool held = false;
    bool failing = false;
    std::vector<std::size_t> batches;
  };
  explicit ScriptedLog(Script& script) : script_(script) {}
  Result<State> Load(const std::function<void(LogRow)>& visit) override {
    return log_->Load(visit);
  }
  Result<void> Append(const std::vector<LogRow>& rows) override {
    std::unique_lock lock(script_.mutex);
    script_.batches.push_back(rows.size());
    script_.changed.notify_all();
    script_.changed.wait(lock, [&] { return !script_.held; });
    if (script_.failing) return Internal("the disk is gone");
    return log_->Append(rows);
  }
  Result<SharedBytes> Read(Position position) override { return log_->Read(position); }
  Result<std::vector<LogRow>> Scan(Position after, std::size_t limit) override {
    return log_->Scan(after, limit);
  }
  Result<void> Forget(Revision compacted, Revision revision,
                      const std::vector<Position>& rows) override {
    return log_->Forget(compacted, revision, rows);
  }

 private:
  Script& script_;
  std::unique_ptr<ChangeLog> log_ = NewMemoryLog();
};

struct HeldStore {
  HeldStore() {
    script.held = true;
    store->Commit(Write({Put("/first", "x")}), [](Result<TxnResult>) {});
    std::unique_lock lock(script.mutex);
    script.changed.wait(lock, [&] { return script.batches.size() == 1; });
  }
  void Release(bool failing = false) {
    std::lock_guard lock(script.mutex);
    script.held = false;
    script.failing = failing;
    script.changed.notify_all();
  }
  ScriptedLog::Script script;
  std::unique_ptr<Store> store = OpenOverLog(std::make_unique<ScriptedLog>(script)).value();
};

TEST(GroupCommit, WhatWaitsIsFlushedTogetherAndSeesItsPredecessors) {
  HeldStore held;
  std::vector<std::future<Result<TxnResult>>> decided;
  auto commit = [&](Txn txn) {
    auto promise = std::make_shared<std::promise<Result<TxnResult>>>();
    decided.push_back(promise->get_future());
    held.store->Commit(std::move(txn), [promise](Result<TxnResult> result) {
      promise->set_value(std::move(result));
    });
  };
  commit(Txn{{{"/a", Revision()}}, {Put("/a", "1")}});     // revision 2
  commit(Txn{{{"/a", Revision()}}, {Put("/a", "lost")}});  // sees the one before
  commit(Txn{{{"/a", Revision(2)}}, {Put("/a", "2")}});    // revision 3
  commit(Write({Put("/b/1", "x"), Put("/b/2", "x")}));     // revision 4
  commit(Write({DeletePrefix("/b/")}));                    // revision 5
  EXPECT_FALSE(held.store->Get("/first")->entry) << "not flushed, so not visible";
  held.Release();
  const bool committed[] = {true, false, true, true, true};
  for (std::size_t i = 0; i < decided.size(); ++i) {
    Result<TxnResult> result = decided[i].get();
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->committed, committed[i]) << i;
    if (i == 1) {
      ASSERT_EQ(result->actual.size(), 1u);
      EXPECT_EQ(*result->actual[0].value, "1");
    }
  }
  EXPECT_EQ(held.script.batches, (std::vector<std::size_t>{1, 6}));
  EXPECT_EQ(*held.store->CurrentRevision(), Revision(5));
  EXPECT_EQ(held.store->List({.prefix = "/b/"})->entries.size(), 0u);
}

TEST(GroupCommit, AFailedFlushFailsAllAndLeavesNoTrace) {
  HeldStore held;
  std::promise<Result<TxnResult>> promise;
  held.store->Commit(Write({Put("/a", "1"), Put("/first", "y")}),
                     [&](Result<TxnResult> result) { promise.set_value(std::move(result)); });
  held.Release(/*failing=*/true);
  EXPECT_FALSE(promise.get_future().get().ok());
  EXPECT_EQ(*held.store->CurrentRevision(), Revision(0));
  EXPECT_TRUE(held.store->List({.prefix = "/"})->entries.empty());
  held.Release();
  EXPECT_EQ(MustCommit(*held.store, Txn{{{"/a", Revision()}}, {Put("/a", "2")}}), Revision(1));
}

TEST(GroupCommit, AFullQueueRefuses) {
  HeldStore held;
  std::atomic<int> refused = 0, accepted = 0;
  for (std::size_t i = 0; i < limits::kCommitQueue + 10; ++i) {
    held.store->Commit(Write({Put("/a", "1")}), [&](Result<TxnResult> result) {
      if (result.ok()) {
        ++accepted;
      } else if (result.error().reason() == Reason::kTooManyRequests) {
        ++refused;
      }
    });
  }
  EXPECT_EQ(refused, 10);
  held.Release();
  held.store->Close();
  EXPECT_EQ(accepted, static_cast<int>(limits::kCommitQueue));
}

// A child writes and reports what was acknowledged; it is killed at a random moment. Whatever it
// reported must be there, and no transaction may be torn.
TEST(Crash, AcknowledgedWritesSurviveKill) {
  int rounds = 20;
  if (const char* text = std::getenv("MAILROOM_CRASH_ROUNDS")) rounds = std::atoi(text);
  TemporaryDirectory directory;
  std::mt19937 random(20240);
  std::uint64_t acknowledged_ever = 0;
  Revision compacted;  // history before this was forgotten between the rounds
  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      Result<std::unique_ptr<Store>> store = OpenEmbedded(directory.path());
      if (!store.ok()) _exit(1);
      for (int i = 0;; ++i) {
        const std::string text = std::to_string(i);
        (*store)->Commit(Write({Put("/left/" + std::to_string(i % 50), text),
                                Put("/right/" + std::to_string(i % 50), text)}),
                         [&](Result<TxnResult> result) {
                           const std::uint64_t revision =
                               result.ok() ? result->revision.value() : 0;
                           if (revision && write(ends[1], &revision, sizeof revision) < 0) _exit(1);
                         });
        if (i % 64 == 0) CommitAndWait(**store, {}).ok();
      }
    }
    close(ends[1]);
    const int reports = 10 + static_cast<int>(random() % 200);
    std::uint64_t acknowledged = 0, revision = 0;
    for (int i = 0; i < reports && read(ends[0], &revision, sizeof revision) > 0; ++i) {
      acknowledged = revision;
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    while (read(ends[0], &revision, sizeof revision) > 0) acknowledged = revision;
    close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    ASSERT_GT(acknowledged, acknowledged_ever) << "the child acknowledged nothing";
    acknowledged_ever = acknowledged;

    auto store = MustOpen(directory.path());
    ASSERT_TRUE(store);
    ASSERT_GE(store->CurrentRevision()->value(), acknowledged);
    auto left = store->List({.prefix = "/left/"});
    auto right = store->List({.prefix = "/right/"});
    ASSERT_TRUE(left.ok() && right.ok());
    ASSERT_EQ(left->entries.size(), right->entries.size());
    for (std::size_t i = 0; i < left->entries.size(); ++i) {
      ASSERT_EQ(*left->entries[i].value, *right->entries[i].value);
      ASSERT_EQ(left->entries[i].mod_revision, right->entries[i].mod_revision);
    }
    RecordingSink sink;
    auto watch = store->Watch("/", compacted, sink);
    ASSERT_TRUE(watch.ok());
    const Revision current = *store->CurrentRevision();
    ASSERT_EQ(sink.WaitFor(current).size(), 2 * (current.value() - compacted.value()));
    watch->reset();
    if (random() % 2 == 0) continue;
    compacted = Revision(current.value() - random() % 10);
    ASSERT_TRUE(store->Compact(compacted).ok());
  }
}

}  // namespace
}  // namespace mailroom::storage
