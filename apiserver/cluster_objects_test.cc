// What the server puts into every cluster workspace and keeps there, seen through the API.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

class ClusterObjectsTest : public testing::Test {
 protected:
  ClusterObjectsTest() { hub.NewWorkspace("c", "cluster"); }

  bool Appears(const std::string& path) {
    return Eventually([&] { return hub.Get(path).code == 200; });
  }

  TestHub hub{"the test's authority"};
};

// Extension servers do not start without it.
TEST_F(ClusterObjectsTest, AClusterSaysWhomToBelieve) {
  const std::string path =
      "/clusters/c/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  ASSERT_TRUE(Appears(path));
  const Json data = hub.Get(path).body.value("data", Json());
  EXPECT_TRUE(StringAt(data, {"client-ca-file"}).starts_with("-----BEGIN CERTIFICATE"));
  EXPECT_TRUE(StringAt(data, {"requestheader-client-ca-file"}).starts_with("-----BEGIN CERTIF"));
  EXPECT_NE(StringAt(data, {"client-ca-file"}), StringAt(data, {"requestheader-client-ca-file"}));
  EXPECT_EQ(StringAt(data, {"requestheader-allowed-names"}), R"(["mailroom-aggregator:c"])");
  EXPECT_EQ(StringAt(data, {"requestheader-username-headers"}), R"(["X-Remote-User"])");
  EXPECT_EQ(StringAt(data, {"requestheader-uid-headers"}), R"(["X-Remote-Uid"])");
  EXPECT_EQ(StringAt(data, {"requestheader-group-headers"}), R"(["X-Remote-Group"])");
  EXPECT_EQ(StringAt(data, {"requestheader-extra-headers-prefix"}), R"(["X-Remote-Extra-"])");
  hub.Do("PATCH", path, {{"data", {{"requestheader-allowed-names", "[]"}}}},
         "application/merge-patch+json");
  EXPECT_TRUE(Eventually([&] { return hub.Get(path).body.value("data", Json()) == data; }));
  hub.Do("DELETE", path);
  EXPECT_TRUE(Appears(path));
}

// As when the file of --client-ca-file was replaced.
TEST_F(ClusterObjectsTest, NewAuthoritiesOfClientsAreTold) {
  const std::string name =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  for (const char* workspace : {"/clusters/c", "/clusters/root"}) {
    ASSERT_TRUE(Appears(workspace + name));
  }
  Json expected = hub.Get("/clusters/c" + name).body.at("data");
  expected["client-ca-file"] = "another authority";
  hub.server().VerifyClientsWith("another authority");
  EXPECT_TRUE(Eventually([&] { return hub.Get("/clusters/c" + name).body.at("data") == expected; }));
  EXPECT_TRUE(Eventually([&] {
    return StringAt(hub.Get("/clusters/root" + name).body, {"data", "client-ca-file"}) ==
           "another authority";
  }));
  // Whoever begins later knows it, too.
  hub.server().StopControllers();
  hub.server().VerifyClientsWith("a third");
  ASSERT_TRUE(hub.server().StartControllers().ok());
  EXPECT_TRUE(Eventually([&] {
    return StringAt(hub.Get("/clusters/c" + name).body, {"data", "client-ca-file"}) == "a third";
  }));
}

TEST_F(ClusterObjectsTest, AClusterKeepsTheMandatoryFlows) {
  const std::string group = "/clusters/c/apis/flowcontrol.apiserver.k8s.io/v1";
  for (const char* path : {"/flowschemas/exempt", "/flowschemas/catch-all",
                           "/prioritylevelconfigurations/exempt",
                           "/prioritylevelconfigurations/catch-all"}) {
    ASSERT_TRUE(Appears(group + path)) << path;
    const Json made = hub.Get(group + path).body;
    EXPECT_EQ(StringAt(made, {"metadata", "annotations", "apf.kubernetes.io/autoupdate-spec"}),
              "true");
    EXPECT_EQ(hub.Do("DELETE", group + path).code, 200);
    EXPECT_TRUE(Eventually([&] {
      const Json again = hub.Get(group + path).body;
      return StringAt(again, {"metadata", "uid"}) != StringAt(made, {"metadata", "uid"}) &&
             again.value("spec", Json()) == made.at("spec");
    })) << path;
  }
  const std::string flow = group + "/flowschemas/catch-all";
  const Json spec = hub.Get(flow).body.at("spec");
  EXPECT_EQ(IntAt(spec, {"matchingPrecedence"}), 10000);
  EXPECT_EQ(StringAt(spec, {"distinguisherMethod", "type"}), "ByUser");
  EXPECT_EQ(IntAt(hub.Get(group + "/prioritylevelconfigurations/catch-all").body,
                  {"spec", "limited", "nominalConcurrencyShares"}),
            5);
  const auto patch = [&](const std::string& path, const Json& body) {
    return hub.Do("PATCH", path, body, "application/merge-patch+json").code;
  };
  EXPECT_EQ(patch(flow, {{"spec", {{"matchingPrecedence", 7}}}}), 422);
  // What is granted without end may be counted.
  const std::string level = group + "/prioritylevelconfigurations/exempt";
  EXPECT_EQ(patch(level, {{"spec", {{"exempt", {{"lendablePercent", 7}}}}}}), 200);
  EXPECT_EQ(patch(level, {{"metadata", {{"annotations", Json()}}}}), 200);
  EXPECT_TRUE(Eventually([&] {
    const Json now = hub.Get(level).body;
    return now.at("metadata").contains("annotations") &&
           IntAt(now, {"spec", "exempt", "lendablePercent"}) == 7;
  }));
}

// APIServices act in root, too.
TEST_F(ClusterObjectsTest, RootSaysWhomToBelieve) {
  const std::string path =
      "/clusters/root/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  ASSERT_TRUE(Appears(path));
  EXPECT_EQ(StringAt(hub.Get(path).body, {"data", "requestheader-allowed-names"}),
            R"(["mailroom-aggregator:root"])");
}

TEST_F(ClusterObjectsTest, OnlyClustersHaveThem) {
  hub.NewWorkspace("m", "mailbox");
  hub.NewWorkspace("w", "wds");
  ASSERT_TRUE(Appears("/clusters/c/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all"));
  for (const char* workspace : {"m", "w", "its1", "root"}) {
    const std::string prefix = std::string("/clusters/") + workspace;
    EXPECT_NE(hub.Get(prefix + "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt").code,
              200);
    if (prefix.ends_with("root")) continue;
    EXPECT_NE(hub.Get(prefix + "/api/v1/namespaces/kube-system/configmaps/"
                               "extension-apiserver-authentication").code, 200);
  }
}

}  // namespace
}  // namespace mailroom
