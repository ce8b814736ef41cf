#include "storage/store_contract.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "storage/object/limits.h"
#include "storage/testing.h"

namespace mailroom::storage::testing {
namespace {

std::vector<std::string> Keys(const ListResult& list) {
  std::vector<std::string> keys;
  for (const KeyValue& entry : list.entries) keys.push_back(entry.key);
  return keys;
}

using Lines = std::vector<std::string>;

TEST_P(StoreContract, GetTellsValueAndRevisions) {
  const Revision first = MustCommit(*store_, Write({Put("/a", "1")}));
  const Revision second = MustCommit(*store_, Write({Put("/a", "2")}));
  EXPECT_EQ(second, first.Next());
  Result<GetResult> got = store_->Get("/a");
  ASSERT_TRUE(got.ok());
  ASSERT_TRUE(got->entry);
  EXPECT_EQ(*got->entry->value, "2");
  EXPECT_EQ(got->entry->create_revision, first);
  EXPECT_EQ(got->entry->mod_revision, second);
  EXPECT_EQ(got->revision, second);
  EXPECT_FALSE(store_->Get("/b")->entry);
  EXPECT_FALSE(store_->Get("/a/")->entry);
}

TEST_P(StoreContract, RecreationStartsANewLife) {
  MustCommit(*store_, Write({Put("/a", "1")}));
  const Revision deleted = MustCommit(*store_, Write({Delete("/a")}));
  EXPECT_FALSE(store_->Get("/a")->entry);
  EXPECT_EQ(store_->Get("/a")->revision, deleted);
  const Revision again = MustCommit(*store_, Write({Put("/a", "2")}));
  EXPECT_EQ(store_->Get("/a")->entry->create_revision, again);
}

TEST_P(StoreContract, ComparesGuardTheWholeTransaction) {
  const Revision a = MustCommit(*store_, Write({Put("/a", "1")}));
  struct Case {
    std::vector<Compare> compares;
    bool holds;
  };
  const Case cases[] = {
      {{{"/a", a}}, true},
      {{{"/a", Revision()}}, false},
      {{{"/missing", Revision()}}, true},
      {{{"/missing", a}}, false},
      {{{"/missing", Revision()}, {"/a", a.Next()}}, false},
  };
  for (const Case& each : cases) {
    const Revision before = *store_->CurrentRevision();
    Result<TxnResult> result =
        CommitAndWait(*store_, Txn{each.compares, {Put("/probe", "x"), Put("/probe2", "y")}});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->committed, each.holds);
    EXPECT_EQ(result->revision, each.holds ? before.Next() : before);
    EXPECT_EQ(*store_->CurrentRevision(), result->revision);
    EXPECT_EQ(store_->Get("/probe")->entry.has_value(), each.holds);
    EXPECT_EQ(store_->Get("/probe2")->entry.has_value(), each.holds);
    if (each.holds) MustCommit(*store_, Write({DeletePrefix("/probe")}));
  }
}

TEST_P(StoreContract, FailedCompareReturnsTheActualEntries) {
  const Revision a = MustCommit(*store_, Write({Put("/a", "1")}));
  Result<TxnResult> result =
      CommitAndWait(*store_, Txn{{{"/a", Revision()}, {"/missing", Revision()}}, {Put("/a", "2")}});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->committed);
  ASSERT_EQ(result->actual.size(), 1u);
  EXPECT_EQ(result->actual[0].key, "/a");
  EXPECT_EQ(*result->actual[0].value, "1");
  EXPECT_EQ(result->actual[0].mod_revision, a);
}

TEST_P(StoreContract, OneRevisionPerTransactionThatChangesAnything) {
  const Revision first = MustCommit(*store_, Write({Put("/a", "1"), Put("/b", "2")}));
  EXPECT_EQ(store_->Get("/a")->entry->mod_revision, first);
  EXPECT_EQ(store_->Get("/b")->entry->mod_revision, first);
  EXPECT_EQ(MustCommit(*store_, Write({Delete("/missing")})), first);
  EXPECT_EQ(MustCommit(*store_, Write({DeletePrefix("/missing")})), first);
  EXPECT_EQ(MustCommit(*store_, Write({Put("/c", "3"), Delete("/a")})), first.Next());
}

TEST_P(StoreContract, DeletePrefixRemovesExactlyItsKeys) {
  MustCommit(*store_, Write({Put("/w/ab/1", "x"), Put("/w/ab/2", "x"), Put("/w/abc/1", "x"),
                             Put("/w/ab", "x")}));
  MustCommit(*store_, Write({DeletePrefix("/w/ab/")}));
  EXPECT_EQ(Keys(*store_->List({.prefix = "/w/"})), (Lines{"/w/ab", "/w/abc/1"}));
}

TEST_P(StoreContract, AKeyIsWrittenOncePerTransaction) {
  const Txn bad[] = {
      Write({Put("/a", "1"), Put("/a", "2")}),
      Write({Put("/a", "1"), Delete("/a")}),
      Write({DeletePrefix("/"), Put("/a", "1")}),
  };
  for (const Txn& txn : bad) {
    Result<TxnResult> result = CommitAndWait(*store_, txn);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().reason(), Reason::kBadRequest);
  }
}

