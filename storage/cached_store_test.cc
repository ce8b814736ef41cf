#include "storage/cached_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "storage/cached_store_testing.h"
#include "storage/unreadable.h"

namespace mailroom::storage {
namespace {

TEST_F(CachedStoreTest, TheWriterReadsItsOwnWrite) {
  const Place place{"a", "n", "one"};
  const Revision revision = Write({PutObject(place, "1")});
  ObjectPtr object = cache_->Get(place.key());
  ASSERT_TRUE(object);
  EXPECT_EQ(object->revision(), revision);
  EXPECT_EQ(ValueOf(*object), "1");
  EXPECT_EQ(cache_->applied(), revision);
  EXPECT_EQ(cache_->LastChange(Workspace("a"), kConfigMaps), revision);
  EXPECT_EQ(cache_->LastChange(Workspace("a"), kSecrets), Revision());
  EXPECT_EQ(cache_->Count(Workspace("a")), 1u);
  Write({DeleteObject(place)});
  EXPECT_FALSE(cache_->Get(place.key()));
  EXPECT_EQ(cache_->Count(Workspace("a")), 0u);
  EXPECT_EQ(cache_->LastChange(Workspace("a"), kConfigMaps), revision.Next());
}

TEST_F(CachedStoreTest, ListsByScopeInOrder) {
  Write({PutObject({"b", "n1", "x"}, "1"), PutObject({"a", "n2", "x"}, "1"),
         PutObject({"a", "n1", "y"}, "1"), PutObject({"a", "n1", "x"}, "1"),
         PutObject({"a", "n1-", "x"}, "1"), PutObject({"a", "n1", "s", kSecrets}, "1")});
  EXPECT_EQ(List({.scope = kA}), (Lines{"a/n1/x=1@1", "a/n1/y=1@1", "a/n1-/x=1@1", "a/n2/x=1@1"}));
  EXPECT_EQ(List({.scope = kAll}),
            (Lines{"a/n1/x=1@1", "a/n1/y=1@1", "a/n1-/x=1@1", "a/n2/x=1@1", "b/n1/x=1@1"}));
  EXPECT_EQ(List({.scope = {Workspace("a"), kConfigMaps, "n1"}}),
            (Lines{"a/n1/x=1@1", "a/n1/y=1@1"}));
  EXPECT_EQ(List({.scope = {Workspace(), kConfigMaps, "n1"}}),
            (Lines{"a/n1/x=1@1", "a/n1/y=1@1", "b/n1/x=1@1"}));
  EXPECT_EQ(List({.scope = {Workspace("c"), kConfigMaps, ""}}), Lines{});
}

TEST_F(CachedStoreTest, PagesAtOneRevisionWhileOthersWrite) {
  std::vector<Operation> operations;
  for (const char* workspace : {"a", "b"}) {
    for (int i = 0; i < 7; ++i) {
      operations.push_back(
          PutObject({workspace, "n", "o" + std::to_string(i)}, "1", i % 2 == 0 ? "x" : "y"));
    }
  }
  const Revision start = Write(operations);
  std::string long_selector = "app=x";  // asked beside the lock
  for (std::size_t i = 0; i < limits::kTermsUnderLock; ++i) long_selector += ",!none" + std::to_string(i);
  enum class By { kNothing, kFilter, kLabels, kManyLabels };
  for (const By by : {By::kNothing, By::kFilter, By::kLabels, By::kManyLabels}) {
    CacheListOptions options{.scope = kAll, .limit = 4};
    if (by == By::kFilter) options.filter = LabelIsX;
    if (by == By::kLabels) options.labels = *LabelSelector::Parse("app=x");
    if (by == By::kManyLabels) options.labels = *LabelSelector::Parse(long_selector);
    if (by != By::kNothing) options.at = start;
    const Lines whole =
        List({.scope = kAll, .labels = options.labels, .filter = options.filter, .at = start});
    Lines paged;
    std::size_t rest = whole.size();
    do {
      Result<CacheListResult> page = cache_->List(options);
      ASSERT_TRUE(page.ok());
      const Lines lines = Describe(page->entries);
      ASSERT_LE(lines.size(), 4u);
      paged.insert(paged.end(), lines.begin(), lines.end());
      rest -= lines.size();
      EXPECT_EQ(page->remaining, by == By::kFilter || by == By::kManyLabels ? 0 : rest);
      options.start_after = page->next;
      options.at = start;
      EXPECT_EQ(page->revision, start);
      // Every kind of change, in pages seen and unseen, in existing and new workspaces.
      Write({PutObject({"a", "n", "o1"}, "changed"), DeleteObject({"b", "n", "o3"}),
             PutObject({"b", "n", "o35"}, "new"), PutObject({"a0", "n", "x"}, "new")});
      Write({PutObject({"b", "n", "o3"}, "again"), DeleteObject({"a", "n", "o1"}),
             PutObject({"a0", "n", "x"}, "new2")});
    } while (!options.start_after.empty());
    EXPECT_EQ(paged, whole);
    EXPECT_EQ(whole.size(), by == By::kNothing ? 14u : 8u);
  }
}

TEST_F(CachedStoreTest, ListsNothingAfterAPlaceBeyondItsNamespace) {
  Write({PutObject({"a", "m", "x"}, "1"), PutObject({"a", "n", "x"}, "1"),
         PutObject({"a", "o", "x"}, "1")});
  const Scope scope{Workspace("a"), kConfigMaps, "n"};
  EXPECT_EQ(List({.scope = scope, .start_after = "a/o/a"}), Lines{});
  EXPECT_EQ(List({.scope = scope, .start_after = "a/n/x"}), Lines{});
  EXPECT_EQ(List({.scope = scope, .start_after = "a/m/x"}), Lines{"a/n/x=1@1"});
}

// Lists longer than a slice, while both ends are written in one transaction and come and go: a list
// that mixed moments would show it.
class LongListTest : public CachedStoreTest {
 protected:
  static constexpr std::size_t kStill = 6 * limits::kHeavyList;

