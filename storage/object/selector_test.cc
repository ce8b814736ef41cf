#include "storage/object/selector.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/object/json.h"

namespace mailroom {
namespace {

const LabelViews kLabels = {{"app", "web"}, {"empty", ""}, {"example.com/tier", "3"}};

TEST(LabelSelector, Matches) {
  struct Case {
    const char* text;
    bool want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", true}, {"app", true}, {"!app", false}, {"!none", true}, {"app=web", true},
           {"app==web", true}, {"app!=web", false}, {"none!=x", true}, {"app in (db, web)", true},
           {"app notin (db,web)", false}, {"none notin (a)", true}, {"example.com/tier>2", true},
           {"example.com/tier<3", false}, {"empty=", true}, {"empty in (,a)", true},
           {"app=web,empty", true}, {"app=web,none", false}, {" app = web ", true},
           {"app>1", false}, {"none>1", false}}) {
    auto selector = LabelSelector::Parse(c.text);
    ASSERT_TRUE(selector.ok()) << c.text;
    EXPECT_EQ(selector->Matches(kLabels), c.want) << c.text;
    auto again = LabelSelector::Parse(selector->ToString());
    ASSERT_TRUE(again.ok()) << selector->ToString();
    EXPECT_EQ(again->Matches(kLabels), c.want) << selector->ToString();
  }
}

TEST(LabelSelector, MatchesAmongManyLabelsToo) {
  std::vector<std::string> texts;
  for (int i = 0; i < 26; ++i) texts.push_back(std::string("k") + static_cast<char>('a' + i));
  LabelViews many;
  for (const std::string& text : texts) many.emplace_back(text, text);
  for (const auto& [text, want] : std::initializer_list<std::pair<const char*, bool>>{
           {"ka=ka", true}, {"kz=kz", true}, {"km!=km", false}, {"!k", true}, {"!kzz", true},
           {"kmm", false}, {"kb in (ka,kb)", true}, {"!ka", false}}) {
    EXPECT_EQ(LabelSelector::Parse(text)->Matches(many), want) << text;
  }
}

TEST(LabelSelector, CountsItsTerms) {
  EXPECT_EQ(LabelSelector().terms(), 0u);
  EXPECT_EQ(LabelSelector::Parse("a,!b,c in (d,e)")->terms(), 5u);
}

TEST(LabelSelector, RefusesBadGrammar) {
  for (const char* text : {",", "a,", "a b", "a in b", "a in (b", "a=b=c", "=b", "a>x", "a!", "!!a",
                           "a in ()x", "-a", "a=-b", "a/b/c", "/a", "a=(b)"}) {
    EXPECT_FALSE(LabelSelector::Parse(text).ok()) << text;
  }
}

TEST(LabelSelector, FromObjectForm) {
  auto selector = LabelSelector::FromJson(*ParseJson(
      R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"none","operator":"DoesNotExist"},
      {"key":"app","operator":"In","values":["web","db"]}]})"));
  ASSERT_TRUE(selector.ok());
  EXPECT_TRUE(selector->Matches(kLabels));
  EXPECT_TRUE(selector->MatchesJson(*ParseJson(R"({"app":"web"})")));
  EXPECT_FALSE(selector->MatchesJson(Json()));
  EXPECT_FALSE(LabelSelector::FromJson(
                   *ParseJson(R"({"matchExpressions":[{"key":"a","operator":"Like"}]})")).ok());
  EXPECT_TRUE(LabelSelector::FromJson(Json::object())->Matches({}));
}

TEST(LabelSelector, SurvivesAnyText) {
  std::mt19937 random(5);
  const std::string alphabet = "ab=!<>(),/ \tinot";
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 20; n > 0; --n) text += alphabet[random() % alphabet.size()];
    auto selector = LabelSelector::Parse(text);
    if (selector.ok()) (void)selector->Matches(kLabels);
  }
}

TEST(FieldSelector, ParsesAndMatches) {
  auto selector = FieldSelector::Parse(R"(metadata.name=a\,b,status.phase!=Running)");
  ASSERT_TRUE(selector.ok());
  ASSERT_EQ(selector->terms().size(), 2u);
  EXPECT_EQ(selector->terms()[0].value, "a,b");
  EXPECT_EQ(*selector->Exact("metadata.name"), "a,b");
  EXPECT_EQ(selector->Exact("status.phase"), nullptr);
  auto value = [](std::string_view field) {
    return std::string(field == "metadata.name" ? "a,b" : "Pending");
  };
  EXPECT_TRUE(selector->Matches(value));
  EXPECT_FALSE(FieldSelector::Parse("metadata.name").ok());
  EXPECT_FALSE(FieldSelector::Parse("a=b=c").ok());
  EXPECT_FALSE(FieldSelector::Parse(R"(a=\x)").ok());
  EXPECT_TRUE(FieldSelector::Parse("")->empty());
}

}  // namespace
}  // namespace mailroom
