#include "storage/compactor.h"

#include <gtest/gtest.h>

#include <atomic>

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

}  // namespace
}  // namespace mailroom::storage
