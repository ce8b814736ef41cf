// The judge acquits the engines under load and convicts seeded faults.
#include "storage/history_checker.h"

#include <gtest/gtest.h>

#include <thread>

#include "storage/embedded_store.h"
#include "storage/sqlite_log.h"
#include "storage/test_workload.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using testing::Put;
using testing::RecordedStream;
using testing::Recorder;
using testing::RunAndJudge;
using testing::TemporaryDirectory;
using testing::Workload;
using testing::Write;
using Lines = std::vector<std::string>;

TEST(HistoryChecker, AcquitsTheMemoryEngine) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::unique_ptr<Store> store = OpenMemory();
    EXPECT_EQ(RunAndJudge(*store, {.seed = seed}), Lines{}) << "seed " << seed;
  }
}

TEST(HistoryChecker, AcquitsTheEmbeddedEngineUnderCompaction) {
  TemporaryDirectory directory;
  std::unique_ptr<Store> store = OpenEmbedded(directory.path()).value();
  const Lines violations = RunAndJudge(*store, {.clients = 8, .calls = 0}, [&](auto progress) {
    for (int i = 0; i < 30 && progress(); ++i) {
      const std::uint64_t now = store->CurrentRevision()->value();
      EXPECT_TRUE(store->Compact(Revision(now > 50 ? now - 50 : 0)).ok());
    }
  });
  EXPECT_EQ(violations, Lines{});
}

// An engine whose answers can get lost.
class ForgetfulStore final : public Store {
 public:
  Result<GetResult> Get(const std::string& key) override { return store_->Get(key); }
  Result<ListResult> List(const ListOptions& options) override { return store_->List(options); }
  void Commit(Txn txn, CommitDone done) override {
    store_->Commit(std::move(txn), [this, done = std::move(done)](Result<TxnResult> result) {
      done(lost ? Result<TxnResult>(Unavailable("the answer is lost")) : std::move(result));
    });
  }
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    return store_->Watch(prefix, after, sink);
  }
  Result<void> Compact(Revision at) override { return store_->Compact(at); }
  Result<Revision> CurrentRevision() override { return store_->CurrentRevision(); }
  void Close() override { store_->Close(); }

  bool lost = false;

 private:
  const std::unique_ptr<Store> store_ = OpenMemory();
};

// Two deletions of unknown outcome, each of which would explain what the other did to /t/a/1. In
// either order, only one of them can have done what the watch shows later.
TEST(HistoryChecker, UnknownDeletionsAreToldApartByWhatTheyLeave) {
  for (const bool prefix_first : {true, false}) {
    ForgetfulStore store;
    Recorder recorder;
    RecordedStream& stream = recorder.Stream("/t/", Revision());
    const auto watch = store.Watch("/t/", Revision(), stream).value();
    const Txn whole = Write({testing::DeletePrefix("/t/a/")});
    const Txn single = Write({testing::Delete("/t/a/1")});
    auto erase = [&](const Txn& txn) {
      store.lost = true;
      EXPECT_FALSE(recorder.Commit(store, txn).ok());
      store.lost = false;
    };
    ASSERT_TRUE(recorder.Commit(store, Write({Put("/t/a/1", "x")})).ok());
    erase(prefix_first ? whole : single);
    ASSERT_TRUE(recorder.Commit(store, Write({Put("/t/a/1", "y"), Put("/t/a/2", "y")})).ok());
    erase(prefix_first ? single : whole);
    const auto last = recorder.Commit(store, Write({Put("/t/last", "z")}));
    ASSERT_TRUE(stream.WaitFor(last->revision));
    ASSERT_TRUE(recorder.List(store, {.prefix = "/t/"}).ok());
    EXPECT_EQ(recorder.Judge(Revision()), Lines{}) << prefix_first;
  }
}

enum class Fault {
  kNone,
  kSkipEvent,
  kRepeatEvent,
  kReorderEvents,
  kSplitRevision,
  kDropOnReconnect,
  kWrongPrevious,
  kStaleList,
  kStaleGet,
  kIgnoreCompares,
};

