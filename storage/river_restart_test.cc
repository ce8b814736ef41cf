// The river when its engine fails it: cut watches, lost history, late answers.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "storage/cached_store_testing.h"
#include "storage/unreadable.h"

namespace mailroom::storage {
namespace {

// A store whose watch can be cut and refused, and whose answers can be held back.
class BreakableStore final : public Store {
 public:
  explicit BreakableStore(Store& store) : store_(store) {}
  Result<GetResult> Get(const std::string& key) override { return store_.Get(key); }
  Result<ListResult> List(const ListOptions& options) override { return store_.List(options); }
  void Commit(Txn txn, CommitDone done) override { store_.Commit(std::move(txn), std::move(done)); }
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    if (refuse_) {
      ++refusals_;
      refusals_.notify_all();
      return Unavailable("refused");
    }
    sink_ = &sink;
    return store_.Watch(prefix, after, sink);
  }
  Result<void> Compact(Revision at) override { return store_.Compact(at); }
  Result<Revision> CurrentRevision() override {
    Result<Revision> answer = store_.CurrentRevision();
    ++questions_;
    questions_.notify_all();
    hold_.wait(true);
    return answer;
  }
  void Close() override {}

  Store& store_;
  std::atomic<ChangeSink*> sink_ = nullptr;
  std::atomic<bool> refuse_ = false;
  std::atomic<int> refusals_ = 0;
  std::atomic<int> questions_ = 0;
  std::atomic<bool> hold_ = false;
};

class RestartTest : public CachedStoreTest {
 protected:
  ~RestartTest() override { cache_.reset(); }  // before the store that it follows
  void StartBreakable() {
    cache_.reset();
    Result<std::unique_ptr<CachedStore>> started =
        CachedStore::Start(breakable_, {.history_events = 1000, .watch_queue = 100, .probe = true});
    ASSERT_TRUE(started.ok());
    cache_ = std::move(*started);
  }
  // Ends the watch, changes the store while nobody follows, and lets the cache come back.
  void BreakWhile(const Status& why, const std::function<void()>& change) {
    const int refusals = breakable_.refusals_;
    breakable_.refuse_ = true;
    // The cache is still subscribed below; take it off by making it reconnect. It has given up its
    // old watch when it asks for another.
    breakable_.sink_.load()->OnEnd(Unavailable("cut"));
    breakable_.refusals_.wait(refusals);
    const Revision before = cache_->applied();
    change();
    EXPECT_EQ(cache_->applied(), before) << "it followed all the same";
    breakable_.refuse_ = false;
    breakable_.sink_.load()->OnEnd(why);
  }
  BreakableStore breakable_{*store_};
};

TEST_F(RestartTest, ResumesWhereItWasCut) {
  StartBreakable();
  Write({PutObject({"a", "n", "x"}, "1")});
  CacheWatch watch = Watch({.scope = kA});
  BreakWhile(Unavailable("cut"), [&] {
    testing::MustCommit(*store_, {{}, {PutObject({"a", "n", "x"}, "2")}});
    testing::MustCommit(*store_, {{}, {PutObject({"a", "n", "x"}, "3")}});
  });
  ASSERT_TRUE(cache_->WaitFor(Revision(3), 30s).ok());
  EXPECT_EQ(Drained(*watch.watcher), (Lines{"MODIFIED a/n/x=2@2", "MODIFIED a/n/x=3@3"}));
}

TEST_F(RestartTest, ComparesWhenHistoryIsGone) {
  StartBreakable();
  const Place replaced{"a", "n", "replaced"};
  Write({PutObject({"a", "n", "changed"}, "1"), PutObject({"a", "n", "deleted"}, "1"),
         PutObject({"a", "n", "same"}, "1"), PutObject(replaced, "1")});
  CacheWatch watch = Watch({.scope = kA});
  BreakWhile(Expired("compacted"), [&] {
    testing::MustCommit(*store_, {{}, {PutObject({"a", "n", "changed"}, "2")}});
    testing::MustCommit(*store_,
                        {{}, {DeleteObject({"a", "n", "deleted"}), DeleteObject(replaced)}});
    testing::MustCommit(*store_, {{}, {PutObject({"a", "n", "added"}, "1")}});
    testing::MustCommit(*store_, {{},
                                  {{Operation::Type::kPut, replaced.key().ToStoreKey(),
                                    Encoded(replaced, "2", "x", "other uid")}}});
    testing::MustCommit(*store_, {{}, {PutObject({"a", "n", "changed"}, "3")}});
    ASSERT_TRUE(store_->Compact(Revision(6)).ok());
  });
  ASSERT_TRUE(cache_->WaitFor(Revision(6), 30s).ok());
  EXPECT_EQ(Drained(*watch.watcher),
            (Lines{"ADDED a/n/added=1@4", "DELETED a/n/replaced=1@4", "ADDED a/n/replaced=2@5",
                   "MODIFIED a/n/changed=3@6", "DELETED a/n/deleted=1@6"}));
  EXPECT_EQ(List({.scope = kA}),
            (Lines{"a/n/added=1@4", "a/n/changed=3@6", "a/n/replaced=2@5", "a/n/same=1@1"}));
  // Before and after the bridge watches resume; inside it nobody can tell.
  EXPECT_TRUE(cache_->Watch({.scope = kA, .after = Revision(1)}).ok());
  EXPECT_FALSE(cache_->Watch({.scope = kA, .after = Revision(3)}).ok());
  EXPECT_FALSE(cache_->List({.scope = kA, .at = Revision(5)}).ok());
  EXPECT_TRUE(cache_->Watch({.scope = kA, .after = Revision(6)}).ok());
  Write({PutObject({"a", "n", "same"}, "2")});
  EXPECT_EQ(Drained(*watch.watcher), Lines{"MODIFIED a/n/same=2@7"});
}

// A comparison tells no more deletions than there were.
TEST_F(RestartTest, ComparesWithValuesThatCannotBeRead) {
  StartBreakable();
  const Place garbled{"a", "n", "garbled"}, replaced{"a", "n", "replaced"}, late{"a", "n", "late"};
  auto garble = [](const Place& place) {
    return Operation{Operation::Type::kPut, place.key().ToStoreKey(), Bytes("not json")};
  };
  Write({PutObject(garbled, "1"), PutObject(replaced, "1")});
  Write({garble(late)});
  EXPECT_EQ(UnreadableValues(*cache_).values, 1u);
  CacheWatch watch = Watch({.scope = kA});
  BreakWhile(Expired("compacted"), [&] {
    testing::MustCommit(*store_,
                        {{}, {garble(garbled), DeleteObject(replaced), DeleteObject(late)}});
    testing::MustCommit(*store_, {{}, {garble(replaced)}});
    ASSERT_TRUE(store_->Compact(Revision(4)).ok());
  });
  ASSERT_TRUE(cache_->WaitFor(Revision(4), 30s).ok());
  EXPECT_EQ(Drained(*watch.watcher), Lines{"DELETED a/n/replaced=1@4"});
  EXPECT_EQ(List({.scope = kA}), Lines{"a/n/garbled=1@1"});
  EXPECT_EQ(UnreadableValues(*cache_).values, 2u);
  Write({PutObject(garbled, "2"), DeleteObject(replaced)});
  EXPECT_EQ(Drained(*watch.watcher), Lines{"MODIFIED a/n/garbled=2@5"});
  EXPECT_EQ(UnreadableValues(*cache_).values, 0u);
}

TEST_F(RestartTest, FreshenIsNotAnsweredByAnOlderQuestion) {
  StartBreakable();
  breakable_.questions_ = 0;
  breakable_.hold_ = true;
  std::jthread first([&] { EXPECT_TRUE(cache_->Freshen().ok()); });
  breakable_.questions_.wait(0);
  // The first question may have been answered before this write; later callers need another.
  const Revision written = testing::MustCommit(*store_, {{}, {PutObject({"a", "n", "x"}, "1")}});
  std::vector<std::jthread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&] {
      EXPECT_TRUE(cache_->Freshen().ok());
      EXPECT_GE(cache_->applied(), written);
      EXPECT_GE(breakable_.questions_, 2);
    });
  }
  breakable_.hold_ = false;
  breakable_.hold_.notify_all();
  others.clear();
  EXPECT_LE(breakable_.questions_, 9);
}

}  // namespace
}  // namespace mailroom::storage
