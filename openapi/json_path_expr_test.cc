#include "openapi/json_path_expr.h"

#include <gtest/gtest.h>

namespace mailroom::openapi {
namespace {

const Json& Sample() {
  static const Json* sample = new Json(*ParseJson(R"({
    "metadata": {"annotations": {"example.com/owner": "ada"}},
    "spec": {"replicas": 3, "ports": [{"n": 1}, {"n": 2}, {"n": 3}]},
    "status": {"conditions": [{"type": "Ready", "status": "True", "age": 4},
                              {"type": "Synced", "status": "False", "age": 9}]}})"));
  return *sample;
}

TEST(JsonPathExpr, SelectsNodes) {
  struct Case {
    const char* path;
    const char* expected;
  };
  const Case cases[] = {
      {".spec.replicas", "[3]"},
      {"{.spec.replicas}", "[3]"},
      {"spec.replicas", "[3]"},
      {".spec.missing.deeper", "[]"},
      {".spec.replicas.deeper", "[]"},
      {R"(.metadata.annotations.example\.com/owner)", R"(["ada"])"},
      {".metadata.annotations['example.com/owner']", R"(["ada"])"},
      {".spec.ports[1].n", "[2]"},
      {".spec.ports[-1].n", "[3]"},
      {".spec.ports[7].n", "[]"},
      {".spec.ports[0:2].n", "[1,2]"},
      {".spec.ports[1:].n", "[2,3]"},
      {".spec.ports[*].n", "[1,2,3]"},
      {R"(.status.conditions[?(@.type=="Ready")].status)", R"(["True"])"},
      {R"(.status.conditions[?(@.type=='Nope')].status)", "[]"},
      {R"(.status.conditions[?(@.type != "Ready")].type)", R"(["Synced"])"},
      {".status.conditions[?(@.age>4)].type", R"(["Synced"])"},
      {".status.conditions[?(@.age<=4)].type", R"(["Ready"])"},
      {".status.conditions[?(@.age)].type", R"(["Ready","Synced"])"},
      {".status..status", R"(["True","False"])"},
      {".spec['replicas','missing']", "[3]"},
  };
  for (const Case& c : cases) {
    auto path = JsonPathExpr::Parse(c.path);
    ASSERT_TRUE(path.ok()) << c.path << ": " << path.error().message();
    Json found = Json::array();
    for (const Json* node : path->Select(Sample())) found.push_back(*node);
    EXPECT_EQ(DumpJson(found), c.expected) << c.path;
  }
}

TEST(JsonPathExpr, RefusesBrokenText) {
  for (const char* text : {".spec[", ".spec[?(@.a", ".a[b]", ".a..", "a b", ".a['x"}) {
    EXPECT_FALSE(JsonPathExpr::Parse(text).ok()) << text;
  }
}

TEST(JsonPathExpr, NamesPlainMembers) {
  EXPECT_EQ(JsonPathExpr::Parse(".spec.replicas")->PlainMembers(),
            (std::vector<std::string>{"spec", "replicas"}));
  EXPECT_TRUE(JsonPathExpr::Parse(".spec.ports[0]")->PlainMembers().empty());
}

}  // namespace
}  // namespace mailroom::openapi
