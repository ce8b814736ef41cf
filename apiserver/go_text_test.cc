#include "apiserver/go_text.h"

#include <gtest/gtest.h>

namespace mailroom::apiserver {
namespace {

TEST(GoText, NamesTheFirstSyntaxError) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":[1,2.5e3,"x\n\u00e9",true,false,null]} )", ""},
      {"", "unexpected end of JSON input"},
      {"{", "unexpected end of JSON input"},
      {R"({"a":"b)", "unexpected end of JSON input"},
      {"nonsense", "invalid character 'o' in literal null (expecting 'u')"},
      {"this", "invalid character 'h' in literal true (expecting 'r')"},
      {"<a>", "invalid character '<' looking for beginning of value"},
      {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
      {R"({"a" 1})", "invalid character '1' after object key"},
      {R"({"a":1 "b"})", "invalid character '\"' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"01", "invalid character '1' after top-level value"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1ex", "invalid character 'x' in exponent of numeric literal"},
      {"\"\t\"", "invalid character '\\t' in string literal"},
      {R"("\q")", "invalid character 'q' in string escape code"},
      {R"("\u00zz")", "invalid character 'z' in \\u hexadecimal character escape"},
      {"\x81", "invalid character '\\u0081' looking for beginning of value"},
      {"'a'", "invalid character '\\'' looking for beginning of value"},
      {"\xef\xbb\xbf{}", "invalid character '\xc3\xaf' looking for beginning of value"},
  };
  for (const auto& [text, problem] : cases) EXPECT_EQ(JsonSyntaxProblem(text), problem) << text;
}

TEST(GoText, DepthIsBounded) {
  EXPECT_EQ(JsonSyntaxProblem(std::string(100000, '[')), "exceeded max depth");
}

TEST(GoText, PrintsMapsAndSummaries) {
  EXPECT_EQ(PrintedMap(*ParseJson(R"({"b":[1,"x"],"a":{"c":null,"d":true}})")),
            "map[a:map[c:<nil> d:true] b:[1 x]]");
  EXPECT_EQ(BodySummary(""), "<empty>");
  EXPECT_EQ(BodySummary("[1]"), "5b315d");
  EXPECT_EQ(BodySummary(R"({"a":1})"), R"({"a":1})");
  EXPECT_EQ(BodySummary("{" + std::string(40, 'x')), "{" + std::string(29, 'x') + " ...");
}

}  // namespace
}  // namespace mailroom::apiserver