// An engine with one fault, which strikes now and then.
class FaultyStore final : public Store {
 public:
  explicit FaultyStore(Fault fault) : fault_(fault) {}

  Result<GetResult> Get(const std::string& key) override {
    Result<GetResult> result = store_->Get(key);
    if (fault_ != Fault::kStaleGet) return result;
    std::lock_guard lock(mutex_);
    auto [old, fresh] = remembered_.try_emplace(key, *result);
    if (fresh || ++count_ % 7 != 0) {
      old->second = *result;
      return result;
    }
    return old->second;
  }
  Result<ListResult> List(const ListOptions& options) override {
    Result<ListResult> result = store_->List(options);
    if (fault_ != Fault::kStaleList || options.at) return result;
    std::lock_guard lock(mutex_);
    if (!old_list_ || ++count_ % 5 != 0) {
      old_list_ = *result;
      return result;
    }
    // Old content under the present revision.
    ListResult stale = *old_list_;
    stale.revision = result->revision;
    return stale;
  }
  void Commit(Txn txn, CommitDone done) override {
    if (fault_ == Fault::kIgnoreCompares) txn.compares.clear();
    store_->Commit(std::move(txn), std::move(done));
  }
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    auto faulty = std::make_unique<FaultySink>(fault_, sink);
    if (fault_ == Fault::kDropOnReconnect) {
      after = std::min(after.Next(), *store_->CurrentRevision());
    }
    auto inner = TRY(store_->Watch(prefix, after, *faulty));
    return std::unique_ptr<WatchHandle>(
        std::make_unique<Handle>(std::move(faulty), std::move(inner)));
  }
  Result<void> Compact(Revision at) override { return store_->Compact(at); }
  Result<Revision> CurrentRevision() override { return store_->CurrentRevision(); }
  void Close() override { store_->Close(); }

 private:
  struct FaultySink final : ChangeSink {
    FaultySink(Fault seeded, ChangeSink& target) : fault(seeded), sink(target) {}
    void OnEnd(const Status& why) override { sink.OnEnd(why); }
    void OnChanges(const ChangeBatch& batch) override {
      ChangeBatch changed = batch;
      auto& changes = changed.changes;
      const bool strike = changes.size() > 1 || ++count % 10 == 0;
      if (strike && !changes.empty()) {
        if (fault == Fault::kSkipEvent) changes.pop_back();
        if (fault == Fault::kRepeatEvent) changes.push_back(changes.front());
        if (fault == Fault::kReorderEvents) std::reverse(changes.begin(), changes.end());
        if (fault == Fault::kWrongPrevious) changes.back().previous.reset();
      }
      if (fault == Fault::kSplitRevision && changes.size() > 1) {
        ChangeBatch first = changed;
        first.changes.resize(1);
        first.revision = first.changes[0].entry.mod_revision;
        sink.OnChanges(first);
        changes.erase(changes.begin());
      }
      sink.OnChanges(changed);
    }
    const Fault fault;
    ChangeSink& sink;
    int count = 0;
  };
  struct Handle final : WatchHandle {
    Handle(std::unique_ptr<FaultySink> first, std::unique_ptr<WatchHandle> second)
        : sink(std::move(first)), watch(std::move(second)) {}
    std::unique_ptr<FaultySink> sink;
    std::unique_ptr<WatchHandle> watch;
  };

  const Fault fault_;
  std::unique_ptr<Store> store_ = OpenMemory();
  std::mutex mutex_;
  std::map<std::string, GetResult> remembered_;
  std::optional<ListResult> old_list_;
  int count_ = 0;
};

struct FaultCase {
  const char* name;
  Fault fault;

  friend void PrintTo(const FaultCase& test, std::ostream* out) { *out << test.name; }
};

class SeededFault : public ::testing::TestWithParam<FaultCase> {};