  void Fill() {
    for (const char* workspace : {"a", "b", "c"}) {
      std::vector<Operation> operations;
      for (std::size_t i = 0; i < kStill / 3; ++i) {
        operations.push_back(PutObject({workspace, "n", "o" + std::to_string(i)}, "still"));
      }
      Write(operations);
    }
  }
  void WriteEnds() {
    const Place first{"a", "n", "a"}, last{"c", "n", "z"};
    for (int i = 0; going_; ++i) {
      const std::string value = std::to_string(i);
      if (i % 3 == 2) {
        Write({DeleteObject(first), DeleteObject(last)});
      } else {
        Write({PutObject(first, value), PutObject(last, value)});
      }
    }
  }
  // The number of ends in the list, which are of one moment.
  static std::size_t Ends(const std::vector<Entry>& entries) {
    Lines values;
    for (const Entry& entry : entries) {
      if (const std::string value = ValueOf(*entry.object); value != "still") {
        values.push_back(value + "@" + entry.object->revision().ToString());
      }
    }
    EXPECT_TRUE(values.size() < 2 || values.front() == values.back())
        << ::testing::PrintToString(values);
    return values.size();
  }
  void ExpectWhole(const std::vector<Entry>& entries) {
    const std::size_t ends = Ends(entries);
    EXPECT_TRUE(ends == 0 || ends == 2) << ends;
    EXPECT_EQ(entries.size() - ends, kStill);
  }
  struct Stopper {
    std::atomic<bool>& going;
    ~Stopper() { going = false; }
  };

  std::atomic<bool> going_ = true;
};

TEST_F(LongListTest, IsOfOneMoment) {
  Fill();
  std::jthread writer([this] { WriteEnds(); });
  const Stopper stopper{going_};
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    ExpectWhole(cache_->List({.scope = kAll}).value().entries);
    ExpectWhole(Watch({.scope = kAll}).initial);
    const CacheListResult page = cache_->List({.scope = kAll, .limit = 1}).value();
    EXPECT_EQ(page.remaining, Ends(page.entries) == 1 ? kStill + 1 : kStill - 1);
  }
}

TEST_F(LongListTest, NeedsNoHistory) {
  Start(/*history=*/2);
  Fill();
  std::jthread writer([this] { WriteEnds(); });
  const Stopper stopper{going_};
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    ExpectWhole(cache_->List({.scope = kAll}).value().entries);
  }
}

