#include "storage/object/json.h"

#include <gtest/gtest.h>

#include "storage/object/clock.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/message.h"

namespace mailroom {
namespace {

TEST(Json, ReportsDuplicatesWithPathAndKeepsTheLast) {
  auto parsed = ParseJsonStrict(R"({"a":{"b":1,"b":2},"l":[{"x":1},{"x":1,"x":3}],"a":{"c":1}})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->duplicates, (std::vector<std::string>{"a.b", "l[1].x", "a"}));
  EXPECT_EQ(DumpJson(parsed->value), R"({"a":{"c":1},"l":[{"x":1},{"x":3}]})");
}

TEST(Json, DepthIsBoundedWhileParsing) {
  std::string deep(200'000, '[');
  EXPECT_FALSE(ParseJson(deep).ok());
  std::string at_limit = std::string(limits::kJsonDepth, '[') + std::string(limits::kJsonDepth, ']');
  EXPECT_TRUE(ParseJson(at_limit).ok());
  EXPECT_FALSE(ParseJson("[" + at_limit + "]").ok());
}

TEST(Json, RefusesBrokenText) {
  for (const char* text : {"", "{", "{\"a\":}", "nul", "{} x", "\"\xff\"", "[1,]"}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
}

TEST(Json, IntegersSurvive) {
  EXPECT_EQ(DumpJson(*ParseJson("[9223372036854775807,-9223372036854775808,1.5]")),
            "[9223372036854775807,-9223372036854775808,1.5]");
}

TEST(Json, FractionsAreWrittenAsTheOriginalDoes) {
  const std::pair<const char*, const char*> kCases[] = {
      {"1.0", "1"},
      {"-0.0", "0"},
      {"0.0", "0"},
      {"1e10", "10000000000"},
      {"1.5e3", "1500"},
      {"12.25", "12.25"},
      {"-12.25", "-12.25"},
      {"100000000000000000000", "100000000000000000000"},
      {"18446744073709551615", "18446744073709552000"},
      {"123456789012345678901", "123456789012345680000"},
      {"1e21", "1e+21"},
      {"1.25e21", "1.25e+21"},
      {"1e300", "1e+300"},
      {"0.000001", "0.000001"},
      {"0.00000125", "0.00000125"},
      {"1e-7", "1e-7"},
      {"-1.25e-17", "-1.25e-17"},
      {"5e-324", "5e-324"},
      {"0.1", "0.1"},
  };
  for (const auto& [text, written] : kCases) {
    const Json value = *ParseJson(text);
    EXPECT_EQ(DumpJson(value), written);
    EXPECT_EQ(*ParseJson(written), value) << text;  // what is stored either way is the same
  }
}

TEST(JsonPath, FindsSetsAndErases) {
  Json tree = *ParseJson(R"({"spec":{"n":3,"l":["a",1,"b"]}})");
  EXPECT_EQ(IntAt(tree, {"spec", "n"}), 3);
  EXPECT_EQ(StringsAt(tree, {"spec", "l"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Find(tree, {"spec", "n", "deeper"}), nullptr);
  Set(tree, {"metadata", "labels", "a.b/c"}, "d");
  EXPECT_EQ(StringAt(tree, {"metadata", "labels", "a.b/c"}), "d");
  EXPECT_TRUE(Erase(tree, {"spec", "n"}));
  EXPECT_FALSE(Erase(tree, {"spec", "n"}));
  EXPECT_EQ(FindDotted(tree, ".spec.l")->size(), 3u);
}

TEST(Json, TellsOfABoundedNumberOfDuplicatesInFewBytes) {
  // Each key below a long one is given twice, and one of them a hundred thousand times.
  std::string inner;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "\"k" + std::to_string(i) + "\":0,";
    inner += key + key;
  }
  for (int i = 0; i < 100'000; ++i) inner += "\"a\":0,";
  inner += "\"a\":7";
  const std::string text = "{\"" + std::string(1'000'000, 'n') + "\":{" + inner + "},\"x\":[{\"y\":1,\"y\":2}]}";
  const auto parsed = ParseJsonStrict(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->value.begin()->at("a"), 7) << "the last value still wins";
  ASSERT_FALSE(parsed->duplicates.empty());
  std::size_t bytes = 0;
  for (const std::string& path : parsed->duplicates) bytes += path.size();
  EXPECT_LE(parsed->duplicates.size(), limits::kProblemsTold);
  EXPECT_LE(bytes, limits::kProblemsTold * (limits::kProblemPathBytes + 3));

  std::string many = "{\"a\":0,\"a\":0,\"a\":0,";
  for (int i = 0; i < 300; ++i) many += "\"b" + std::to_string(i) + "\":0,\"b" + std::to_string(i) + "\":0,";
  const auto distinct = ParseJsonStrict(many + "\"z\":0}")->duplicates;
  EXPECT_EQ(distinct.size(), limits::kProblemsTold);
  EXPECT_EQ(distinct[0], "a");
  EXPECT_EQ(distinct[1], "b0") << "a key is told of once, however often it is given";
}

TEST(Json, RefusesAByteOrderMark) {
  EXPECT_FALSE(ParseJson("\xef\xbb\xbf{}").ok());
  EXPECT_FALSE(ParseJsonStrict("\xef\xbb\xbf{\"a\":1}").ok());
  EXPECT_EQ(*ParseJson("\"\xef\xbb\xbf\""), "\xef\xbb\xbf") << "a character like others, inside";
}

TEST(Clock, FormatsAndParsesTimes) {
  auto time = std::chrono::system_clock::time_point(std::chrono::microseconds(1'700'000'000'123'456));
  EXPECT_EQ(FormatTime(time), "2023-11-14T22:13:20Z");
  EXPECT_EQ(FormatMicroTime(time), "2023-11-14T22:13:20.123456Z");
  EXPECT_EQ(ParseTime("2023-11-14T22:13:20Z"), 1'700'000'000);
  EXPECT_EQ(ParseTime("2023-11-14T22:13:20.123456Z"), 1'700'000'000);
  EXPECT_EQ(ParseTime("2023-11-15T00:13:20+02:00"), 1'700'000'000);
  EXPECT_EQ(ParseTime("yesterday"), -1);
}

TEST(Message, DecodesOnce) {
  std::string out;
  EXPECT_TRUE(PercentDecode("a%3Ab%252F", out));
  EXPECT_EQ(out, "a:b%2F");
  for (const char* bad : {"%", "%4", "%zz", "a%00b"}) EXPECT_FALSE(PercentDecode(bad, out)) << bad;
}

TEST(Message, ParsesQueries) {
  auto pairs = ParseQuery("labelSelector=a%3Db%2Cc&watch&limit=5&x=%zz");
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].second, "a=b,c");
  EXPECT_EQ(pairs[1].first, "watch");
  EXPECT_EQ(pairs[1].second, "");
}

TEST(Message, HeadersKeepRepeatedFields) {
  Headers headers;
  headers.Add("x-remote-group", "a");
  headers.Add("x-remote-group", "b");
  EXPECT_EQ(headers.All("x-remote-group").size(), 2u);
  headers.Set("x-remote-group", "c");
  EXPECT_EQ(headers.All("x-remote-group").size(), 1u);
}

}  // namespace
}  // namespace mailroom
