// Events that are shared by those who see the same of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/audience.h"
#include "storage/cached_store_testing.h"
#include "storage/event_run.h"

namespace mailroom::storage {
namespace {

constexpr std::size_t kPlenty = 1024 * 1024;

class EventRunTest : public CachedStoreTest {
 protected:
  static std::string FramesOf(const std::vector<Watcher::Item>& items) {
    std::string text;
    for (const Watcher::Item& item : items) text += *item.event->Frame(item.type);
    return text;
  }
};

TEST_F(EventRunTest, IsSharedByThoseOfOneNamespace) {
  Write({PutObject({"a", "n", "old"}, "0")});
  CacheWatch one = Watch({.scope = {.workspace = kA.workspace, .resource = kA.resource, .ns = "n"}});
  CacheWatch two = Watch({.scope = {.workspace = kA.workspace, .resource = kA.resource, .ns = "n"}});
  CacheWatch other = Watch({.scope = {.workspace = kA.workspace, .resource = kA.resource, .ns = "m"}});
  CacheWatch all = Watch({.scope = kA});
  Write({PutObject({"a", "n", "old"}, "1"), PutObject({"a", "m", "far"}, "2"),
         PutObject({"a", "n", "new"}, "3")});
  const auto run = one.watcher->DrainRun(kPlenty);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(two.watcher->DrainRun(kPlenty), run);
  EXPECT_EQ(run->items().size(), 2u);
  for (const Watcher::Item& item : run->items()) EXPECT_EQ(item.event->ns(), "n");
  EXPECT_EQ(Drained(*other.watcher).size(), 1u);
  const auto whole = all.watcher->DrainRun(kPlenty);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->items().size(), 3u);
  EXPECT_EQ(one.watcher->DrainRun(kPlenty), nullptr);
  EXPECT_EQ(one.watcher->pending(), 0u);
}

TEST_F(EventRunTest, OnesTextIsThatOfItsFrames) {
  Write({PutObject({"a", "n", "x"}, "0")});
  CacheWatch watch = Watch({.scope = kA});
  Write({PutObject({"a", "n", "x"}, "1"), PutObject({"a", "n", "y"}, "2")});
  Write({DeleteObject({"a", "n", "y"})});
  std::string text;
  std::vector<Watcher::Item> items;
  while (const auto run = watch.watcher->DrainRun(kPlenty)) {
    const Object& object = *run->items().front().event->Shown(run->items().front().type);
    const SharedBytes shared = run->Text(object.api_version(), object.kind());
    ASSERT_NE(shared, nullptr);
    EXPECT_EQ(run->Text(object.api_version(), object.kind()), shared);  // not made again
    EXPECT_EQ(run->Text(object.api_version(), "Other"), nullptr);
    text += *shared;
    items.insert(items.end(), run->items().begin(), run->items().end());
  }
  EXPECT_EQ(items.size(), 3u);
  EXPECT_EQ(text, FramesOf(items));
}

TEST_F(EventRunTest, OfSeveralKindsHasNoText) {
  const auto event = [](const char* kind, std::uint64_t revision) {
    const std::string text = std::string(R"({"apiVersion":"v1","kind":")") + kind +
                             R"(","metadata":{"name":"x","namespace":"n"}})";
    const ObjectPtr object = Object::Decode(text, Revision(revision)).value();
    return std::make_shared<const Event>(EventType::kAdded, Place{"a", "n", "x"}.key(), object, nullptr);
  };
  const EventRun run({{EventType::kAdded, event("One", 1)}, {EventType::kAdded, event("Two", 2)}});
  EXPECT_EQ(run.Text("v1", "One"), nullptr);
  EXPECT_EQ(run.last(), Revision(2));
}

// What is begun, too large, or what nobody else has, is drained one by one.
TEST_F(EventRunTest, IsWholeOrNotAtAll) {
  CacheWatch watch = Watch({.scope = kA});
  Write({PutObject({"a", "n", "x"}, "1"), PutObject({"a", "n", "y"}, "2")});
  EXPECT_EQ(watch.watcher->DrainRun(1), nullptr);
  std::vector<Watcher::Item> items;
  Revision up_to;
  watch.watcher->Drain(items, 1, up_to);
  EXPECT_EQ(watch.watcher->DrainRun(kPlenty), nullptr);
  EXPECT_EQ(Drained(*watch.watcher).size(), 1u);
  CacheWatch picky = Watch({.scope = kA, .filter = LabelIsX});
  CacheWatch resumed = Watch({.scope = kA, .after = watch.revision});
  EXPECT_EQ(resumed.watcher->DrainRun(kPlenty), nullptr);
  EXPECT_EQ(Drained(*resumed.watcher).size(), 2u);
  Write({PutObject({"a", "n", "x"}, "3", "x"), PutObject({"a", "n", "z"}, "3", "x")});
  EXPECT_EQ(picky.watcher->DrainRun(kPlenty), nullptr);
  EXPECT_EQ(Drained(*picky.watcher).size(), 2u);
}

TEST_F(EventRunTest, WhoeverLeavesIsOfferedNothingMore) {
  const Subscription::Applied applied = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto subscription = [&] {
    return std::make_shared<Subscription>("n", nullptr, 10, kPlenty, applied);
  };
  const SubscriptionPtr stays = subscription(), goes = subscription();
  const Place place{"a", "n", "x"};
  const ObjectPtr object = Object::Decode(*Encoded(place, "1"), Revision(1)).value();
  const auto event = std::make_shared<const Event>(EventType::kAdded, place.key(), object, nullptr);
  Audience audience;
  audience.Add(goes);
  EXPECT_TRUE(audience.Offer(event));
  audience.Remove(goes);  // the last of its namespace
  EXPECT_TRUE(audience.empty());
  std::vector<SubscriptionPtr> wake;
  audience.Flush(wake);
  EXPECT_TRUE(wake.empty());
  audience.Add(stays);
  EXPECT_EQ(audience.size(), 1u);
  EXPECT_TRUE(audience.Offer(event));
  audience.Flush(wake);
  EXPECT_EQ(wake, std::vector<SubscriptionPtr>{stays});
  EXPECT_EQ(goes->DrainRun(kPlenty), nullptr);
  EXPECT_NE(stays->DrainRun(kPlenty), nullptr);
}

}  // namespace
}  // namespace mailroom::storage
