// Of very many, few are left and put together: they are found, listed and told of as before.
#include <gtest/gtest.h>

#include "storage/cache_state.h"
#include "storage/cached_store_testing.h"
#include "storage/gather.h"
#include "storage/object/limits.h"
#include "storage/revision_map.h"

namespace mailroom::storage {
namespace {

constexpr std::uint64_t kMany = 3000;

std::string Name(std::uint64_t i) { return "workspace-with-a-long-name-" + std::to_string(100'000 + i); }
bool Stays(std::uint64_t i) { return i % 100 == 0; }
Version At(std::uint64_t revision, std::uint64_t created) {
  return {Position(Revision(revision), 0), Revision(created)};
}

TEST(RevisionMapSettles, FindsWhatIsLeft) {
  RevisionMap map;
  for (std::uint64_t i = 0; i < kMany; ++i) map.Apply(Name(i), At(i + 1, i + 1));
  std::uint64_t revision = kMany;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    if (!Stays(i)) map.Apply(Name(i), At(++revision, 0));
  }
  map.Apply(Name(0), At(++revision, 1));  // has an older version at the time
  std::string next;
  do {
    next = map.Prune(next, Revision(revision - 1), 500).next;
  } while (!next.empty());
  map.Settle();
  std::size_t seen = 0;
  map.Visit("", "", Revision(revision), [&](const std::string& key, const Version& version) {
    EXPECT_EQ(key, Name(seen * 100));
    EXPECT_EQ(version.created.value(), seen * 100 + 1);
    ++seen;
    return true;
  });
  EXPECT_EQ(seen, kMany / 100);
  EXPECT_EQ(map.At(Name(0), Revision(revision - 1))->revision(), Revision(1));
  EXPECT_EQ(map.At(Name(0), Revision(revision))->revision(), Revision(revision));
  EXPECT_EQ(map.Newest(Name(1)), nullptr);
  map.Undo(Name(0), Revision(revision - 1));
  EXPECT_EQ(map.Newest(Name(0))->revision(), Revision(1));
}

class CacheStateSettles : public ::testing::Test {
 protected:
  void Put(std::uint64_t i, const std::string& value) { Change(i, Encoded(PlaceOf(i), value)); }
  void Change(std::uint64_t i, const SharedBytes& bytes) {
    const Revision revision = state_.applied().Next();
    ObjectPtr object = bytes ? Object::Decode(*bytes, revision).value() : nullptr;
    std::vector<Audience*> offered;
    state_.Apply({PlaceOf(i).key(), object, revision}, second_, offered);
    state_.SetApplied(revision);
    std::vector<SubscriptionPtr> wake;
    for (Audience* audience : offered) audience->Flush(wake);
  }
  SubscriptionPtr Listen(const Scope& scope) {
    auto subscription = std::make_shared<Subscription>(
        "", nullptr, 1000, 1 << 20, std::make_shared<std::atomic<std::uint64_t>>(0));
    state_.Subscribe(scope, subscription);
    return subscription;
  }
  static std::size_t Heard(const SubscriptionPtr& subscription) {
    std::vector<Watcher::Item> items;
    Revision up_to;
    subscription->Drain(items, 1000, up_to);
    return items.size();
  }
  static Place PlaceOf(std::uint64_t i) { return {Name(i), "n", "x"}; }

  GuardedState guarded_{1'000'000, 1 << 30};
  CacheState& state_ = guarded_.state;
  std::int64_t second_ = 1;
};

TEST_F(CacheStateSettles, ListsAndTellsOfWhatIsLeft) {
  for (std::uint64_t i = 0; i < kMany; ++i) Put(i, std::to_string(i));
  const SubscriptionPtr one = Listen({Workspace(Name(100)), kConfigMaps, ""});
  for (std::uint64_t i = 0; i < kMany; ++i) {
    if (!Stays(i)) Change(i, nullptr);
  }
  second_ = 2;
  Put(200, "new");  // known to history when the rest is forgotten
  const SubscriptionPtr all = Listen({Workspace(), kConfigMaps, ""});
  state_.ForgetEvents(2);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const ObjectPtr found = state_.Find(PlaceOf(i).key());
    ASSERT_EQ(found != nullptr, Stays(i)) << i;
    EXPECT_EQ(state_.Count(Workspace(Name(i))), Stays(i) ? 1u : 0u);
    if (!found) continue;
    EXPECT_EQ(ValueOf(*found), i == 200 ? "new" : std::to_string(i));
  }
  Selection selection{{Workspace(), kConfigMaps, ""}, 0, ""};
  ASSERT_TRUE(state_.Select(state_.applied(), 0, selection).ok());
  EXPECT_EQ(selection.entries.size(), kMany / 100);
  EXPECT_EQ(state_.LastChange(Workspace(Name(300)), kConfigMaps), Revision(301));
  const auto events = state_.Events({Workspace(Name(200)), kConfigMaps, ""}, state_.applied());
  EXPECT_TRUE(events.ok());
  EXPECT_FALSE(state_.Events({Workspace(Name(300)), kConfigMaps, ""}, Revision(1)).ok());
  for (std::uint64_t i : {0u, 100u, 200u, 300u}) Change(i, nullptr);
  Put(100, "again");
  EXPECT_EQ(Heard(one), 2u);
  EXPECT_EQ(Heard(all), 5u);
  second_ = 3;
  state_.ForgetEvents(4);
  EXPECT_EQ(state_.Find(PlaceOf(200).key()), nullptr);
  EXPECT_EQ(ValueOf(*state_.Find(PlaceOf(100).key())), "again");
}

TEST_F(CacheStateSettles, GathersTheObjectsThatAreLeft) {
  for (std::uint64_t i = 0; i < kMany; ++i) Put(i, std::to_string(i));
  EXPECT_FALSE(GatherScattered(guarded_, 1)) << "all are there";
  for (std::uint64_t i = 0; i < kMany; ++i) {
    if (!Stays(i)) Change(i, nullptr);
  }
  const ObjectPtr before = state_.Find(PlaceOf(100).key());
  const std::int64_t forgotten = 2 + (limits::kHistoryAge + limits::kHistoryTrim).count();
  EXPECT_FALSE(GatherScattered(guarded_, 2)) << "history knows what has gone";
  EXPECT_FALSE(GatherScattered(guarded_, forgotten - 1));
  EXPECT_TRUE(GatherScattered(guarded_, forgotten));
  EXPECT_FALSE(GatherScattered(guarded_, forgotten + 1)) << "once is enough";
  const ObjectPtr after = state_.Find(PlaceOf(100).key());
  EXPECT_NE(after, before);
  EXPECT_EQ(after->bytes(), before->bytes());
  EXPECT_EQ(after->revision(), before->revision());
  Selection selection{{Workspace(), kConfigMaps, ""}, 0, ""};
  ASSERT_TRUE(state_.Select(state_.applied(), 0, selection).ok());
  EXPECT_EQ(selection.entries.size(), kMany / 100);
  Put(100, "again");
  EXPECT_EQ(ValueOf(*state_.Find(PlaceOf(100).key())), "again");
}

TEST_F(CacheStateSettles, GathersNothingWhenManyHaveComeAgain) {
  for (std::uint64_t i = 0; i < kMany; ++i) Put(i, "");
  for (std::uint64_t i = 1; i < kMany; ++i) Change(i, nullptr);
  EXPECT_FALSE(GatherScattered(guarded_, 2)) << "history knows what has gone";
  const ObjectPtr before = state_.Find(PlaceOf(0).key());
  for (std::uint64_t i = 1; i <= limits::kThinnedMost; ++i) state_.Load(PlaceOf(i).key(), before);
  const std::int64_t forgotten = 2 + (limits::kHistoryAge + limits::kHistoryTrim).count();
  EXPECT_FALSE(GatherScattered(guarded_, forgotten));
  EXPECT_EQ(state_.Find(PlaceOf(0).key()), before);
}

// Between the copy and the exchange the object may have changed, or gone.
TEST_F(CacheStateSettles, ExchangesOnlyWhatIsThere) {
  Put(1, "old");
  const ObjectPtr old = state_.Find(PlaceOf(1).key());
  Put(1, "new");
  const CollectionName name{Workspace(Name(1)), kConfigMaps};
  state_.Exchange(name, old, old->AtRevision(old->revision()));
  EXPECT_EQ(ValueOf(*state_.Find(PlaceOf(1).key())), "new");
  Change(1, nullptr);
  state_.Exchange(name, old, old->AtRevision(old->revision()));
  EXPECT_EQ(state_.Find(PlaceOf(1).key()), nullptr);
}

}  // namespace
}  // namespace mailroom::storage
