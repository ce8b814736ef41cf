// Definitions served: rules on every way of writing, names, bounds.
#include <gtest/gtest.h>

#include <cstdlib>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

Json Definition(const std::string& plural, const std::string& kind, const Json& spec,
                const std::string& group = "example.com") {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Namespaced"},
            {"names", {{"plural", plural}, {"kind", kind}}},
            {"versions",
             {{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"subresources", {{"status", Json::object()}}},
               {"schema",
                {{"openAPIV3Schema",
                  {{"type", "object"},
                   {"properties",
                    {{"spec", spec},
                     {"status",
                      {{"type", "object"},
                       {"properties", {{"n", {{"type", "integer"}}}}},
                       {"x-kubernetes-validations",
                        {{{"rule", "self.n < 10"}, {"message", "n is too large"}}}}}}}}}}}}}}}}}};
}

Json Bounded() {
  return {{"type", "object"},
          {"properties", {{"low", {{"type", "integer"}}}, {"high", {{"type", "integer"}}}}},
          {"x-kubernetes-validations",
           {{{"rule", "self.low <= self.high"}, {"message", "low is above high"}}}}};
}

Json Thing(const std::string& name, const Json& spec) {
  return {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"metadata", {{"name", name}}},
          {"spec", spec}};
}

class Definitions : public testing::Test {
 protected:
  Definitions() : ws(hub.NewWorkspace("defs", "cluster")) {}
  TestHub hub;
  const std::string ws;
  const std::string things = ws + "/apis/example.com/v1/namespaces/default/things";
};

TEST_F(Definitions, RulesHoldOnEveryWayOfWriting) {
  ASSERT_EQ(hub.Do("POST", ws + kCrds, Definition("things", "Thing", Bounded())).code, 201);
  ASSERT_EQ(hub.Do("POST", things, Thing("a", {{"low", 1}, {"high", 2}})).code, 201);
  auto expect = [](const TestHub::Answer& answer, const std::string& message) {
    EXPECT_EQ(answer.code, 422) << answer.text;
    EXPECT_NE(StringAt(answer.body, {"message"}).find(message), std::string::npos) << answer.text;
  };
  const Json bad = {{"low", 3}, {"high", 2}};
  const std::string why = "spec: Invalid value: low is above high";
  auto created = hub.Do("POST", things, Thing("b", bad));
  expect(created, "Thing.example.com \"b\" is invalid: " + why);
  EXPECT_EQ(StringAt(created.body["details"]["causes"][0], {"reason"}), "FieldValueInvalid");
  EXPECT_EQ(StringAt(created.body["details"]["causes"][0], {"field"}), "spec");
  Json put = hub.Get(things + "/a").body;
  put["spec"] = bad;
  expect(hub.Do("PUT", things + "/a", put), why);
  expect(hub.Do("PATCH", things + "/a", {{"spec", {{"low", 3}}}}, "application/merge-patch+json"),
         why);
  expect(hub.Do("PATCH", things + "/a",
                Json::array({{{"op", "replace"}, {"path", "/spec/low"}, {"value", 3}}}),
                "application/json-patch+json"),
         why);
  expect(hub.Do("PATCH", things + "/a?fieldManager=m&force=true", Thing("a", bad),
                "application/apply-patch+yaml"),
         why);
  expect(hub.Do("PATCH", things + "/a/status", {{"status", {{"n", 10}}}},
                "application/merge-patch+json"),
         "status: Invalid value: n is too large");
  EXPECT_EQ(hub.Do("PATCH", things + "/a/status", {{"status", {{"n", 9}}}},
                   "application/merge-patch+json")
                .code,
            200);
}

TEST_F(Definitions, BrokenRulesAreRefused) {
  Json spec = Bounded();
  spec["x-kubernetes-validations"][0]["rule"] = "self.low <= self.hihg";
  auto made = hub.Do("POST", ws + kCrds, Definition("things", "Thing", spec));
  EXPECT_EQ(made.code, 422);
  EXPECT_NE(StringAt(made.body, {"message"}).find("undefined field 'hihg'"), std::string::npos);
  spec["x-kubernetes-validations"][0]["rule"] = std::string(300, '(') + "true";
  EXPECT_EQ(hub.Do("POST", ws + kCrds, Definition("things", "Thing", spec)).code, 422);
}

