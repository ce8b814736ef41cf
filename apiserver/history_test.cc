// What clients hear when they come back for a state that is no longer known, and writes that race.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
constexpr const char* kMerge = "application/merge-patch+json";

apiserver::Server::Options ShortMemory() {
  apiserver::Server::Options options;
  options.history_events = 8;
  return options;
}

std::string RevisionOf(const Json& object) {
  return StringAt(object, {"metadata", "resourceVersion"});
}

class Forgotten : public testing::Test {
 protected:
  void Forget() {
    for (int i = 0; i < 20; ++i) {
      hub.Do("PUT", kMaps + "/m0", ConfigMap("m0", {{"round", std::to_string(i)}}));
    }
  }
  TestHub hub{ShortMemory()};
};

TEST_F(Forgotten, AWatchIsToldInItsStream) {
  const std::string old = RevisionOf(hub.Do("POST", kMaps, ConfigMap("m0")).body);
  Forget();
  TestWatch watch(hub, kMaps + "?watch=1&resourceVersion=" + old);
  EXPECT_EQ(watch.code(), 200);
  const Json event = watch.Next();
  EXPECT_EQ(StringAt(event, {"type"}), "ERROR");
  EXPECT_EQ(StringAt(event, {"object", "kind"}), "Status");
  EXPECT_EQ(StringAt(event, {"object", "reason"}), "Expired");
  EXPECT_EQ(IntAt(event, {"object", "code"}), 410);
  EXPECT_TRUE(
      StringAt(event, {"object", "message"}).starts_with("too old resource version: " + old + " ("))
      << event;
  EXPECT_TRUE(watch.Next().is_null());
  EXPECT_TRUE(watch.ended());
}

TEST_F(Forgotten, AListOfThePastIsRefused) {
  const std::string old = RevisionOf(hub.Do("POST", kMaps, ConfigMap("m0")).body);
  Forget();
  const auto exact = hub.Get(kMaps + "?resourceVersionMatch=Exact&resourceVersion=" + old);
  EXPECT_EQ(exact.code, 410);
  EXPECT_EQ(StringAt(exact.body, {"reason"}), "Expired");
  EXPECT_EQ(StringAt(exact.body, {"message"}),
            "The resourceVersion for the provided list is too old.");
  EXPECT_EQ(hub.Get(kMaps + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + old).code, 200);
}

TEST_F(Forgotten, PagesGoOnFromTheNewestState) {
  for (int i = 0; i < 6; ++i) hub.Do("POST", kMaps, ConfigMap("m" + std::to_string(i)));
  const Json first = hub.Get(kMaps + "?limit=2").body;
  Forget();
  const auto late =
      hub.Get(kMaps + "?limit=2&continue=" + StringAt(first, {"metadata", "continue"}));
  EXPECT_EQ(late.code, 410);
  EXPECT_EQ(StringAt(late.body, {"reason"}), "Expired");
  std::string token = StringAt(late.body, {"metadata", "continue"});
  ASSERT_FALSE(token.empty()) << late.text;
  std::vector<std::string> names;
  std::string revision;
  while (!token.empty()) {
    const auto page = hub.Get(kMaps + "?limit=2&continue=" + token);
    ASSERT_EQ(page.code, 200) << page.text;
    EXPECT_GT(std::stoull(RevisionOf(page.body)), std::stoull(RevisionOf(first)));
    if (!revision.empty()) {
      EXPECT_EQ(RevisionOf(page.body), revision) << "pages stay on it";
    }
    revision = RevisionOf(page.body);
    for (const Json& item : *Find(page.body, {"items"})) {
      names.push_back(StringAt(item, {"metadata", "name"}));
    }
    token = StringAt(page.body, {"metadata", "continue"});
  }
  EXPECT_EQ(names, (std::vector<std::string>{"m2", "m3", "m4", "m5"}));
}

