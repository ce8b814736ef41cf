#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "apiserver/timer_queue.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";

std::string Shown(const Json& event) {
  if (event.is_null()) return "nothing";
  return StringAt(event, {"type"}) + " " + StringAt(event, {"object", "metadata", "name"});
}

class Watch : public testing::Test {
 protected:
  TestHub hub;
};

TEST_F(Watch, TellsEveryChangeAfterItsRevision) {
  const std::string revision =
      StringAt(hub.Do("POST", kMaps, ConfigMap("before")).body, {"metadata", "resourceVersion"});
  hub.Do("POST", kMaps, ConfigMap("a"));
  TestWatch watch(hub, kMaps + "?watch=1&resourceVersion=" + revision);
  EXPECT_EQ(watch.code(), 200);
  EXPECT_EQ(Shown(watch.Next()), "ADDED a");
  Json changed = ConfigMap("a", {{"k", "v"}});
  hub.Do("PUT", kMaps + "/a", changed);
  EXPECT_EQ(Shown(watch.Next()), "MODIFIED a");
  auto gone = hub.Do("DELETE", kMaps + "/a");
  const Json event = watch.Next();
  EXPECT_EQ(Shown(event), "DELETED a");
  EXPECT_EQ(StringAt(event, {"object", "data", "k"}), "v");
  EXPECT_EQ(StringAt(event, {"object", "kind"}), "ConfigMap");
}

TEST_F(Watch, StartsWithTheStateWhenNoRevisionIsGiven) {
  hub.Do("POST", kMaps, ConfigMap("a"));
  hub.Do("POST", kMaps, ConfigMap("b"));
  TestWatch watch(hub, kMaps + "?watch=true");
  EXPECT_EQ(Shown(watch.Next()), "ADDED a");
  EXPECT_EQ(Shown(watch.Next()), "ADDED b");
  hub.Do("POST", kMaps, ConfigMap("c"));
  EXPECT_EQ(Shown(watch.Next()), "ADDED c");
}