TEST_F(CachedStoreTest, ListAtARevisionOutsideHistory) {
  Start(/*history=*/2);
  const Revision first = Write({PutObject({"a", "n", "x"}, "1")});
  Write({PutObject({"b", "n", "x"}, "1")});
  Write({PutObject({"b", "n", "x"}, "2")});
  const Revision last = Write({PutObject({"b", "n", "x"}, "3")});
  EXPECT_EQ(List({.scope = kA, .at = first}), Lines{"a/n/x=1@1"})
      << "nothing changed there since, whatever the rest of the hub did";
  auto expired = cache_->List({.scope = {Workspace("b"), kConfigMaps, ""}, .at = first});
  ASSERT_FALSE(expired.ok());
  EXPECT_EQ(expired.error().reason(), Reason::kExpired);
  EXPECT_FALSE(cache_->List({.scope = kAll, .at = first}).ok());
  EXPECT_FALSE(cache_->List({.scope = kA, .at = last.Next()}).ok());
}

TEST_F(CachedStoreTest, WatchBeginsWithTheStateOrResumes) {
  const Revision first = Write({PutObject({"a", "n", "x"}, "1")});
  Write({PutObject({"a", "n", "x"}, "2"), PutObject({"b", "n", "x"}, "1")});
  CacheWatch fresh = Watch({.scope = kA});
  EXPECT_EQ(Describe(fresh.initial), Lines{"a/n/x=2@2"});
  EXPECT_EQ(fresh.revision, Revision(2));
  CacheWatch resumed = Watch({.scope = kA, .after = first});
  CacheWatch everywhere = Watch({.scope = kAll, .after = first});
  EXPECT_TRUE(resumed.initial.empty());
  Write({DeleteObject({"a", "n", "x"})});
  Revision up_to;
  EXPECT_EQ(Drained(*fresh.watcher, nullptr, &up_to), Lines{"DELETED a/n/x=2@3"});
  EXPECT_EQ(up_to, Revision(3));
  EXPECT_EQ(Drained(*resumed.watcher), (Lines{"MODIFIED a/n/x=2@2", "DELETED a/n/x=2@3"}));
  EXPECT_EQ(Drained(*everywhere.watcher),
            (Lines{"MODIFIED a/n/x=2@2", "ADDED b/n/x=1@2", "DELETED a/n/x=2@3"}));
  EXPECT_EQ(Drained(*fresh.watcher), Lines{});
}

TEST_F(CachedStoreTest, WatchesOfEveryResourceSeeAll) {
  const Revision first =
      Write({PutObject({"a", "n", "x"}, "1"), PutObject({"a", "n", "s", kSecrets}, "1"),
             PutObject({"b", "n", "x"}, "1")});
  CacheWatch hub = Watch({.scope = {}});
  CacheWatch a = Watch({.scope = {Workspace("a"), {}, ""}});
  Lines initial;
  for (const Entry& entry : hub.initial) {
    initial.push_back(entry.resource->resource + " " +
                      Describe(entry.workspace->name(), *entry.object));
  }
  std::sort(initial.begin(), initial.end());
  EXPECT_EQ(initial, (Lines{"configmaps a/n/x=1@1", "configmaps b/n/x=1@1", "secrets a/n/s=1@1"}));
  EXPECT_EQ(a.initial.size(), 2u);
  EXPECT_EQ(cache_->Stats().watchers, 2u);
  Write({PutObject({"a", "n", "s", kSecrets}, "2"), DeleteObject({"b", "n", "x"})});
  Write({PutObject({"c", "", "new", {"g", "things"}}, "3")});
  const Lines all{"MODIFIED a/n/s=2@2", "DELETED b/n/x=1@2", "ADDED c//new=3@3"};
  EXPECT_EQ(Drained(*hub.watcher), all);
  EXPECT_EQ(Drained(*a.watcher), Lines{all[0]});
  CacheWatch resumed = Watch({.scope = {}, .after = first});
  EXPECT_EQ(Drained(*resumed.watcher), all);
  CacheWatch resumed_a = Watch({.scope = {Workspace("a"), {}, ""}, .after = first});
  EXPECT_EQ(Drained(*resumed_a.watcher), Lines{all[0]});
  EXPECT_EQ(List({.scope = {}, .at = first}).size(), 3u);
  EXPECT_FALSE(cache_->List({.scope = {}, .limit = 1}).ok());
  for (CacheWatch* watch : {&hub, &a, &resumed, &resumed_a}) watch->watcher.reset();
  EXPECT_EQ(cache_->Stats().watchers, 0u);
  Start(/*history=*/2);
  for (int i = 0; i < 3; ++i) Write({PutObject({"a", "n", "x"}, std::to_string(i))});
  EXPECT_EQ(cache_->Watch({.scope = {}, .after = Revision(3)}).error().reason(), Reason::kExpired);
  EXPECT_TRUE(cache_->Watch({.scope = {}, .after = Revision(5)}).ok());
}

