#include "storage/compactor.h"

#include <gtest/gtest.h>

#include <atomic>

#include "storage/cached_store_testing.h"
#include "storage/embedded_store.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using namespace std::chrono_literals;
using testing::MustCommit;
using testing::Put;
using testing::Write;

class ManualClock final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override { return {}; }
  std::chrono::steady_clock::time_point Monotonic() const override {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds.load()));
  }
  std::atomic<int> seconds = 1000;
};

TEST(Compactor, ForgetsOnlyWhatIsOldEnough) {
  std::unique_ptr<Store> store = OpenMemory();
  auto cache =
      CachedStore::Start(*store, {.history_events = 10, .watch_queue = 10, .probe = false});
  ASSERT_TRUE(cache.ok());
  ManualClock clock;
  const Revision first = MustCommit(*store, Write({Put("/mailroom/a", "1")}));
  Compactor compactor(*store, **cache, clock, {.age = 300s, .interval = 3600s});
  ASSERT_TRUE(compactor.Step().ok());
  const Revision second = MustCommit(*store, Write({Put("/mailroom/a", "2")}));
  clock.seconds += 299;
  EXPECT_EQ(*compactor.Step(), Revision());
  EXPECT_TRUE(store->List({.prefix = "/", .at = first}).ok());
  const Revision third = MustCommit(*store, Write({Put("/mailroom/a", "3")}));
  clock.seconds += 1;
  const Revision reached = *compactor.Step();
  EXPECT_EQ(reached, first);
  clock.seconds += 299;
  EXPECT_EQ(*compactor.Step(), second);
  EXPECT_FALSE(store->List({.prefix = "/", .at = first}).ok());
  EXPECT_TRUE(store->List({.prefix = "/", .at = second}).ok());
  EXPECT_TRUE(store->List({.prefix = "/", .at = third}).ok());
}

// Of a store nobody writes to: pages expire there as well, or a list could be continued for ever.
TEST(Compactor, PagesOfAnIdleStoreGetOldButWatchesStay) {
  std::unique_ptr<Store> store = OpenMemory();
  auto cache =
      CachedStore::Start(*store, {.history_events = 10, .watch_queue = 10, .probe = false});
  ASSERT_TRUE(cache.ok());
  ManualClock clock;
  const Scope scope{Workspace("a"), kConfigMaps, ""};
  const Revision first = MustCommit(*store, Write({PutObject({"a", "n", "x"}, "1")}));
  auto live = (*cache)->Watch({.scope = scope, .after = first});
  ASSERT_TRUE(live.ok());
  bool woken = false;
  live->watcher->OnReady([&] { woken = true; });
  Compactor compactor(*store, **cache, clock, {.age = 300s, .interval = 3600s});
  for (int i = 0; i < 3; ++i, clock.seconds += 60) {
    ASSERT_TRUE(compactor.Step().ok());
    EXPECT_TRUE((*cache)->List({.scope = scope, .at = first}).ok()) << "it is young";
  }
  const Revision later = (*cache)->applied();
  EXPECT_GT(later, first);
  for (int i = 0; i < 5; ++i, clock.seconds += 60) ASSERT_TRUE(compactor.Step().ok());
  EXPECT_EQ((*cache)->List({.scope = scope, .at = first}).error().reason(), Reason::kExpired);
  EXPECT_TRUE((*cache)->List({.scope = scope, .at = later}).ok()) << "that is younger";
  EXPECT_GT((*cache)->List({.scope = scope})->revision, later);
  EXPECT_TRUE((*cache)->Watch({.scope = scope, .after = first}).ok()) << "it missed nothing";
  EXPECT_FALSE(woken);
  EXPECT_EQ((*cache)->Stats().objects, 1u);
  EXPECT_EQ((*cache)->Stats().history_events, 1u);
  EXPECT_EQ(store->List({.prefix = "/"})->entries.size(), 2u) << "the object and one mark";
}

TEST(Compactor, LeavesABusyStoreToItsWriters) {
  std::unique_ptr<Store> store = OpenMemory();
  auto cache =
      CachedStore::Start(*store, {.history_events = 10, .watch_queue = 10, .probe = false});
  ASSERT_TRUE(cache.ok());
  ManualClock clock;
  Compactor compactor(*store, **cache, clock, {.age = 300s, .interval = 3600s});
  for (int i = 0; i < 8; ++i, clock.seconds += 60) {
    MustCommit(*store, Write({Put("/mailroom/a", std::to_string(i))}));
    ASSERT_TRUE(compactor.Step().ok());
  }
  EXPECT_EQ(*store->CurrentRevision(), Revision(8));
}

}  // namespace
}  // namespace mailroom::storage
