#include "storage/object/yaml.h"

#include <gtest/gtest.h>

#include "storage/object/limits.h"

namespace mailroom {
namespace {

TEST(Yaml, ResolvesScalars) {
  struct Case {
    const char* yaml;
    const char* json;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"a: 1", R"({"a":1})"}, {"a: \"1\"", R"({"a":"1"})"}, {"a: '1'", R"({"a":"1"})"},
           {"a: -3", R"({"a":-3})"}, {"a: 1.5", R"({"a":1.5})"}, {"a: yes", R"({"a":true})"},
           {"a: 'yes'", R"({"a":"yes"})"}, {"a:", R"({"a":null})"}, {"a: ~", R"({"a":null})"},
           {"a: v1.2", R"({"a":"v1.2"})"}, {"a: 1.2.3", R"({"a":"1.2.3"})"},
           {"a: 0x10", R"({"a":16})"}, {"a: 010", R"({"a":8})"}, {"a: 25%", R"({"a":"25%"})"},
           {"a: 2023-01-01", R"({"a":"2023-01-01"})"}, {"- x\n- z", R"(["x","z"])"},
           {"a: |\n  l1\n  l2\n", R"({"a":"l1\nl2\n"})"}, {"{\"a\":{\"b\":[1,null]}}",
           R"({"a":{"b":[1,null]}})"}, {"a: 100m", R"({"a":"100m"})"},
           {"1: x", R"({"1":"x"})"}, {"a: +5", R"({"a":5})"}, {"a: .5", R"({"a":0.5})"},
           {"a: 18446744073709551615", R"({"a":18446744073709552000})"}}) {
    auto parsed = ParseYaml(c.yaml);
    ASSERT_TRUE(parsed.ok()) << c.yaml;
    EXPECT_EQ(DumpJson(*parsed), c.json) << c.yaml;
  }
}

// What sigs.k8s.io/yaml, as of Kubernetes 1.36, makes of the same texts.
TEST(Yaml, ResolvesScalarsAsTheOriginal) {
  const std::pair<const char*, const char*> cases[] = {
      {"y", "true"}, {"Y", "true"}, {"n", "false"}, {"N", "false"}, {"NO", "false"}, {"On", "true"},
      {"tRue", R"("tRue")"}, {"1_000", "1000"}, {"-1_000", "-1000"}, {"1_", "1"}, {"1__0", "10"},
      {"0_1", "1"}, {"0_8", "8"}, {"_1", R"("_1")"}, {"0x_1f", "31"}, {"0X1f", "31"}, {"-0x10", "-16"},
      {"0b11", "3"}, {"-0b11", "-3"}, {"0B11", "3"}, {"0b1_1", "3"}, {"0o17", "15"}, {"0O17", "15"},
      {"017", "15"}, {"-017", "-15"}, {"09", "9"}, {"08.5", "8.5"}, {"1_0.5", "10.5"},
      {"-9223372036854775808", "-9223372036854775808"}, {"9223372036854775808", "9223372036854776000"},
      {"-0b1000000000000000000000000000000000000000000000000000000000000000", "-9223372036854775808"},
      {"1e3", "1000"}, {"1_000e3", "1000000"}, {"1.", "1"}, {"+.5", "0.5"}, {"-.5", "-0.5"}, {".1e5", "10000"},
      {".5_5", "0.55"}, {"._1", R"("._1")"}, {".e1", R"(".e1")"}, {"1e400", R"("1e400")"}, {"1e", R"("1e")"},
      {"0b", R"("0b")"}, {"0x", R"("0x")"}, {"0x1p4", R"("0x1p4")"}, {"0b1e3", R"("0b1e3")"}, {"inf", R"("inf")"},
      {"+Inf", R"("+Inf")"}, {"NaN", R"("NaN")"}, {"+", R"("+")"}, {".", R"(".")"}, {"1:30", R"("1:30")"},
      {"<<", R"("<<")"}, {"=", R"("=")"}, {"00", "0"}, {"-0", "0"}, {"0xfffffffffffffffff", R"("0xfffffffffffffffff")"}};
  for (const auto& [text, json] : cases) {
    const auto parsed = ParseYaml("a: " + std::string(text) + "\n");
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(DumpJson(*parsed), R"({"a":)" + std::string(json) + "}") << text;
  }
  EXPECT_TRUE(ParseYaml("-9223372036854775808")->is_number_integer());
  for (const char* text : {".inf", "+.Inf", "-.INF", ".nan"}) {
    EXPECT_FALSE(ParseYaml("a: " + std::string(text)).ok()) << text;
  }
}