TEST_F(CachedStoreTest, AFilterTurnsChangesIntoComingAndGoing) {
  CacheWatch watch = Watch({.scope = {Workspace("a"), kConfigMaps, "n"}, .filter = LabelIsX});
  const Place place{"a", "n", "o"};
  Write({PutObject(place, "1", "y"), PutObject({"a", "other", "o"}, "1", "x")});
  Write({PutObject(place, "2", "x")});
  Write({PutObject(place, "3", "x")});
  Write({PutObject(place, "4", "y")});
  Write({PutObject(place, "5", "y")});
  Write({PutObject(place, "6", "x")});
  Write({DeleteObject(place)});
  Write({PutObject(place, "7", "y")});
  Write({DeleteObject(place)});
  EXPECT_EQ(Drained(*watch.watcher),
            (Lines{"ADDED a/n/o=2@2", "MODIFIED a/n/o=3@3", "DELETED a/n/o=3@4", "ADDED a/n/o=6@6",
                   "DELETED a/n/o=6@7"}));
}

TEST_F(CachedStoreTest, FramesAreEncodedOnceAndHoldTheShownObject) {
  CacheWatch one = Watch({.scope = kA});
  CacheWatch two = Watch({.scope = kA});
  const Place place{"a", "n", "o"};
  Write({PutObject(place, "1")});
  Write({DeleteObject(place)});
  std::vector<Watcher::Item> first, second;
  Revision up_to;
  one.watcher->Drain(first, 10, up_to);
  two.watcher->Drain(second, 10, up_to);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(first[0].event->Frame(first[0].type), second[0].event->Frame(second[0].type));
  EXPECT_EQ(
      *first[0].event->Frame(EventType::kAdded),
      "{\"type\":\"ADDED\",\"object\":" + std::string(first[0].event->object()->bytes()) + "}\n");
  const std::string deleted = *first[1].event->Frame(EventType::kDeleted);
  EXPECT_NE(deleted.find("\"type\":\"DELETED\""), std::string::npos);
  EXPECT_NE(deleted.find("\"resourceVersion\":\"2\""), std::string::npos);
  EXPECT_EQ(first[1].event->key(), place.key());
}

TEST_F(CachedStoreTest, ReadyIsToldOncePerFilling) {
  CacheWatch watch = Watch({.scope = kA});
  int calls = 0;
  watch.watcher->OnReady([&] { ++calls; });
  Write({PutObject({"a", "n", "x"}, "1")});
  Write({PutObject({"a", "n", "x"}, "2")});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Drained(*watch.watcher).size(), 2u);
  Write({PutObject({"b", "n", "x"}, "2")});
  EXPECT_EQ(calls, 1);
  Write({PutObject({"a", "n", "x"}, "3")});
  EXPECT_EQ(calls, 2);
  cache_->Stop();
  EXPECT_EQ(calls, 3);
  Watcher::State state;
  EXPECT_EQ(Drained(*watch.watcher, &state).size(), 1u);
  EXPECT_EQ(state, Watcher::State::kClosed);
  watch.watcher.reset();
  EXPECT_FALSE(cache_->Watch({.scope = kA}).ok());
}

