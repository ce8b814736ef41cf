#include "storage/cached_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "storage/embedded_store.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using namespace std::chrono_literals;
using testing::Bytes;
using testing::TemporaryDirectory;
using Lines = std::vector<std::string>;

const GroupResource kConfigMaps{"", "configmaps"};
const GroupResource kSecrets{"", "secrets"};

struct Place {
  std::string workspace, ns, name;
  GroupResource resource = kConfigMaps;
  ResourceKey key() const { return {Workspace(workspace), resource, ns, name}; }
};

SharedBytes Encoded(const Place& place, const std::string& value, const std::string& label = "x",
                    const std::string& uid = "u") {
  Json metadata = {{"name", place.name}, {"uid", uid}, {"labels", {{"app", label}}}};
  if (!place.ns.empty()) metadata["namespace"] = place.ns;
  return Bytes(Object::Encode({{"apiVersion", "v1"},
                               {"kind", "ConfigMap"},
                               {"metadata", metadata},
                               {"data", {{"v", value}}}}));
}

Operation PutObject(const Place& place, const std::string& value, const std::string& label = "x") {
  return {Operation::Type::kPut, place.key().ToStoreKey(), Encoded(place, value, label)};
}
Operation DeleteObject(const Place& place) {
  return {Operation::Type::kDelete, place.key().ToStoreKey(), nullptr};
}

std::string ValueOf(const Object& object) { return object.ScalarAt("data.v"); }

bool LabelIsX(const Object& object) {
  for (const auto& [key, value] : object.meta().labels) {
    if (key == "app") return value == "x";
  }
  return false;
}

// `ws/ns/name=value@revision`.
std::string Describe(const std::string& workspace, const Object& object) {
  return workspace + "/" + std::string(object.meta().ns) + "/" + std::string(object.meta().name) +
         "=" + ValueOf(object) + "@" + object.revision().ToString();
}

Lines Describe(const std::vector<Entry>& entries) {
  Lines lines;
  for (const Entry& entry : entries) {
    lines.push_back(Describe(entry.workspace->name(), *entry.object));
  }
  return lines;
}

Lines Drained(Watcher& watcher, Watcher::State* state = nullptr, Revision* up_to = nullptr) {
  std::vector<Watcher::Item> items;
  Revision reached;
  const Watcher::State end = watcher.Drain(items, 1'000'000, reached);
  if (state) *state = end;
  if (up_to) *up_to = reached;
  Lines lines;
  for (const Watcher::Item& item : items) {
    lines.push_back(std::string(EventTypeText(item.type)) + " " +
                    Describe(item.event->workspace().name(), *item.event->Shown(item.type)));
  }
  return lines;
}

class CachedStoreTest : public ::testing::Test {
 protected:
  CachedStoreTest() { Start(); }
  void Start(std::size_t history = 1000, std::size_t queue = 100) {
    cache_.reset();
    Result<std::unique_ptr<CachedStore>> started = CachedStore::Start(
        *store_, {.history_events = history, .watch_queue = queue, .probe = false});
    ASSERT_TRUE(started.ok());
    cache_ = std::move(*started);
  }
  Revision Write(std::vector<Operation> operations) {
    Result<TxnResult> result = cache_->Commit({{}, std::move(operations)});
    EXPECT_TRUE(result.ok());
    return result->revision;
  }
  Lines List(const CacheListOptions& options) {
    Result<CacheListResult> result = cache_->List(options);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
    return result.ok() ? Describe(result->entries) : Lines{};
  }
  CacheWatch Watch(const CacheWatchOptions& options) {
    Result<CacheWatch> watch = cache_->Watch(options);
    EXPECT_TRUE(watch.ok()) << (watch.ok() ? "" : watch.error().message());
    return watch.ok() ? std::move(*watch) : CacheWatch{};
  }

  std::unique_ptr<Store> store_ = OpenMemory();
  std::unique_ptr<CachedStore> cache_;
};

const Scope kA{Workspace("a"), kConfigMaps, ""};
const Scope kAll{Workspace(), kConfigMaps, ""};

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
  for (const bool filtered : {false, true}) {
    CacheListOptions options{.scope = kAll, .limit = 4};
    if (filtered) {
      options.filter = LabelIsX;
      options.at = start;
    }
    const Lines whole = List({.scope = kAll, .filter = options.filter, .at = start});
    Lines paged;
    std::size_t rest = whole.size();
    do {
      Result<CacheListResult> page = cache_->List(options);
      ASSERT_TRUE(page.ok());
      const Lines lines = Describe(page->entries);
      ASSERT_LE(lines.size(), 4u);
      paged.insert(paged.end(), lines.begin(), lines.end());
      rest -= lines.size();
      EXPECT_EQ(page->remaining, filtered ? 0 : rest);
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
    EXPECT_EQ(whole.size(), filtered ? 8u : 14u);
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

TEST_F(CachedStoreTest, ValuesThatAreNoObjectsAreSkipped) {
  const Place good{"a", "n", "good"}, bad{"a", "n", "bad"};
  Write({PutObject(good, "1"),
         {Operation::Type::kPut, bad.key().ToStoreKey(), Bytes("not json")},
         {Operation::Type::kPut, "/mailroom/odd", Bytes("x")},
         {Operation::Type::kPut, Place{"a", "n", "alias"}.key().ToStoreKey(), Encoded(good, "1")}});
  EXPECT_EQ(List({.scope = kA}), Lines{"a/n/good=1@1"});
  Write({PutObject(bad, "1")});
  CacheWatch watch = Watch({.scope = kA});
  EXPECT_EQ(watch.initial.size(), 2u);
  Write({{Operation::Type::kPut, bad.key().ToStoreKey(), Bytes("broken again")}});
  EXPECT_EQ(Drained(*watch.watcher), Lines{"DELETED a/n/bad=1@3"});
  Start();
  EXPECT_EQ(List({.scope = kA}), Lines{"a/n/good=1@1"});
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

// A store whose watch can be cut and refused, and whose answers can be held back.
class BreakableStore final : public Store {
 public:
  explicit BreakableStore(Store& store) : store_(store) {}
  Result<GetResult> Get(const std::string& key) override { return store_.Get(key); }
  Result<ListResult> List(const ListOptions& options) override { return store_.List(options); }
  void Commit(Txn txn, CommitDone done) override { store_.Commit(std::move(txn), std::move(done)); }
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    if (refuse_) return Unavailable("refused");
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
  std::atomic<int> questions_ = 0;
  std::atomic<bool> hold_ = false;
};

class RestartTest : public CachedStoreTest {
 protected:
  void StartBreakable() {
    cache_.reset();
    Result<std::unique_ptr<CachedStore>> started =
        CachedStore::Start(breakable_, {.history_events = 1000, .watch_queue = 100, .probe = true});
    ASSERT_TRUE(started.ok());
    cache_ = std::move(*started);
  }
  // Ends the watch, changes the store while nobody follows, and lets the cache come back.
  void BreakWhile(const Status& why, const std::function<void()>& change) {
    breakable_.refuse_ = true;
    // The cache is still subscribed below; take it off by making it reconnect.
    breakable_.sink_.load()->OnEnd(Unavailable("cut"));
    EXPECT_EQ(cache_->WaitFor(cache_->applied().Next(), 300ms).ok(), false);
    change();
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