TEST_P(SeededFault, IsConvicted) {
  // How the clients and the watches meet is left to the machine; a fault that did not show is given
  // further traffic.
  const unsigned rounds = GetParam().fault == Fault::kNone ? 1 : 20;
  Lines violations;
  for (unsigned seed = 1; seed <= rounds && violations.empty(); ++seed) {
    FaultyStore store(GetParam().fault);
    violations = RunAndJudge(store, {.clients = 6, .calls = 150, .seed = seed});
  }
  if (GetParam().fault == Fault::kNone) {
    EXPECT_EQ(violations, Lines{});
  } else {
    EXPECT_FALSE(violations.empty()) << "the fault went unnoticed";
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, SeededFault,
                         ::testing::Values(FaultCase{"None", Fault::kNone},
                                           FaultCase{"SkipEvent", Fault::kSkipEvent},
                                           FaultCase{"RepeatEvent", Fault::kRepeatEvent},
                                           FaultCase{"ReorderEvents", Fault::kReorderEvents},
                                           FaultCase{"SplitRevision", Fault::kSplitRevision},
                                           FaultCase{"DropOnReconnect", Fault::kDropOnReconnect},
                                           FaultCase{"WrongPrevious", Fault::kWrongPrevious},
                                           FaultCase{"StaleList", Fault::kStaleList},
                                           FaultCase{"StaleGet", Fault::kStaleGet},
                                           FaultCase{"IgnoreCompares", Fault::kIgnoreCompares}),
                         [](const auto& test) { return test.param.name; });

// A log that acknowledges before it has flushed. Losing the process loses what was held back.
class HastyLog final : public ChangeLog {
 public:
  explicit HastyLog(std::unique_ptr<ChangeLog> log, std::size_t lag)
      : log_(std::move(log)), lag_(lag) {}
  Result<State> Load(const std::function<void(LogRow)>& visit) override {
    return log_->Load(visit);
  }
  Result<void> Append(const std::vector<LogRow>& rows) override {
    std::lock_guard lock(mutex_);
    held_.insert(held_.end(), rows.begin(), rows.end());
    std::vector<LogRow> flush;
    while (held_.size() > lag_) {
      flush.push_back(held_.front());
      held_.erase(held_.begin());
    }
    return flush.empty() ? Ok() : log_->Append(flush);
  }
  Result<SharedBytes> Read(Position position) override {
    {
      std::lock_guard lock(mutex_);
      for (const LogRow& row : held_) {
        if (row.position == position) return row.value;
      }
    }
    return log_->Read(position);
  }
  Result<std::vector<LogRow>> Scan(Position after, std::size_t limit) override {
    return log_->Scan(after, limit);
  }
  Result<void> Forget(Revision compacted, Revision revision,
                      const std::vector<Position>& rows) override {
    return log_->Forget(compacted, revision, rows);
  }

 private:
  std::unique_ptr<ChangeLog> log_;
  const std::size_t lag_;
  std::mutex mutex_;
  std::vector<LogRow> held_;
};

class Durability : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Durability, AcknowledgedIsWhatSurvives) {
  TemporaryDirectory directory;
  Recorder recorder;
  {
    auto log = OpenSqliteLog(directory.path()).value();
    auto store = OpenOverLog(std::make_unique<HastyLog>(std::move(log), GetParam())).value();
    testing::RunTraffic(*store, recorder, {.clients = 3, .calls = 60});
  }
  std::unique_ptr<Store> reopened = OpenEmbedded(directory.path()).value();
  ASSERT_TRUE(recorder.List(*reopened, {.prefix = "/t/"}).ok());
  const bool honest = GetParam() == 0;
  EXPECT_EQ(recorder.Judge(Revision()).empty(), honest);
}

INSTANTIATE_TEST_SUITE_P(Lag, Durability, ::testing::Values(0, 3));

}  // namespace
}  // namespace mailroom::storage
