#include "apiserver/warnings.h"

#include <gtest/gtest.h>

namespace mailroom::apiserver {
namespace {

std::vector<std::string> Sent(const std::vector<std::string>& texts) {
  Headers headers;
  AddWarnings(texts, headers);
  std::vector<std::string> out;
  for (std::string_view value : headers.All("warning")) out.emplace_back(value);
  return out;
}

TEST(Warnings, AreQuotedAndSentOnce) {
  EXPECT_EQ(Sent({"a \"b\" \\c", "d", "a \"b\" \\c", ""}),
            (std::vector<std::string>{R"(299 - "a \"b\" \\c")", R"(299 - "d")"}));
  EXPECT_EQ(Sent({"caf\u00e9"}), (std::vector<std::string>{"299 - \"caf\u00e9\""}));
}

TEST(Warnings, BreakNoHeader) {
  EXPECT_EQ(Sent({"two\r\nlines"}), (std::vector<std::string>{R"(299 - "two  lines")"}));
}

TEST(Warnings, AreCutWhenTheyAreTooMany) {
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back(std::to_string(i) + std::string(1000, 'x'));
  const auto sent = Sent(texts);
  ASSERT_EQ(sent.size(), 16u);  // 4096 characters of 256 each
  for (const std::string& value : sent) EXPECT_EQ(value.size(), 256 + std::string("299 - \"\"").size());
  EXPECT_EQ(Sent({std::string(4000, 'x'), "y"}).front().size(), 4008u);
  EXPECT_EQ(Sent({std::string(5000, 'x')}).front().size(), 264u);
  // Characters are never split.
  std::string accents;
  for (int i = 0; i < 5000; ++i) accents += "\u00e9";
  EXPECT_EQ(Sent({accents}).front().size(), 2 * 256 + 8u);
}

}  // namespace
}  // namespace mailroom::apiserver