TEST(Yaml, MakesTextsOfKeysAsTheOriginal) {
  const std::pair<const char*, const char*> cases[] = {
      {"y", "true"}, {"no", "false"}, {"1_000", "1000"}, {"0x10", "16"}, {"1e3", "1000"}, {"1_000e3", "1e+06"},
      {"10.5", "10.5"}, {".inf", ".inf"}, {"-.Inf", "-.inf"}, {"18446744073709551616", "1.8446744e+19"},
      {"'y'", "y"}, {"2001-01-01", "2001-01-01"}};
  for (const auto& [text, key] : cases) {
    const auto parsed = ParseYaml(std::string(text) + ": x\n");
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(DumpJson(*parsed), "{" + JsonQuote(key) + R"(:"x"})") << text;
  }
  for (const char* text : {"~: x", "null: x", "18446744073709551615: x"}) {
    EXPECT_FALSE(ParseYaml(text).ok()) << text;
  }
  EXPECT_EQ(ParseYamlStrict("y: 1\nyes: 2\n")->duplicates,
            (std::vector<std::string>{"line 2: key true already set in map"}));
}

TEST(Yaml, QuotesWhatOthersWouldTakeForSomethingElse) {
  for (const char* text : {"y", "Y", "n", "N", "no", ".inf", "-.Inf", ".nan", "1_000", "0b11", "-9223372036854775808",
                           "1:30", "2001-01-01", "2001-01-01T00:00:00Z", "1e3", "~", "09"}) {
    EXPECT_EQ(DumpYaml({{"a", text}}), "a: \"" + std::string(text) + "\"\n");
    EXPECT_EQ(DumpYaml({{text, "a"}}), "\"" + std::string(text) + "\": a\n");
  }
  for (const char* text : {"<<", "_1", "inf", "1e400", "2001", "2001-01-01x", "1:99", "a:b"}) {
    EXPECT_EQ(*ParseYaml(DumpYaml({{"a", text}})), (Json{{"a", text}})) << text;
  }
  EXPECT_EQ(DumpYaml({{"a", "<<"}}), "a: <<\n");
  EXPECT_EQ(DumpYaml({{"<<", "a"}}), "\"<<\": a\n") << "not a request to merge";
}

TEST(Yaml, WritesLongKeysSoThatTheyCanBeRead) {
  const std::string key(2000, 'k');
  const Json values[] = {1, "x", Json::array({1, {{key, 2}}}), {{key, {{"a", {1}}}}, {"b", 3}}, Json::array(), "a\nb"};
  for (const Json& value : values) {
    const Json tree = {{key, value}, {key + " #", value}, {"list", {{{key, value}, {"z", value}}, value}}};
    const auto again = ParseYaml(DumpYaml(tree));
    ASSERT_TRUE(again.ok()) << DumpJson(value) << again.error().message();
    EXPECT_EQ(*again, tree) << DumpJson(value);
  }
  EXPECT_EQ(DumpYaml({{std::string(129, 'k'), 1}}), "? " + std::string(129, 'k') + "\n: 1\n");
}

