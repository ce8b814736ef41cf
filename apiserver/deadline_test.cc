#include "apiserver/deadline.h"

#include <gtest/gtest.h>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

using namespace std::chrono_literals;

TEST(Deadline, ReadsDurationsAsGoWritesThem) {
  EXPECT_EQ(ParseDuration("0"), 0ns);
  EXPECT_EQ(ParseDuration("1h15m30.918s"), 4530918ms);
  EXPECT_EQ(ParseDuration("1.5h"), 90min);
  EXPECT_EQ(ParseDuration("-2us"), -2us);
  EXPECT_EQ(ParseDuration("3\u00b5s"), 3us);
  EXPECT_EQ(ParseDuration("+10ms"), 10ms);
  EXPECT_EQ(ParseDuration(".5s"), 500ms);
  for (const char* bad : {"", "1", "s", "1x", "1s2", "1 s", "-", "1e3s", ".s", "1..2s", "nan", "99999999999h"}) {
    EXPECT_EQ(ParseDuration(bad), std::nullopt) << bad;
  }
}

TEST(Deadline, IsTheClientsWithinTheServers) {
  EXPECT_EQ(*ParseTimeout(Query("")), limits::kRequestTimeout);
  EXPECT_EQ(*ParseTimeout(Query("timeout=0s")), limits::kRequestTimeout);
  EXPECT_EQ(*ParseTimeout(Query("timeout=2h")), limits::kRequestTimeout);
  EXPECT_EQ(*ParseTimeout(Query("timeout=1500ms")), 1500ms);
  EXPECT_EQ(*ParseTimeout(Query("timeout=1ns")), 1ms);
  auto bad = ParseTimeout(Query("timeout=soon"));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message(), "invalid timeout specified in the request URL");
}

}  // namespace
}  // namespace mailroom::apiserver
