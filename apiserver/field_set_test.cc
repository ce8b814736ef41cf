#include "apiserver/field_set.h"

#include <gtest/gtest.h>

#include <random>

#include "apiserver/apply_test_types.h"

namespace mailroom::apiserver {
namespace {

FieldSet Decode(std::string_view yaml) {
  auto set = FieldSet::FromFieldsV1(Y(yaml));
  EXPECT_TRUE(set.ok()) << yaml;
  return set.ok() ? *set : FieldSet();
}

TEST(FieldSet, InsertHasAndPaths) {
  FieldSet set;
  set.Insert({"f:spec", "f:replicas"});
  set.Insert({"f:spec", "f:template", "f:image"});
  set.Insert({"f:spec"});
  EXPECT_TRUE(set.Has({"f:spec"}));
  EXPECT_TRUE(set.Has({"f:spec", "f:replicas"}));
  EXPECT_FALSE(set.Has({"f:spec", "f:template"}));
  EXPECT_FALSE(set.Has({}));
  EXPECT_EQ(Texts(set), (Strings{".spec", ".spec.replicas", ".spec.template.image"}));
}

TEST(FieldSet, PathText) {
  EXPECT_EQ(PathText({"f:spec", "f:template", "f:spec", "f:containers", R"(k:{"name":"nginx"})",
                      "f:image"}),
            R"(.spec.template.spec.containers[name="nginx"].image)");
  EXPECT_EQ(PathText({"f:ports", R"(k:{"containerPort":80,"protocol":"TCP"})"}),
            R"(.ports[containerPort=80,protocol="TCP"])");
  EXPECT_EQ(PathText({"f:metadata", "f:finalizers", R"(v:"a.b/c")"}),
            R"(.metadata.finalizers[="a.b/c"])");
  EXPECT_EQ(PathText({"f:a", "v:5", "i:3"}), ".a[=5][3]");
}

TEST(FieldSet, PathsAreToldUpToABound) {
  const std::string name(limits::kProblemPathBytes, 'n');
  FieldSet set;
  for (char c = 'a'; c <= 'z'; ++c) set.Insert({"f:" + name, std::string("f:") + c});
  set.Insert({"f:z"});
  EXPECT_EQ(set.Count(), 27u);
  const auto told = set.PathTexts(3);
  const std::string cut = "." + name.substr(1) + "...";
  EXPECT_EQ(told, (Strings{".z", cut, cut}));
}

TEST(FieldSet, FieldsV1RoundTrip) {
  const char* const texts[] = {
      "{}",
      "{'f:data': {.: {}, 'f:a': {}}}",
      "{'f:metadata': {'f:labels': {'f:app': {}}}, 'f:spec': {'f:replicas': {}}}",
      R"({'f:spec': {'f:ports': {'k:{"port":80,"protocol":"TCP"}': {.: {}, 'f:port': {}}}}})",
      R"({'f:metadata': {'f:finalizers': {'v:"x"': {}, 'v:5': {}}}})",
      "{'f:a': {'i:0': {}}}",
  };
  for (const char* text : texts) EXPECT_EQ(Decode(text).ToFieldsV1(), Y(text)) << text;
}

TEST(FieldSet, DecodingGivesElementsOneSpelling) {
  EXPECT_TRUE(
      Decode(R"({'f:l': {'k:{ "b":1, "a":2.0 }': {}}})").Has({"f:l", R"(k:{"a":2,"b":1})"}));
  EXPECT_TRUE(Decode(R"({'f:l': {'v:"a\u003cb"': {}}})").Has({"f:l", R"(v:"a<b")"}));
  EXPECT_TRUE(Decode(R"({'f:l': {'k:{"name":"a b"}': {}}})").Has({"f:l", R"(k:{"name":"a b"})"}));
}

TEST(FieldSet, DecodingRefusesNonsense) {
  for (const char* text :
       {"[]", "{spec: {}}", "{'f:a': 5}", "{'k:{': {}}", "{'k:[]': {}}", "{'v:': {}}", "{f: {}}"}) {
    EXPECT_FALSE(FieldSet::FromFieldsV1(Y(text)).ok()) << text;
  }
  // Elements of a kind that is not known yet are passed over.
  EXPECT_TRUE(Decode("{'z:later': {}}").Empty());
}

TEST(FieldSet, Algebra) {
  const FieldSet a = Decode("{'f:a': {.: {}, 'f:b': {}, 'f:c': {}}, 'f:d': {}}");
  const FieldSet b = Decode("{'f:a': {'f:b': {}}, 'f:e': {}}");
  EXPECT_EQ(Texts(a.Union(b)), (Strings{".a", ".d", ".e", ".a.b", ".a.c"}));
  EXPECT_EQ(Texts(a.Intersection(b)), (Strings{".a.b"}));
  EXPECT_EQ(Texts(a.Difference(b)), (Strings{".a", ".d", ".a.c"}));
  EXPECT_EQ(Texts(b.Difference(a)), (Strings{".e"}));
  const FieldSet parent = Decode("{'f:a': {}}");
  EXPECT_EQ(Texts(a.Difference(parent)), (Strings{".d", ".a.b", ".a.c"}));
  EXPECT_EQ(Texts(a.RecursiveDifference(parent)), (Strings{".d"}));
  EXPECT_TRUE(a.Intersects(b));
  EXPECT_FALSE(b.Intersects(parent));
  EXPECT_TRUE(a == a.Union(a));
  EXPECT_FALSE(a == b);
}

FieldSet RandomSet(std::mt19937& random, int depth) {
  FieldSet set;
  for (const char* element : {"f:a", "f:b", R"(k:{"name":"x"})", R"(v:"y")"}) {
    FieldSet child;
    child.member = random() % 3 == 0;
    if (depth > 0 && random() % 2) child.children = RandomSet(random, depth - 1).children;
    set.Attach(element, std::move(child));
  }
  return set;
}

TEST(FieldSet, AlgebraHoldsForRandomSets) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const FieldSet a = RandomSet(random, 3);
    const FieldSet b = RandomSet(random, 3);
    EXPECT_TRUE(a.Difference(b).Union(a.Intersection(b)) == a);
    EXPECT_TRUE(a.Union(b) == b.Union(a));
    EXPECT_FALSE(a.Difference(b).Intersects(b));
    EXPECT_EQ(a.Intersects(b), !a.Intersection(b).Empty());
    EXPECT_TRUE(a.RecursiveDifference(b).Difference(a).Empty());
    auto decoded = FieldSet::FromFieldsV1(a.ToFieldsV1());
    ASSERT_TRUE(decoded.ok());
    EXPECT_TRUE(*decoded == a);
  }
}

}  // namespace
}  // namespace mailroom::apiserver