TEST_F(CachedStoreTest, ASlowWatcherIsEndedAndOthersGoOn) {
  Start(/*history=*/1000, /*queue=*/10);
  CacheWatch slow = Watch({.scope = kA});
  CacheWatch quick = Watch({.scope = kA});
  Lines seen;
  for (int i = 0; i < 20; ++i) {
    Write({PutObject({"a", "n", "x"}, std::to_string(i))});
    for (std::string& line : Drained(*quick.watcher)) seen.push_back(std::move(line));
  }
  EXPECT_EQ(seen.size(), 20u);
  Watcher::State state;
  EXPECT_EQ(Drained(*slow.watcher, &state).size(), 10u);
  EXPECT_EQ(state, Watcher::State::kOverflow);
  // It resumes from what it saw last.
  CacheWatch again = Watch({.scope = kA, .after = Revision(10)});
  EXPECT_EQ(Drained(*again.watcher).size(), 10u);
}

TEST_F(CachedStoreTest, HistoryIsBoundedPerHubButIdleCollectionsKeepTheirPlace) {
  Start(/*history=*/5);
  const Revision first = Write({PutObject({"a", "n", "x"}, "1")});
  for (int i = 0; i < 10; ++i) Write({PutObject({"b", "n", "x"}, std::to_string(i))});
  EXPECT_TRUE(cache_->Watch({.scope = kA, .after = first}).ok());
  EXPECT_TRUE(cache_->Watch({.scope = {Workspace("a"), kSecrets, ""}, .after = first}).ok());
  EXPECT_EQ(
      cache_->Watch({.scope = {Workspace("b"), kConfigMaps, ""}, .after = first}).error().reason(),
      Reason::kExpired);
  EXPECT_EQ(cache_->Watch({.scope = kAll, .after = first}).error().reason(), Reason::kExpired);
  EXPECT_EQ(cache_->Watch({.scope = kA, .after = Revision()}).error().reason(), Reason::kExpired)
      << "the event of revision 1 is gone";
  EXPECT_FALSE(cache_->Watch({.scope = kA, .after = Revision(100)}).ok());
  // A collection that was emptied and forgotten does not pretend to know its past.
  Write({DeleteObject({"b", "n", "x"})});
  for (int i = 0; i < 10; ++i) Write({PutObject({"c", "n", "x"}, std::to_string(i))});
  EXPECT_EQ(
      cache_->Watch({.scope = {Workspace("b"), kConfigMaps, ""}, .after = first}).error().reason(),
      Reason::kExpired);
}

TEST_F(CachedStoreTest, WatchesResumeAcrossARestart) {
  const Revision first = Write({PutObject({"a", "n", "x"}, "1"), PutObject({"a", "n", "y"}, "1")});
  Write({DeleteObject({"a", "n", "x"})});
  Write({PutObject({"a", "n", "y"}, "2")});
  Start();
  CacheWatch watch = Watch({.scope = kA, .after = first});
  EXPECT_EQ(Drained(*watch.watcher), (Lines{"DELETED a/n/x=1@2", "MODIFIED a/n/y=2@3"}));
  watch.watcher.reset();
  ASSERT_TRUE(store_->Compact(Revision(2)).ok());
  Start();
  EXPECT_FALSE(cache_->Watch({.scope = kA, .after = first}).ok());
  watch = Watch({.scope = kA, .after = Revision(2)});
  EXPECT_EQ(Drained(*watch.watcher), Lines{"MODIFIED a/n/y=2@3"});
}