// What the conformance test of chunking waits for: nothing is written, and yet the page expires.
TEST(Compacted, APageOfAnIdleCollectionExpires) {
  apiserver::Server::Options options;
  options.compaction = {.age = std::chrono::milliseconds(0),
                        .interval = std::chrono::milliseconds(5)};
  TestHub hub(options);
  for (int i = 0; i < 4; ++i) hub.Do("POST", kMaps, ConfigMap("m" + std::to_string(i)));
  const Json first = hub.Get(kMaps + "?limit=2").body;
  const std::string next = kMaps + "?limit=2&continue=";
  TestHub::Answer late;
  ASSERT_TRUE(Eventually([&] {
    late = hub.Get(next + StringAt(first, {"metadata", "continue"}));
    return late.code == 410;
  })) << late.text;
  const auto exact =
      hub.Get(kMaps + "?resourceVersionMatch=Exact&resourceVersion=" + RevisionOf(first));
  EXPECT_EQ(exact.code, 410);
  const auto second = hub.Get(next + StringAt(late.body, {"metadata", "continue"}));
  ASSERT_EQ(second.code, 200) << second.text;
  EXPECT_GT(std::stoull(RevisionOf(second.body)), std::stoull(RevisionOf(first)));
  EXPECT_EQ(Find(second.body, {"items"})->size(), 2u);
  TestWatch watch(hub, kMaps + "?watch=1&resourceVersion=" + RevisionOf(first));
  hub.Do("POST", kMaps, ConfigMap("m4"));
  EXPECT_EQ(StringAt(watch.Next(), {"type"}), "ADDED");
}

TEST(Races, PatchesOfOneObjectAllArrive) {
  TestHub hub;
  ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("shared")).code, 201);
  constexpr int kWriters = 4, kEach = 25;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&hub, w] {
        for (int i = 0; i < kEach; ++i) {
          const std::string key = "w" + std::to_string(w) + "-" + std::to_string(i);
          const bool merge = i % 2 == 0;
          const Json patch =
              merge ? Json({{"data", {{key, "x"}}}})
                    : Json::array({{{"op", "add"}, {"path", "/data/" + key}, {"value", "x"}}});
          const auto answer = hub.Do("PATCH", kMaps + "/shared", patch,
                                     merge ? kMerge : "application/json-patch+json");
          EXPECT_EQ(answer.code, 200) << answer.text;
        }
      });
    }
  }
  EXPECT_EQ(Find(hub.Get(kMaps + "/shared").body, {"data"})->size(),
            static_cast<std::size_t>(kWriters * kEach));
}

TEST(Races, APatchThatNamesItsRevisionLosesToAnother) {
  TestHub hub;
  const std::string old = RevisionOf(hub.Do("POST", kMaps, ConfigMap("a")).body);
  hub.Do("PATCH", kMaps + "/a", {{"data", {{"k", "1"}}}}, kMerge);
  const auto late =
      hub.Do("PATCH", kMaps + "/a",
             {{"metadata", {{"resourceVersion", old}}}, {"data", {{"k", "2"}}}}, kMerge);
  EXPECT_EQ(late.code, 409);
  EXPECT_EQ(StringAt(late.body, {"reason"}), "Conflict");
  EXPECT_EQ(StringAt(hub.Get(kMaps + "/a").body, {"data", "k"}), "1");
}

TEST(Races, AGeneratedNameThatIsTakenIsWorthAnotherTry) {
  TestHub hub;
  Json object = ConfigMap("a");
  object["metadata"]["generateName"] = "gen-";
  ASSERT_EQ(hub.Do("POST", kMaps, object).code, 201);
  const auto taken = hub.Do("POST", kMaps, object);
  EXPECT_EQ(taken.code, 409);
  EXPECT_EQ(
      StringAt(taken.body, {"message"}),
      "configmaps \"a\" already exists, the server was not able to generate a unique name for "
      "the object");
  EXPECT_EQ(taken.headers.Get("retry-after"), "1");
  EXPECT_EQ(IntAt(taken.body, {"details", "retryAfterSeconds"}), 1);
}

}  // namespace
}  // namespace mailroom
