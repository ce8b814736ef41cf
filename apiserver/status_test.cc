// What a request says about parts that its endpoint does not write: it must make sense, and then
// it changes nothing.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kDeployments = "/clusters/wds1/apis/apps/v1/namespaces/default/deployments";
constexpr const char* kMerge = "application/merge-patch+json";

Json Deployment() {
  return *ParseJson(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
    "spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
}

TEST(StatusParts, AreDecodedEverywhere) {
  TestHub hub;
  Json object = Deployment();
  object["status"]["replicas"] = "many";
  const auto wrong = hub.Do("POST", kDeployments, object);
  EXPECT_EQ(wrong.code, 400) << wrong.text;
  EXPECT_EQ(
      StringAt(wrong.body, {"message"}),
      "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal "
      "string into Go struct field DeploymentStatus.status.replicas of type int32");
  object["status"] = {{"replicas", 3}, {"extra", 1}};
  const auto made = hub.Do("POST", kDeployments, object);
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.headers.Get("warning"), "299 - \"unknown field \\\"status.extra\\\"\"");
  EXPECT_EQ(Find(made.body, {"status", "replicas"}), nullptr);
  object["status"]["replicas"] = "many";
  EXPECT_EQ(hub.Do("PUT", kDeployments + "/d", object).code, 400);

  object = Deployment();
  object["spec"]["replicas"] = "many";
  EXPECT_EQ(hub.Do("PUT", kDeployments + "/d/status", object).code, 400);
  EXPECT_EQ(
      hub.Do("PATCH", kDeployments + "/d/status", {{"spec", {{"replicas", "many"}}}}, kMerge).code,
      422);
  object["spec"]["replicas"] = 7;
  object["spec"]["extra"] = 1;
  object["status"]["replicas"] = 2;
  EXPECT_EQ(hub.Do("PUT", kDeployments + "/d/status?fieldValidation=Strict", object).code, 400);
  const auto told = hub.Do("PUT", kDeployments + "/d/status", object);
  ASSERT_EQ(told.code, 200) << told.text;
  EXPECT_EQ(told.headers.Get("warning"), "299 - \"unknown field \\\"spec.extra\\\"\"");
  EXPECT_EQ(IntAt(told.body, {"spec", "replicas"}), 1);
  EXPECT_EQ(IntAt(told.body, {"status", "replicas"}), 2);
}

TEST(StatusParts, OfCustomResourcesBelongToWhoAppliedThem) {
  TestHub hub;
  const Json crd = *ParseJson(R"({"metadata":{"name":"things.example.com"},"spec":{
    "group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
    "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","properties":{"n":{"type":"integer"}}},
        "status":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}]}})");
  const std::string base = "/clusters/wds1/apis/";
  ASSERT_EQ(hub.Do("POST", base + "apiextensions.k8s.io/v1/customresourcedefinitions", crd).code,
            201);
  const std::string things = base + "example.com/v1/namespaces/default/things";
  const Json thing = {{"apiVersion", "example.com/v1"},
                      {"kind", "Thing"},
                      {"metadata", {{"name", "t"}}},
                      {"spec", {{"n", 1}}},
                      {"status", {{"n", 2}}}};
  ASSERT_TRUE(Eventually([&] { return hub.Do("POST", things, thing).code == 201; }));
  const auto applied = hub.Do("PATCH", things + "/t/status?fieldManager=m&force=true", thing,
                              "application/apply-patch+yaml");
  ASSERT_EQ(applied.code, 200) << applied.text;
  EXPECT_EQ(IntAt(applied.body, {"status", "n"}), 2);
  const Json* entries = Find(applied.body, {"metadata", "managedFields"});
  ASSERT_NE(entries, nullptr);
  bool owned = false;
  for (const Json& entry : *entries) {
    if (StringAt(entry, {"manager"}) != "m") continue;
    owned = true;
    EXPECT_EQ(StringAt(entry, {"subresource"}), "status");
    EXPECT_EQ(entry["fieldsV1"], Json({{"f:status", {{"f:n", Json::object()}}}}))
        << DumpJson(entry);
  }
  EXPECT_TRUE(owned) << applied.text;
}

}  // namespace
}  // namespace mailroom
