#include "apiserver/deadline.h"

#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/test_hub.h"

namespace mailroom::apiserver {
namespace {

using namespace std::chrono_literals;

TEST(Deadline, ReadsDurationsAsGoWritesThem) {
  EXPECT_EQ(*ParseDuration("0"), 0ns);
  EXPECT_EQ(*ParseDuration("1h15m30.918s"), 4530918ms);
  EXPECT_EQ(*ParseDuration("1.5h"), 90min);
  EXPECT_EQ(*ParseDuration("-2us"), -2us);
  EXPECT_EQ(*ParseDuration("3\u00b5s"), 3us);
  EXPECT_EQ(*ParseDuration("+10ms"), 10ms);
  EXPECT_EQ(*ParseDuration(".5s"), 500ms);
  EXPECT_EQ(*ParseDuration("2m5ms"), 120005ms);
  const auto problem = [](const char* text) {
    const auto parsed = ParseDuration(text);
    return parsed.ok() ? "none" : parsed.error().message();
  };
  for (const char* bad : {"", "s", "-", ".s", "1..2s", "nan", "99999999999h"}) {
    EXPECT_EQ(problem(bad), "time: invalid duration \"" + std::string(bad) + "\"");
  }
  EXPECT_EQ(problem("1"), "time: missing unit in duration \"1\"");
  EXPECT_EQ(problem("1s2"), "time: missing unit in duration \"1s2\"");
  EXPECT_EQ(problem("1x"), "time: unknown unit \"x\" in duration \"1x\"");
  EXPECT_EQ(problem("1 s"), "time: unknown unit \" s\" in duration \"1 s\"");
  EXPECT_EQ(problem("1e3s"), "time: unknown unit \"e\" in duration \"1e3s\"");
}

TEST(Deadline, IsTheClientsWithinTheServers) {
  EXPECT_EQ(*ParseTimeout(Query("")), limits::kRequestTimeout);
  EXPECT_EQ(*ParseTimeout(Query("timeout=0s")), limits::kRequestTimeout);
  EXPECT_EQ(*ParseTimeout(Query("timeout=2h")), limits::kRequestTimeout);
  EXPECT_EQ(*ParseTimeout(Query("timeout=1500ms")), 1500ms);
  EXPECT_EQ(*ParseTimeout(Query("timeout=1ns")), 1ns);
  auto bad = ParseTimeout(Query("timeout=soon"));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message(), "invalid timeout specified in the request URL - time: invalid duration \"soon\"");
}

TEST(Deadline, IsSoonerForWritesAndNoneForWatches) {
  const auto long_ago = std::chrono::steady_clock::now() - 40s;
  const auto passed = [&](const char* verb, std::chrono::nanoseconds timeout) {
    RequestInfo info;
    info.verb = verb;
    return DeadlineOf(info, long_ago, timeout).Passed();
  };
  for (const char* verb : {"create", "update", "patch", "delete"}) {
    EXPECT_TRUE(passed(verb, limits::kRequestTimeout)) << verb;
  }
  for (const char* verb : {"get", "list", "deletecollection"}) {
    EXPECT_FALSE(passed(verb, limits::kRequestTimeout)) << verb;
    EXPECT_TRUE(passed(verb, 30s)) << verb;
  }
  EXPECT_FALSE(passed("watch", 1s));
}

TEST(Deadline, ShortensWaits) {
  EXPECT_EQ(Deadline().Left(3s), 3s);
  EXPECT_FALSE(Deadline().Passed());
  const Deadline past(std::chrono::steady_clock::now() - 1s);
  EXPECT_EQ(past.Left(3s), 0ms);
  EXPECT_TRUE(past.Passed());
  const Deadline ahead(std::chrono::steady_clock::now() + 1min);
  EXPECT_EQ(ahead.Left(3s), 3s);
  EXPECT_GT(ahead.Left(2min), 30s);
}

class AllottedTime : public testing::Test {
 protected:
  const std::string maps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
  TestHub hub;
};

TEST_F(AllottedTime, EndsAWaitForTheFuture) {
  for (const std::string& path : {maps + "/none", maps}) {
    const auto start = std::chrono::steady_clock::now();
    auto late = hub.Get(path + "?resourceVersion=99999999&timeout=50ms");
    EXPECT_LT(std::chrono::steady_clock::now() - start, limits::kFreshnessWait);
    EXPECT_EQ(late.code, 504) << late.text;
    EXPECT_EQ(StringAt(late.body, {"reason"}), "Timeout");
    EXPECT_EQ(StringAt(late.body, {"message"}),
              "Timeout: request did not complete within the allotted timeout");
  }
}

TEST_F(AllottedTime, PassedBeforeAWriteLeavesNothing) {
  auto late = hub.Do("POST", maps + "?timeout=1ns", ConfigMap("late"));
  EXPECT_EQ(late.code, 504) << late.text;
  EXPECT_EQ(hub.Get(maps + "/late").code, 404);
  ASSERT_EQ(hub.Do("POST", maps, ConfigMap("there")).code, 201);
  EXPECT_EQ(hub.Do("DELETE", maps + "/there?timeout=1ns").code, 504);
  EXPECT_EQ(hub.Do("PUT", maps + "/there?timeout=1ns", ConfigMap("there", {{"a", "b"}})).code, 504);
  EXPECT_EQ(StringAt(hub.Get(maps + "/there").body, {"data", "a"}), "");
}

TEST_F(AllottedTime, IsReadBeforeAnythingElse) {
  for (const std::string& path : {maps, std::string("/api"), std::string("/clusters/none/api")}) {
    auto bad = hub.Get(path + "?timeout=soon");
    EXPECT_EQ(bad.code, 400) << path << ": " << bad.text;
  }
  TestWatch watch(hub, maps + "?watch=1&timeout=soon");
  EXPECT_FALSE(watch.ended());
}

}  // namespace
}  // namespace mailroom::apiserver
