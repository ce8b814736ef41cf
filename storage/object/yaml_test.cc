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

TEST(Yaml, SplitsDocuments) {
  auto documents = ParseYamlDocuments("---\na: 1\n---\n---\nb: 2\n");
  ASSERT_TRUE(documents.ok());
  EXPECT_EQ(documents->size(), 2u);
}

TEST(Yaml, PrintsWhatItReads) {
  for (const char* json : {R"({"a":{"b":[{"c":1,"d":["x","y"]},"true","5",""],"e":{}},"f":[],"g":null})",
                           R"(["a: b","- c","#d","line\nbreak","0x1","~"])", R"("plain")", "3"}) {
    Json tree = *ParseJson(json);
    auto again = ParseYaml(DumpYaml(tree));
    ASSERT_TRUE(again.ok()) << DumpYaml(tree);
    EXPECT_EQ(*again, tree) << DumpYaml(tree);
  }
}

}  // namespace
}  // namespace mailroom