TEST_F(Watch, WatchListEndsTheInitialEventsWithABookmark) {
  hub.Do("POST", kMaps, ConfigMap("a"));
  TestWatch watch(hub, kMaps + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                               "resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(Shown(watch.Next()), "ADDED a");
  const Json mark = watch.Next();
  EXPECT_EQ(StringAt(mark, {"type"}), "BOOKMARK");
  EXPECT_EQ(StringAt(mark, {"object", "metadata", "annotations", "k8s.io/initial-events-end"}), "true");
  EXPECT_EQ(hub.Get(kMaps + "?watch=1&sendInitialEvents=true").code, 422);
  EXPECT_EQ(hub.Get(kMaps + "?watch=1&resourceVersionMatch=NotOlderThan").code, 422);
}

TEST_F(Watch, TheEndOfTheInitialEventsIsToldOnceAndOnlyToWhoAsked) {
  hub.Do("POST", kMaps, ConfigMap("a"));
  const std::string list =
      kMaps + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  TestWatch asked(hub, list + "&allowWatchBookmarks=true&timeoutSeconds=1");
  TestWatch silent(hub, list + "&timeoutSeconds=1");
  hub.Do("POST", kMaps, ConfigMap("b"));
  int ends = 0;
  std::string revision;
  for (Json event = asked.Next(); !event.is_null(); event = asked.Next()) {
    if (StringAt(event, {"type"}) != "BOOKMARK") continue;
    const Json* mark =
        Find(event, {"object", "metadata", "annotations", "k8s.io/initial-events-end"});
    ends += mark != nullptr ? 1 : 0;
    revision = StringAt(event, {"object", "metadata", "resourceVersion"});
  }
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(revision, StringAt(hub.Get(kMaps + "/b").body, {"metadata", "resourceVersion"}));
  std::vector<std::string> shown;
  for (Json event = silent.Next(); !event.is_null(); event = silent.Next())
    shown.push_back(Shown(event));
  EXPECT_EQ(shown, (std::vector<std::string>{"ADDED a", "ADDED b"}));
}

TEST_F(Watch, ResumesAfterEveryRevision) {
  std::string start = StringAt(hub.Get(kMaps).body, {"metadata", "resourceVersion"});
  std::vector<std::string> told, revisions = {start};
  auto note = [&](const std::string& what, const std::string& revision) {
    told.push_back(what + " " + revision);
    revisions.push_back(revision);
  };
  for (int i = 0; i < 6; ++i) {
    const std::string name = "m" + std::to_string(i % 3), self = kMaps + "/" + name;
    auto made = hub.Do("POST", kMaps, ConfigMap(name, {{"round", std::to_string(i)}}));
    note("ADDED " + name, StringAt(made.body, {"metadata", "resourceVersion"}));
    auto changed = hub.Do("PUT", self, ConfigMap(name, {{"round", "x"}}));
    note("MODIFIED " + name, StringAt(changed.body, {"metadata", "resourceVersion"}));
    ASSERT_EQ(hub.Do("DELETE", self).code, 200);
    // A deletion has a revision of its own, which nothing but the event and lists tell.
    note("DELETED " + name, StringAt(hub.Get(kMaps).body, {"metadata", "resourceVersion"}));
  }
  for (std::size_t from = 0; from < revisions.size(); ++from) {
    TestWatch watch(hub, kMaps + "?watch=1&resourceVersion=" + revisions[from]);
    for (std::size_t i = from; i < told.size(); ++i) {
      const Json event = watch.Next();
      ASSERT_EQ(Shown(event) + " " + StringAt(event, {"object", "metadata", "resourceVersion"}),
                told[i])
          << "from " << revisions[from];
    }
  }
}

TEST_F(Watch, SelectorsTurnChangesIntoArrivalsAndDepartures) {
  TestWatch watch(hub, kMaps + "?watch=1&labelSelector=in%3Dyes");
  Json object = ConfigMap("a");
  hub.Do("POST", kMaps, object);
  Set(object, {"metadata", "labels", "in"}, "yes");
  hub.Do("PUT", kMaps + "/a", object);
  EXPECT_EQ(Shown(watch.Next()), "ADDED a");
  Set(object, {"metadata", "labels", "in"}, "no");
  auto left = hub.Do("PUT", kMaps + "/a", object);
  const Json event = watch.Next();
  EXPECT_EQ(Shown(event), "DELETED a");
  EXPECT_EQ(StringAt(event, {"object", "metadata", "labels", "in"}), "yes");
  EXPECT_EQ(StringAt(event, {"object", "metadata", "resourceVersion"}),
            StringAt(left.body, {"metadata", "resourceVersion"}));
}

TEST_F(Watch, EndsAtItsTimeoutWithABookmark) {
  TestWatch watch(hub, kMaps + "?watch=1&timeoutSeconds=1&allowWatchBookmarks=1");
  EXPECT_EQ(StringAt(watch.Next(), {"type"}), "BOOKMARK");
  EXPECT_TRUE(watch.Next().is_null());
  EXPECT_TRUE(watch.ended());
}

TEST_F(Watch, LeavesNothingBehind) {
  const apiserver::TimerQueue& timers = hub.server().dispatcher().hub().timers;
  const std::size_t before = timers.size();
  {
    std::vector<std::unique_ptr<TestWatch>> watches;
    for (int i = 0; i < 20; ++i) {
      watches.push_back(std::make_unique<TestWatch>(
          hub, kMaps + "?watch=1&allowWatchBookmarks=1&timeoutSeconds=1000000000"));
      EXPECT_EQ(watches.back()->code(), 200);
    }
    EXPECT_GE(timers.size(), before + 20);
  }
  EXPECT_EQ(timers.size(), before);
}

TEST_F(Watch, AskedForLongerThanThereIsTimeLastsLong) {
  TestWatch watch(hub, kMaps + "?watch=1&timeoutSeconds=9300000000");
  hub.Do("POST", kMaps, ConfigMap("a"));
  EXPECT_EQ(Shown(watch.Next()), "ADDED a");
  hub.Do("POST", kMaps, ConfigMap("b"));
  EXPECT_EQ(Shown(watch.Next()), "ADDED b");
  EXPECT_FALSE(watch.ended());
}

TEST(Timers, WhatIsCancelledIsNeitherRunNorKept) {
  apiserver::TimerQueue timers;
  const auto now = std::chrono::steady_clock::now();
  auto held = std::make_shared<int>();
  const auto first = timers.At(now + std::chrono::hours(1), [held] {});
  const auto second = timers.At(now + std::chrono::hours(1), [held] {});
  EXPECT_EQ(timers.size(), 2u);
  timers.Cancel(first);
  timers.Cancel(first);
  EXPECT_EQ(timers.size(), 1u);
  EXPECT_EQ(held.use_count(), 2);
  timers.Cancel(second);
  timers.Cancel({});
  EXPECT_EQ(held.use_count(), 1);
  std::promise<void> ran;
  const auto past = timers.At(now, [&] { ran.set_value(); });
  ran.get_future().wait();
  timers.Cancel(past);  // too late, and no matter
  EXPECT_EQ(timers.size(), 0u);
}

TEST_F(Watch, AllWorkspacesNameTheirs) {
  hub.NewWorkspace("other", "wds");
  hub.Do("POST", kMaps, ConfigMap("a"));
  TestWatch watch(hub, "/clusters/*/api/v1/configmaps?watch=1");
  Json event = watch.Next();
  EXPECT_EQ(Shown(event), "ADDED a");
  EXPECT_EQ(StringAt(event, {"object", "metadata", "annotations", "mailbox.kubestellar.io/workspace"}),
            "wds1");
  hub.Do("POST", "/clusters/other/api/v1/namespaces/default/configmaps", ConfigMap("b"));
  event = watch.Next();
  EXPECT_EQ(StringAt(event, {"object", "metadata", "annotations", "mailbox.kubestellar.io/workspace"}),
            "other");
  EXPECT_EQ(Find(hub.Get("/clusters/*/api/v1/configmaps").body, {"items"})->size(), 2u);
}

TEST_F(Watch, TablesCarryColumnsOnce) {
  hub.Do("POST", kMaps, ConfigMap("a"));
  TestWatch watch(hub, kMaps + "?watch=1", "application/json;as=Table;v=v1;g=meta.k8s.io");
  Json first = watch.Next();
  EXPECT_EQ(StringAt(first, {"object", "kind"}), "Table");
  EXPECT_FALSE(Find(first, {"object", "columnDefinitions"})->is_null());
  hub.Do("POST", kMaps, ConfigMap("b"));
  EXPECT_TRUE(Find(watch.Next(), {"object", "columnDefinitions"})->is_null());
}

}  // namespace
}  // namespace mailroom
