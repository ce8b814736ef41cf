// What is queued for watchers that do not drain it.
#include <gtest/gtest.h>

#include <atomic>

#include "storage/cached_store_testing.h"
#include "storage/subscription.h"

namespace mailroom::storage {
namespace {

class SlowWatcherTest : public CachedStoreTest {};

// A queue holds so many bytes and no more, of the objects that came and of those before them.
TEST_F(SlowWatcherTest, IsEndedSoonerWhenObjectsAreLarge) {
  const Place place{"a", "n", "x"};
  const std::string large(limits::kWatchQueueBytes / 8, 'l');  // with the rest, seven fit
  const Revision first = Write({PutObject(place, "0")});
  CacheWatch whole = Watch({.scope = kA});
  CacheWatch choosy = Watch({.scope = kA, .filter = LabelIsX});
  CacheWatch quick = Watch({.scope = kA});
  // Each event has a large object or a large one before it.
  for (int i = 0; i < 10; ++i) {
    Write({PutObject(place, i % 2 == 0 ? large : std::to_string(i))});
    EXPECT_EQ(Drained(*quick.watcher).size(), 1u);
  }
  for (CacheWatch* slow : {&whole, &choosy}) {
    EXPECT_TRUE(slow->watcher->overflowed());
    Watcher::State state;
    EXPECT_EQ(Drained(*slow->watcher, &state).size(), 7u);
    EXPECT_EQ(state, Watcher::State::kOverflow);
  }
  // What a watch resumes with is not what it was too slow for.
  CacheWatch resumed = Watch({.scope = kA, .after = first});
  for (int i = 0; i < 7; ++i) Write({PutObject(place, i % 2 == 0 ? large : std::to_string(i))});
  EXPECT_FALSE(resumed.watcher->overflowed());
  Write({PutObject(place, "last")});
  EXPECT_TRUE(resumed.watcher->overflowed());
  EXPECT_EQ(Drained(*resumed.watcher).size(), 17u);
}

// Of one batch as much is queued as there is room for; what was drained makes room.
TEST_F(SlowWatcherTest, IsCountedByBytesThroughout) {
  const std::string small(limits::kWatchQueueBytes / 40, 's');  // with the rest, 39 fit
  auto create = [&, made = 0](int count) mutable {
    std::vector<Operation> batch;
    while (count-- > 0) batch.push_back(PutObject({"a", "n", std::to_string(made++)}, small));
    Write(std::move(batch));
  };
  CacheWatch watch = Watch({.scope = kA});
  std::vector<Watcher::Item> items;
  Revision up_to;
  for (int i = 0; i < 20; ++i) {
    create(4);
    create(3);
    EXPECT_EQ(watch.watcher->Drain(items, 2, up_to), Watcher::State::kOpen);  // of a batch
    EXPECT_EQ(watch.watcher->Drain(items, 5, up_to), Watcher::State::kOpen);
  }
  for (int i = 0; i < 10; ++i) create(4);
  EXPECT_TRUE(watch.watcher->overflowed());
  Watcher::State state;
  EXPECT_EQ(Drained(*watch.watcher, &state).size(), 39u);
  EXPECT_EQ(state, Watcher::State::kOverflow);
}

// Whoever watches is told once that much is waiting, and again when he had caught up in between.
TEST_F(SlowWatcherTest, IsToldWhenItFallsBehind) {
  const std::string part(limits::kStreamPendingBytes / 4, 'p');
  CacheWatch watch = Watch({.scope = kA});
  std::atomic<int> told = 0;
  watch.watcher->OnReady([&] { ++told; });
  int made = 0;
  auto create = [&](int count) {
    while (count-- > 0) Write({PutObject({"a", "n", std::to_string(made++)}, part)});
  };
  for (int i = 0; i < 2; ++i) {
    told = 0;
    EXPECT_EQ(watch.watcher->pending(), 0u);
    create(3);
    EXPECT_EQ(told, 1);
    EXPECT_GT(watch.watcher->pending(), 3 * part.size());
    EXPECT_LT(watch.watcher->pending(), limits::kStreamPendingBytes);
    create(3);
    EXPECT_EQ(told, 2);
    EXPECT_GT(watch.watcher->pending(), limits::kStreamPendingBytes);
    EXPECT_FALSE(watch.watcher->overflowed());
    EXPECT_EQ(Drained(*watch.watcher).size(), 6u);
  }
}

// However small the bounds, what comes to an empty queue is queued.
TEST_F(SlowWatcherTest, OneEventAlwaysFits) {
  const Subscription::Applied applied = std::make_shared<std::atomic<std::uint64_t>>(0);
  Subscription subscription("", nullptr, 10, limits::kStreamPendingBytes, applied);
  const Place place{"a", "n", "x"};
  const std::string huge(limits::kWatchQueueBytes + 1, 'h');
  const ObjectPtr object = Object::Decode(*Encoded(place, huge), Revision(1)).value();
  const auto event =
      std::make_shared<const Event>(EventType::kAdded, place.key(), object, nullptr);
  auto queue = [&](std::size_t count) {
    const std::vector<Watcher::Item> items(count, {EventType::kAdded, event});
    subscription.Queue(std::make_shared<const EventRun>(items));
  };
  std::vector<Watcher::Item> items;
  Revision up_to;
  for (int i = 0; i < 3; ++i) {
    queue(1);
    EXPECT_EQ(subscription.Drain(items, 10, up_to), Watcher::State::kOpen);
  }
  EXPECT_EQ(items.size(), 3u);
  queue(2);
  EXPECT_EQ(subscription.Drain(items, 10, up_to), Watcher::State::kOverflow);
  EXPECT_EQ(items.size(), 4u);
}

// What is preloaded does not widen the queue for good.
TEST_F(SlowWatcherTest, IsBoundedAsAnyOtherOnceItHasResumed) {
  Start(/*history=*/1000, /*queue=*/10);
  for (int i = 0; i < 50; ++i) Write({PutObject({"a", "n", "x"}, std::to_string(i))});
  CacheWatch resumed = Watch({.scope = kA, .after = Revision(1)});
  EXPECT_EQ(Drained(*resumed.watcher).size(), 49u);
  for (int i = 0; i < 20; ++i) Write({PutObject({"a", "n", "x"}, std::to_string(i))});
  Watcher::State state;
  EXPECT_EQ(Drained(*resumed.watcher, &state).size(), 10u);
  EXPECT_EQ(state, Watcher::State::kOverflow);
}

}  // namespace
}  // namespace mailroom::storage