TEST_P(StoreContract, OversizeIsRefused) {
  Result<TxnResult> result =
      CommitAndWait(*store_, Write({Put("/a", std::string(limits::kStoredObjectBytes + 1, 'x'))}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason(), Reason::kRequestEntityTooLarge);
}

TEST_P(StoreContract, ValuesAreBytes) {
  const std::string value("\0\xff\n\"binary", 10);
  MustCommit(*store_, Write({Put("/a", value), Put("/empty", "")}));
  EXPECT_EQ(*store_->Get("/a")->entry->value, value);
  EXPECT_EQ(*store_->Get("/empty")->entry->value, "");
}

TEST_P(StoreContract, ListsInPagesAtOneRevision) {
  for (int i = 0; i < 10; ++i) {
    MustCommit(*store_, Write({Put("/p/" + std::to_string(i), std::to_string(i))}));
  }
  MustCommit(*store_, Write({Put("/q", "other")}));
  Result<ListResult> page = store_->List({.prefix = "/p/", .limit = 4});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(Keys(*page), (Lines{"/p/0", "/p/1", "/p/2", "/p/3"}));
  EXPECT_TRUE(page->more);
  const Revision at = page->revision;
  MustCommit(*store_, Write({Delete("/p/5"), Put("/p/45", "new")}));
  page = store_->List({.prefix = "/p/", .start_after = "/p/3", .limit = 4, .at = at});
  EXPECT_EQ(Keys(*page), (Lines{"/p/4", "/p/5", "/p/6", "/p/7"}));
  EXPECT_EQ(page->revision, at);
  page = store_->List({.prefix = "/p/", .start_after = "/p/7", .limit = 4, .at = at});
  EXPECT_EQ(Keys(*page), (Lines{"/p/8", "/p/9"}));
  EXPECT_FALSE(page->more);
  EXPECT_EQ(store_->List({.prefix = "/p/"})->entries.size(), 10u);
  EXPECT_TRUE(store_->List({.prefix = "/nothing/"})->entries.empty());
}

TEST_P(StoreContract, ListAtAnOldRevisionShowsOldValues) {
  const Revision first = MustCommit(*store_, Write({Put("/a", "1"), Put("/b", "1")}));
  const Revision second = MustCommit(*store_, Write({Put("/a", "2"), Delete("/b")}));
  Result<ListResult> then = store_->List({.prefix = "/", .at = first});
  ASSERT_TRUE(then.ok());
  ASSERT_EQ(then->entries.size(), 2u);
  EXPECT_EQ(*then->entries[0].value, "1");
  EXPECT_EQ(then->entries[0].mod_revision, first);
  Result<ListResult> now = store_->List({.prefix = "/", .at = second});
  ASSERT_EQ(now->entries.size(), 1u);
  EXPECT_EQ(*now->entries[0].value, "2");
  EXPECT_FALSE(store_->List({.prefix = "/", .at = Revision(second.value() + 100)}).ok());
}

TEST_P(StoreContract, WatchReplaysThenFollows) {
  const Revision start = *store_->CurrentRevision();
  const std::uint64_t r = start.value();
  auto at = [&](std::uint64_t step) { return "@" + std::to_string(r + step); };
  MustCommit(*store_, Write({Put("/w/a", "1")}));
  MustCommit(*store_, Write({Put("/w/a", "2"), Put("/w/b", "1")}));
  RecordingSink sink;
  Result<std::unique_ptr<WatchHandle>> watch = store_->Watch("/w/", start, sink);
  ASSERT_TRUE(watch.ok());
  MustCommit(*store_, Write({Put("/other", "x")}));
  MustCommit(*store_, Write({Delete("/w/a")}));
  const Revision last = MustCommit(*store_, Write({DeletePrefix("/w/")}));
  Lines lines = sink.WaitFor(last);
  EXPECT_EQ(lines, (Lines{"put /w/a=1 " + at(1), "put /w/a=2 " + at(2) + " was 1 " + at(1),
                          "put /w/b=1 " + at(2), "delete /w/a " + at(4) + " was 2 " + at(2),
                          "delete /w/b " + at(5) + " was 1 " + at(2)}));
}

TEST_P(StoreContract, WatchStartsAfterTheGivenRevision) {
  MustCommit(*store_, Write({Put("/a", "1")}));
  const Revision middle = MustCommit(*store_, Write({Put("/a", "2")}));
  const Revision last = MustCommit(*store_, Write({Put("/a", "3")}));
  RecordingSink sink;
  auto watch = store_->Watch("/", middle, sink);
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ(sink.WaitFor(last).size(), 1u);
}

TEST_P(StoreContract, NothingArrivesAfterTheHandleIsGone) {
  RecordingSink sink;
  auto watch = store_->Watch("/", *store_->CurrentRevision(), sink);
  ASSERT_TRUE(watch.ok());
  const Revision seen = MustCommit(*store_, Write({Put("/a", "1")}));
  ASSERT_EQ(sink.WaitFor(seen).size(), 1u);
  *watch = nullptr;
  RecordingSink witness;
  auto other = store_->Watch("/", seen, witness);
  witness.WaitFor(MustCommit(*store_, Write({Put("/a", "2")})));
  EXPECT_EQ(sink.WaitFor(seen).size(), 1u);
}

TEST_P(StoreContract, CompactionForgetsThePast) {
  const Revision first = MustCommit(*store_, Write({Put("/a", "1"), Put("/gone", "1")}));
  MustCommit(*store_, Write({Put("/a", "2"), Delete("/gone")}));
  const Revision third = MustCommit(*store_, Write({Put("/b", "1")}));
  const Revision last = MustCommit(*store_, Write({Put("/a", "3")}));
  ASSERT_TRUE(store_->Compact(third).ok());
  ASSERT_TRUE(store_->Compact(third).ok());
  EXPECT_EQ(store_->List({.prefix = "/", .at = first}).error().reason(), Reason::kExpired);
  Result<ListResult> list = store_->List({.prefix = "/", .at = third});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(Keys(*list), (Lines{"/a", "/b"}));
  EXPECT_EQ(*list->entries[0].value, "2");
  EXPECT_EQ(*store_->Get("/a")->entry->value, "3");
  EXPECT_EQ(*store_->CurrentRevision(), last);
  EXPECT_FALSE(store_->Compact(Revision(last.value() + 10)).ok());

  RecordingSink sink;
  auto watch = store_->Watch("/", third, sink);
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ(sink.WaitFor(last).size(), 1u);
  RecordingSink late;
  auto expired = store_->Watch("/", first, late);
  const std::optional<Status> why =
      expired.ok() ? late.WaitForEnd() : std::optional<Status>(expired.error());
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason(), Reason::kExpired);
}

