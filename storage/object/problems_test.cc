#include "storage/object/problems.h"

#include <gtest/gtest.h>

namespace mailroom {
namespace {

TEST(Problems, PathsGrowByStepsUntilTheyAreCut) {
  EXPECT_EQ(MemberPath("", "spec"), "spec");
  EXPECT_EQ(EntryPath(ElementPath(MemberPath("spec", "list"), 3), "a.b"), "spec.list[3][a.b]");
  std::string path = EntryPath("data", std::string(1'000'000, 'k'));
  EXPECT_EQ(path.size(), limits::kProblemPathBytes + 3);
  EXPECT_TRUE(path.ends_with("kkk..."));
  for (int i = 0; i < 10; ++i) path = MemberPath(ElementPath(path, 7), "member");
  EXPECT_EQ(path.size(), limits::kProblemPathBytes + 3);
  const std::string fits(limits::kProblemPathBytes - 3, 'k');
  EXPECT_EQ(ElementPath(fits, 1), fits + "[1]");
  EXPECT_TRUE(ElementPath(fits, 12).ends_with("..."));
}

TEST(Problems, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcd", 3), "abc...");
  EXPECT_EQ(CutText("a\xc3\xa9z", 2), "a...");
  EXPECT_EQ(CutText("a\xc3\xa9z", 3), "a\xc3\xa9...");
}

TEST(Problems, AreToldOnceAndNotAll) {
  Problems problems;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 2 * limits::kProblemsTold; ++i) problems.Add(std::to_string(i / 2));
  }
  EXPECT_TRUE(problems.full());
  const auto texts = std::move(problems).Take();
  ASSERT_EQ(texts.size(), limits::kProblemsTold);
  EXPECT_EQ(texts[1], "1");
}

TEST(Problems, CausesStopAtTheBound) {
  Causes causes;
  EXPECT_TRUE(causes.empty());
  std::vector<Cause> many(3 * limits::kProblemsTold, RequiredValue("a"));
  causes.Add(many);
  causes.push_back(RequiredValue("b"));
  EXPECT_TRUE(causes.full());
  EXPECT_EQ(causes.size(), limits::kProblemsTold);
  const std::vector<Cause> taken = std::move(causes);
  EXPECT_EQ(taken.back().field, "a");
}

}  // namespace
}  // namespace mailroom