TEST_F(Definitions, NamesAreTakenOnce) {
  Json first = Definition("things", "Thing", Bounded());
  first["spec"]["names"]["shortNames"] = {"th"};
  ASSERT_EQ(hub.Do("POST", ws + kCrds, first).code, 201);
  auto condition = [](const Json& crd, const std::string& type) {
    for (const Json& entry : crd["status"]["conditions"]) {
      if (StringAt(entry, {"type"}) == type) {
        return StringAt(entry, {"status"}) + " " + StringAt(entry, {"reason"});
      }
    }
    return std::string();
  };
  auto kind = hub.Do("POST", ws + kCrds, Definition("others", "Thing", Bounded()));
  ASSERT_EQ(kind.code, 201) << kind.text;
  EXPECT_EQ(condition(kind.body, "NamesAccepted").substr(0, 5), "False");
  EXPECT_EQ(condition(kind.body, "Established"), "False NotAccepted");
  Json again = Definition("more", "More", Bounded());
  again["spec"]["names"]["shortNames"] = {"th"};
  EXPECT_EQ(condition(hub.Do("POST", ws + kCrds, again).body, "NamesAccepted"),
            "False ShortNamesConflict");
  // What waited is served as soon as the name is free.
  auto waiting = [&] { return hub.Get(ws + kCrds + "/others.example.com").body; };
  EXPECT_EQ(hub.Do("DELETE", ws + kCrds + "/things.example.com").code, 200);
  EXPECT_TRUE(Eventually(
      [&] { return condition(waiting(), "Established") == "True InitialNamesAccepted"; }))
      << condition(waiting(), "Established");
  EXPECT_EQ(condition(waiting(), "NamesAccepted"), "True NoConflicts");
  // Another group, and another workspace, do not care.
  auto other = hub.Do("POST", ws + kCrds, Definition("things", "Thing", Bounded(), "b.example"));
  EXPECT_EQ(condition(other.body, "Established"), "True InitialNamesAccepted");
  const std::string elsewhere = hub.NewWorkspace("elsewhere", "wds");
  EXPECT_EQ(condition(hub.Do("POST", elsewhere + kCrds, first).body, "Established"),
            "True InitialNamesAccepted");
}

TEST_F(Definitions, BuiltInsCannotBeShadowed) {
  auto core = hub.Do("POST", ws + kCrds, Definition("deployments", "Deployment", Bounded(), "apps"));
  EXPECT_EQ(core.code, 422);
  const std::string rbac = "rbac.authorization.k8s.io";
  auto refused = hub.Do("POST", ws + kCrds, Definition("roles", "Role", Bounded(), rbac));
  EXPECT_EQ(refused.code, 422);
  EXPECT_NE(refused.text.find("api-approved.kubernetes.io"), std::string::npos);
  Json approved = Definition("roles", "Role", Bounded(), rbac);
  approved["metadata"]["annotations"] = {{"api-approved.kubernetes.io", "unapproved, a test"}};
  const auto own = hub.Do("POST", ws + kCrds, approved);
  EXPECT_EQ(own.code, 422) << "approved or not";
  EXPECT_NE(own.text.find("spec.names.plural"), std::string::npos) << own.text;
  // The built-in kind goes on being served.
  auto role = hub.Do("POST", ws + "/apis/" + rbac + "/v1/namespaces/default/roles",
                     {{"apiVersion", rbac + "/v1"}, {"kind", "Role"},
                      {"metadata", {{"name", "r"}}}, {"rules", Json::array()}});
  EXPECT_EQ(role.code, 201) << role.text;
}