TEST_P(StoreContract, ConcurrentIncrementsLoseNothing) {
  constexpr int kThreads = 4, kRounds = 50;
  MustCommit(*store_, Write({Put("/n", "0")}));
  auto add = [&] {
    for (int round = 0; round < kRounds; ++round) {
      KeyValue current = *store_->Get("/n")->entry;
      while (true) {
        Result<TxnResult> result =
            CommitAndWait(*store_, Txn{{{"/n", current.mod_revision}},
                                       {Put("/n", std::to_string(std::stoi(*current.value) + 1))}});
        ASSERT_TRUE(result.ok());
        if (result->committed) break;
        ASSERT_EQ(result->actual.size(), 1u);
        current = result->actual[0];
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(add);
  }
  EXPECT_EQ(*store_->Get("/n")->entry->value, std::to_string(kThreads * kRounds));
}

// Watches that begin at any moment while others write see each later change once and in order.
TEST_P(StoreContract, WatchesBegunUnderLoadAgree) {
  const Revision start = *store_->CurrentRevision();
  constexpr int kWriters = 3, kWrites = 100;
  std::vector<RecordingSink> sinks(8);
  std::vector<std::unique_ptr<WatchHandle>> handles;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < kWrites; ++i) {
          MustCommit(*store_, Write({Put("/k" + std::to_string(i % 7), std::to_string(w))}));
        }
      });
    }
    for (RecordingSink& sink : sinks) {
      auto watch = store_->Watch("/", start, sink);
      ASSERT_TRUE(watch.ok());
      handles.push_back(std::move(*watch));
    }
  }
  const Revision last = *store_->CurrentRevision();
  EXPECT_EQ(last.value(), start.value() + kWriters * kWrites);
  const Lines expected = sinks[0].WaitFor(last);
  EXPECT_EQ(expected.size(), static_cast<std::size_t>(kWriters * kWrites));
  for (RecordingSink& sink : sinks) EXPECT_EQ(sink.WaitFor(last), expected);
}

// Whether anybody watches or not changes between any two commits; nobody misses a previous value.
TEST_P(StoreContract, WatchesThatComeAndGoSeePreviousValues) {
  Revision seen = MustCommit(*store_, Write({Put("/k", "v")}));
  std::jthread writer([&](std::stop_token stop) {
    while (!stop.stop_requested()) MustCommit(*store_, Write({Put("/k", "v")}));
  });
  for (int round = 0; round < 100; ++round) {
    RecordingSink sink;
    auto watch = store_->Watch("/", seen, sink);
    ASSERT_TRUE(watch.ok());
    seen = Revision(store_->CurrentRevision()->value() + 1);
    for (const std::string& line : sink.WaitFor(seen)) {
      ASSERT_EQ(line.find('?'), std::string::npos) << line;
    }
  }
}

TEST_P(StoreContract, CloseEndsWatchesAndRefusesWork) {
  RecordingSink sink;
  auto watch = store_->Watch("/", *store_->CurrentRevision(), sink);
  ASSERT_TRUE(watch.ok());
  store_->Close();
  store_->Close();
  EXPECT_TRUE(sink.WaitForEnd());
  Result<TxnResult> refused = CommitAndWait(*store_, Write({Put("/a", "1")}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason(), Reason::kServiceUnavailable);
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

}  // namespace mailroom::storage::testing