TEST(Yaml, TellsOfABoundedNumberOfDuplicates) {
  const std::string long_key = "? " + std::string(100'000, 'k') + "\n: 1\n";
  std::string text = long_key + long_key;
  for (int i = 0; i < 2000; ++i) text += "k" + std::to_string(i % 1000) + ": 1\n";
  const auto parsed = ParseYamlStrict(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->duplicates.size(), limits::kProblemsTold);
  for (const std::string& line : parsed->duplicates) EXPECT_LT(line.size(), 2 * limits::kProblemPathBytes);
}

TEST(Yaml, RefusesWhatCouldExplodeOrSurprise) {
  for (const char* text : {"a: *x", "a: &x [*x]", "a: &x {<<: *x}", "a: &x {b: *x}", "a: !!binary x: y",
                           "a: !custom x", "a: [", "a: b: c", "{a: 1"}) {
    EXPECT_FALSE(ParseYaml(text).ok()) << text;
  }
  EXPECT_FALSE(ParseYaml(std::string(5000, '[')).ok());
  EXPECT_FALSE(ParseYaml("a: 1\n---\nb: 2").ok());
}

TEST(Yaml, AliasesStandForWhatTheyName) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: &x 1\nb: *x", R"({"a":1,"b":1})"},
      {"a: &x [1, 2]\nb: [*x, *x]", R"({"a":[1,2],"b":[[1,2],[1,2]]})"},
      {"a: &x {b: c}\nd: *x\n*x2 : 1", nullptr},
      {"&k a: b\nc: {*k : 1}", R"({"a":"b","c":{"a":1}})"},
      {"a: &x 1\nb: &x 2\nc: *x", R"({"a":1,"b":2,"c":2})"},
  };
  for (const auto& [text, json] : cases) {
    const auto parsed = ParseYaml(text);
    ASSERT_EQ(parsed.ok(), json != nullptr) << text;
    if (json != nullptr) {
      EXPECT_EQ(DumpJson(*parsed), json) << text;
    }
  }
}

// As kube-apiserver answers them.
TEST(Yaml, MergeKeysAreFollowedInTheOrderOfTheText) {
  const std::pair<const char*, const char*> cases[] = {
      {"<<: {a: 1, b: 2}\nb: 3", R"({"a":1,"b":3})"},
      {"b: 3\n<<: {a: 1, b: 2}", R"({"a":1,"b":2})"},
      {"<<: [{a: 1, b: 2}, {b: 9, c: 4}]\nc: 3", R"({"a":1,"b":2,"c":3})"},
      {"<<: {a: 1}\n<<: {b: 2}", R"({"a":1,"b":2})"},
      {"!!merge <<: {a: 1}", R"({"a":1})"},
      {"'<<': {a: 1}", R"({"<<":{"a":1}})"},
      {"!!str <<: 1", R"({"<<":1})"},
      {"x: &l {a: 1, b: 2}\nw: &m {<<: *l, c: 8}\nz: {<<: *m, b: 3}",
       R"({"w":{"a":1,"b":2,"c":8},"x":{"a":1,"b":2},"z":{"a":1,"b":3,"c":8}})"},
      {"x: &l {a: 1, b: 2}\nw: &m {b: 7, c: 8}\nz: {<<: [*l, *m]}",
       R"({"w":{"b":7,"c":8},"x":{"a":1,"b":2},"z":{"a":1,"b":2,"c":8}})"},
  };
  for (const auto& [text, json] : cases) {
    const auto parsed = ParseYaml(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().message();
    EXPECT_EQ(DumpJson(*parsed), json) << text;
  }
  for (const char* text : {"<<: x", "<<:", "<<: [x]", "<<: [[{a: 1}]]", "x: &f [{a: 1}]\ny: {<<: *f}"}) {
    const auto parsed = ParseYaml(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message().find(
                  "map merge requires map or sequence of maps as the value"), std::string::npos);
  }
  const auto strict = ParseYamlStrict("d:\n  <<: [{a: 1, b: 2}, {b: 9, c: 4}]\n  c: 3\n");
  ASSERT_TRUE(strict.ok());
  EXPECT_EQ(strict->duplicates, (std::vector<std::string>{"line 2: key \"b\" already set in map",
                                                          "line 3: key \"c\" already set in map"}));
}

TEST(Yaml, WhatIsRepeatedIsBounded) {
  std::string doubling = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string last = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    doubling += name + ": &" + name + " [" + last + ", " + last + "]\n";
  }
  EXPECT_FALSE(ParseYaml(doubling).ok());
  std::string merging = "a0: &a0 {x: 1}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string last = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    merging += name + ": &" + name + " {<<: [" + last + ", " + last + "]}\n";
  }
  EXPECT_FALSE(ParseYaml(merging).ok());
  std::string words = "a: &a " + std::string(100'000, 'x') + "\nb:\n";
  for (int i = 0; i < 100; ++i) words += "- *a\n";
  const auto repeated = ParseYaml(words);
  ASSERT_FALSE(repeated.ok());
  EXPECT_NE(repeated.error().message().find("excessive aliasing"), std::string::npos);
}