TEST_F(Definitions, HugeAndDeepSchemasAreBounded) {
  Json spec = {{"type", "object"}, {"properties", Json::object()}};
  for (int i = 0; i < 36'000; ++i) {
    spec["properties"]["p" + std::to_string(i)] = {{"type", "string"}, {"maxLength", i}};
  }
  const auto large = hub.Do("POST", ws + kCrds, Definition("things", "Thing", spec));
  EXPECT_EQ(large.code, 413) << large.text.substr(0, 300);
  Json deep = {{"type", "string"}};
  for (int i = 0; i < 100; ++i) deep = {{"type", "object"}, {"properties", {{"a", deep}}}};
  EXPECT_EQ(hub.Do("POST", ws + kCrds, Definition("deeps", "Deep", deep)).code, 201);
  Json self = {{"type", "object"}, {"properties", {{"again", {{"$ref", "#"}}}}}};
  const auto reference = hub.Do("POST", ws + kCrds, Definition("selves", "Self", self));
  EXPECT_EQ(reference.code, 422);
  EXPECT_NE(reference.text.find("$ref is not supported"), std::string::npos);
  Json pattern = {{"type", "object"},
                  {"properties", {{"a", {{"type", "string"}, {"pattern", "(((a{1000}){1000}){1000})"}}}}}};
  EXPECT_EQ(hub.Do("POST", ws + kCrds, Definition("bombs", "Bomb", pattern)).code, 422);
}

TEST_F(Definitions, ManyInOneWorkspace) {
  constexpr int kCount = 300;
  for (int i = 0; i < kCount; ++i) {
    const std::string n = std::to_string(i);
    ASSERT_EQ(hub.Do("POST", ws + kCrds, Definition("things" + n, "Thing" + n, Bounded())).code,
              201);
  }
  auto list = hub.Get(ws + "/apis/example.com/v1");
  EXPECT_GE(list.body["resources"].size(), static_cast<std::size_t>(2 * kCount));
  EXPECT_EQ(hub.Do("DELETE", ws + kCrds + "/things7.example.com").code, 200);
}

// As many as MAILROOM_TEST_DEFINITIONS says: 10,000 when somebody has a minute.
TEST_F(Definitions, VeryManyInOneWorkspace) {
  const char* asked = std::getenv("MAILROOM_TEST_DEFINITIONS");
  const int count = asked != nullptr ? std::atoi(asked) : 150;
  auto plural = [](int i) { return "kinds" + std::to_string(i); };
  auto path = [&](int i) { return ws + kCrds + "/" + plural(i) + ".example.com"; };
  for (int i = 0; i < count; ++i) {
    const Json crd = Definition(plural(i), "Kind" + std::to_string(i), Bounded());
    ASSERT_EQ(hub.Do("POST", ws + kCrds, crd).code, 201);
  }
  EXPECT_EQ(hub.Get(ws + "/apis/example.com/v1").body["resources"].size(),
            2 * static_cast<std::size_t>(count));  // each with its status
  // A name that any of them holds is taken.
  Json taken = Definition("others", "Other", Bounded());
  taken["spec"]["names"]["shortNames"] = {plural(count / 2)};
  const Json made = hub.Do("POST", ws + kCrds, taken).body;
  EXPECT_EQ(made["status"]["conditions"][0]["reason"], "ShortNamesConflict") << made;
  // One goes, one changes: the others stay as they are.
  ASSERT_EQ(hub.Do("DELETE", path(0)).code, 200);
  ASSERT_TRUE(Eventually([&] { return hub.Get(path(0)).code == 404; }));
  Json changed = hub.Get(path(1)).body;
  changed["spec"]["versions"][0]["served"] = false;
  ASSERT_EQ(hub.Do("PUT", path(1), changed).code, 200);
  const std::string base = ws + "/apis/example.com/v1/namespaces/default/";
  EXPECT_EQ(hub.Get(base + plural(0)).code, 404);
  EXPECT_EQ(hub.Get(base + plural(1)).code, 404);
  for (const int i : {2, count / 2, count - 1}) {
    EXPECT_EQ(hub.Get(base + plural(i)).code, 200) << i;
  }
}

}  // namespace
}  // namespace mailroom
