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
           {"a: 2023-01-01", R"({"a":"2023-01-01"})"}, {"- x\n- y", R"(["x","y"])"},
           {"a: |\n  l1\n  l2\n", R"({"a":"l1\nl2\n"})"}, {"{\"a\":{\"b\":[1,null]}}",
           R"({"a":{"b":[1,null]}})"}, {"a: 100m", R"({"a":"100m"})"},
           {"1: x", R"({"1":"x"})"}, {"a: +5", R"({"a":5})"}, {"a: .5", R"({"a":0.5})"},
           {"a: 18446744073709551615", R"({"a":18446744073709551615})"}}) {
    auto parsed = ParseYaml(c.yaml);
    ASSERT_TRUE(parsed.ok()) << c.yaml;
    EXPECT_EQ(DumpJson(*parsed), c.json) << c.yaml;
  }
}

TEST(Yaml, RefusesWhatCouldExplodeOrSurprise) {
  for (const char* text : {"a: &x 1\nb: *x", "a: &x [1]\nb: [*x,*x]", "<<: {a: 1}", "a: !!binary x: y",
                           "a: !custom x", "a: [", "a: b: c", "{a: 1"}) {
    EXPECT_FALSE(ParseYaml(text).ok()) << text;
  }
  EXPECT_FALSE(ParseYaml(std::string(5000, '[')).ok());
  EXPECT_FALSE(ParseYaml("a: 1\n---\nb: 2").ok());
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