// What is written over something is no deletion, whether it can be read or not.
TEST_F(CachedStoreTest, ValuesThatAreNoObjectsChangeNothing) {
  const Place good{"a", "n", "good"}, bad{"a", "n", "bad"}, alias{"a", "n", "alias"};
  auto unreadable = [&] { return UnreadableValues(*cache_).values; };
  Write({PutObject(good, "1"),
         {Operation::Type::kPut, bad.key().ToStoreKey(), Bytes("not json")},
         {Operation::Type::kPut, "/mailroom/odd", Bytes("x")},
         {Operation::Type::kPut, alias.key().ToStoreKey(), Encoded(good, "1")}});
  EXPECT_EQ(List({.scope = kA}), Lines{"a/n/good=1@1"});
  EXPECT_EQ(unreadable(), 2u);
  EXPECT_EQ(UnreadableValues(*cache_).sealed, 0u);
  EXPECT_EQ(UnreadableValues(*cache_).key, alias.key().ToStoreKey());
  Write({PutObject(bad, "1"), DeleteObject(alias)});
  EXPECT_EQ(unreadable(), 0u);
  CacheWatch watch = Watch({.scope = kA});
  EXPECT_EQ(watch.initial.size(), 2u);
  Write({{Operation::Type::kPut, bad.key().ToStoreKey(), Bytes("broken again")}});
  EXPECT_EQ(Drained(*watch.watcher), Lines{});
  EXPECT_EQ(List({.scope = kA}), (Lines{"a/n/bad=1@2", "a/n/good=1@1"}));
  EXPECT_EQ(unreadable(), 1u);
  // Another writer, or a deletion, is told as what it is.
  Write({PutObject(bad, "2")});
  EXPECT_EQ(unreadable(), 0u);
  Write({{Operation::Type::kPut, bad.key().ToStoreKey(), Bytes("and again")}});
  Write({DeleteObject(bad)});
  EXPECT_EQ(Drained(*watch.watcher), (Lines{"MODIFIED a/n/bad=2@4", "DELETED a/n/bad=2@6"}));
  EXPECT_EQ(unreadable(), 0u);
  // After a restart nothing is known of it any more.
  Write({{Operation::Type::kPut, bad.key().ToStoreKey(), Bytes("not json")}});
  ASSERT_TRUE(store_->Compact(Revision(7)).ok());
  Start();
  EXPECT_EQ(List({.scope = kA}), Lines{"a/n/good=1@1"});
  EXPECT_EQ(unreadable(), 1u);
}

TEST_F(CachedStoreTest, WaitForARevision) {
  EXPECT_TRUE(cache_->WaitFor(Revision(0), 0ms).ok());
  auto late = cache_->WaitFor(Revision(1), 1ms);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().reason(), Reason::kTimeout);
  std::jthread writer([&] { Write({PutObject({"a", "n", "x"}, "1")}); });
  EXPECT_TRUE(cache_->WaitFor(Revision(1), 30s).ok());
}

// Random writes; watchers begin, pause and resume anywhere. Each must see what a model says, and
// lists at every remembered revision must match.
TEST_F(CachedStoreTest, WatchesAndListsMatchAModel) {
  Start(/*history=*/100'000, /*queue=*/100'000);
  std::mt19937 random(7);
  struct Step {
    Revision revision;
    Lines state;
  };
  std::vector<Step> steps;
  std::vector<std::string> events;  // all of workspace a, in order
  std::map<std::string, std::string> live;
  for (int i = 0; i < 300; ++i) {
    const Place place{random() % 2 ? "a" : "b", "n" + std::to_string(random() % 2),
                      "o" + std::to_string(random() % 6)};
    const std::string path = place.workspace + "/" + place.ns + "/" + place.name;
    const bool exists = live.contains(path);
    const bool remove = exists && random() % 3 == 0;
    const std::string value = std::to_string(i);
    const Revision revision = Write({remove ? DeleteObject(place) : PutObject(place, value)});
    const std::string at = "@" + revision.ToString();
    if (place.workspace == "a") {
      events.push_back(remove ? "DELETED " + path + "=" +
                                    live[path].substr(0, live[path].find('@')) + at
                              : (exists ? "MODIFIED " : "ADDED ") + path + "=" + value + at);
    }
    if (remove) {
      live.erase(path);
    } else {
      live[path] = value + at;
    }
    Lines state;
    for (const auto& [name, text] : live) {
      if (name[0] == 'a') state.push_back(name + "=" + text);
    }
    steps.push_back({revision, state});
  }
  for (const Step& step : steps) {
    ASSERT_EQ(List({.scope = kA, .at = step.revision}), step.state);
    CacheWatch watch = Watch({.scope = kA, .after = step.revision});
    const Lines seen = Drained(*watch.watcher);
    Lines expected;
    for (const std::string& event : events) {
      if (std::stoull(event.substr(event.find('@') + 1)) > step.revision.value()) {
        expected.push_back(event);
      }
    }
    ASSERT_EQ(seen, expected);
  }
}

}  // namespace
}  // namespace mailroom::storage