TEST(Yaml, RefusesTextThatWasCutShort) {
  for (const char* text : {"a: 'x", "a: 'x\n", "a: \"x\ny\n", "a: \"x\r\n", "'a\n\n", "a: ['x\n", "a: 1\nb: 'it''s\n"}) {
    EXPECT_FALSE(ParseYaml(text).ok()) << text;
  }
  EXPECT_EQ(DumpJson(*ParseYaml("a: 'x'\n")), R"({"a":"x"})");
  EXPECT_EQ(DumpJson(*ParseYaml("a: |\n  x\n")), R"({"a":"x\n"})");
  EXPECT_EQ(DumpJson(*ParseYaml("a: |+\n  x\n\n")), R"({"a":"x\n\n"})");
  EXPECT_EQ(DumpJson(*ParseYaml("a: |-\n  x\n")), R"({"a":"x"})");
  EXPECT_EQ(DumpJson(*ParseYaml("a: it's\n")), R"({"a":"it's"})");
}

TEST(Yaml, RefusesTextThatIsNoText) {
  for (const std::string& text : {std::string("a: \"\xff\"\n"), std::string("a: \xc3\n"), std::string("a: \xc0\x80\n"),
                                  std::string("a: \xed\xa0\x80\n"), std::string("a: \xf5\x80\x80\x80\n"),
                                  std::string("a: \0\n", 6), std::string("a: x\fy\n"), std::string("a: \x7f\n"),
                                  std::string("a: \xef\xbf\xbe\n")}) {
    EXPECT_FALSE(ParseYaml(text).ok()) << Quoted(text);
  }
  EXPECT_EQ(DumpJson(*ParseYaml("a: \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n")), "{\"a\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}");
  EXPECT_EQ(DumpJson(*ParseYaml("\xef\xbb\xbf" "a: 1\n")), R"({"a":1})") << "a byte order mark";
}

TEST(Yaml, EndsOnTextThatYieldsEmptyDocumentsForEver) {
  for (const char* text : {"--- \n? a\n: b\n]", "a: b\n}", "]", "--- ]", "? ]\n", "{a: 1}}"}) {
    (void)ParseYaml(text);
    (void)ParseYamlDocuments(text);
  }
  std::string many;
  for (std::size_t i = 0; i <= limits::kYamlDocuments; ++i) many += "--- a\n";
  EXPECT_FALSE(ParseYamlDocuments(many).ok());
}

TEST(Yaml, ReportsDuplicateKeys) {
  auto parsed = ParseYamlStrict("a: 1\nb:\n  c: 1\n  c: 2\n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->duplicates, (std::vector<std::string>{"line 4: key \"c\" already set in map"}));
}

TEST(Yaml, ReadsEveryLineBreak) {
  for (const char* text : {"a: 1\nb: |\n  x\n  y\n", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", "a: 1\rb: |\r  x\r  y\r"}) {
    auto tree = ParseYaml(text);
    ASSERT_TRUE(tree.ok()) << text;
    EXPECT_EQ(DumpJson(*tree), R"({"a":1,"b":"x\ny\n"})");
  }
}

TEST(Yaml, SplitsDocuments) {
  auto documents = ParseYamlDocuments("---\na: 1\n---\n---\nb: 2\n");
  ASSERT_TRUE(documents.ok());
  EXPECT_EQ(documents->size(), 2u);
}

TEST(Yaml, PrintsWhatItReads) {
  for (const char* json : {R"({"a":{"b":[{"c":1,"d":["x","y"]},"true","5",""],"e":{}},"f":[],"g":null})",
                           R"(["a: b","- c","#d","line\nbreak","0x1","~"])", R"("plain")", "3",
                           R"(["\u007f","a\u0085b","\ufeff","\uffff","\u0000","\f\b\u001b","\u2028 ","\u00e9","\r","a\rb","\t"," a","a "])"}) {
    Json tree = *ParseJson(json);
    auto again = ParseYaml(DumpYaml(tree));
    ASSERT_TRUE(again.ok()) << DumpYaml(tree);
    EXPECT_EQ(*again, tree) << DumpYaml(tree);
  }
}

}  // namespace
}  // namespace mailroom
