#include "storage/object/thinned.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace mailroom {
namespace {

TEST(Thinned, IsWhatHasLostNearlyAll) {
  Thinned thinned;
  for (std::size_t size = 1; size <= 4000; ++size) EXPECT_FALSE(thinned.Now(size));
  for (std::size_t size = 4000; size > 1000; --size) EXPECT_FALSE(thinned.Now(size)) << size;
  EXPECT_TRUE(thinned.Now(1000));
  EXPECT_FALSE(thinned.Now(999)) << "it has been put together just now";
  EXPECT_TRUE(thinned.Now(250));
  EXPECT_FALSE(thinned.Now(10)) << "so few are not worth it";
  EXPECT_FALSE(thinned.Now(2000));
  EXPECT_TRUE(thinned.Now(0));
}

TEST(Thinned, IsNeverWhatIsLargeStill) {
  Thinned thinned;
  EXPECT_FALSE(thinned.Now(1'000'000));
  EXPECT_FALSE(thinned.Now(200'000));
  EXPECT_TRUE(thinned.Now(50'000));
}

TEST(Thinned, PutTogetherHoldsTheSameElsewhere) {
  const std::string text = "longer than what a string holds within itself";
  std::map<std::string, std::string> map;
  for (int i = 0; i < 100; ++i) map[text + std::to_string(i)] = text;
  const auto before = map;
  const void* const place = map.begin()->second.data();
  PutTogether(map);
  EXPECT_EQ(map, before);
  EXPECT_NE(map.begin()->second.data(), place);
}

}  // namespace
}  // namespace mailroom
