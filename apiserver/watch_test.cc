#include <gtest/gtest.h>

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
