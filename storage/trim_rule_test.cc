#include "storage/trim_rule.h"

#include <gtest/gtest.h>

namespace mailroom::storage {
namespace {

using std::chrono::seconds;

TEST(TrimRule, LittleIsNotWorthIt) {
  TrimRule rule;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(rule.Due(limits::kTrimBytes / 100, seconds(10 * i)));
  EXPECT_TRUE(rule.Due(limits::kTrimBytes / 10, seconds(1000)));
}

TEST(TrimRule, MuchIsReturnedAtOnceAndOnceMoreDespiteATrickle) {
  TrimRule rule;
  EXPECT_TRUE(rule.Due(limits::kTrimBytes + 1, seconds(0)));
  const seconds again = limits::kTrimAgain;
  for (seconds now(10); now < again; now += seconds(10)) EXPECT_FALSE(rule.Due(1, now));
  EXPECT_TRUE(rule.Due(1, again));
  EXPECT_FALSE(rule.Due(1, 2 * again)) << "there was no further large removal";
}

TEST(TrimRule, TheLastOfSeveralLargeRemovalsCounts) {
  TrimRule rule;
  const seconds again = limits::kTrimAgain;
  EXPECT_TRUE(rule.Due(limits::kTrimBytes + 1, seconds(0)));
  EXPECT_TRUE(rule.Due(limits::kTrimBytes + 1, seconds(10)));
  EXPECT_FALSE(rule.Due(0, again));
  EXPECT_TRUE(rule.Due(0, again + seconds(10)));
}

}  // namespace
}  // namespace mailroom::storage
