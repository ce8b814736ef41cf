// Where objects are payload for other clusters, nothing is decided that those must decide.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

Json Service(const char* name, Json spec) {
  spec["ports"] = {{{"port", 80}}};
  spec["selector"] = {{"a", "b"}};
  return {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

class Payload : public testing::TestWithParam<const char*> {
 protected:
  Payload() : prefix_(hub_.NewWorkspace("payload", GetParam())) {}
  // As it is stored.
  Json Make(const std::string& collection, const Json& object) {
    const auto made = hub_.Do("POST", prefix_ + collection, object);
    EXPECT_EQ(made.code, 201) << made.text;
    return hub_.Get(prefix_ + collection + "/" + StringAt(object, {"metadata", "name"})).body;
  }
  // What is left of what was stored under that name.
  Json Replace(const std::string& collection, const Json& object) {
    const std::string path = prefix_ + collection + "/" + StringAt(object, {"metadata", "name"});
    const auto put = hub_.Do("PUT", path, object);
    EXPECT_EQ(put.code, 200) << put.text;
    return hub_.Get(path).body;
  }
  TestHub hub_;
  const std::string prefix_;
};

TEST_P(Payload, ServicesGetNoAddresses) {
  const std::string services = "/api/v1/namespaces/default/services";
  const Json kinds[] = {
      Service("plain", Json::object()),
      Service("ports", {{"type", "NodePort"}}),
      Service("balanced", {{"type", "LoadBalancer"}}),
      Service("local", {{"type", "LoadBalancer"}, {"externalTrafficPolicy", "Local"}}),
      Service("dual", {{"ipFamilyPolicy", "PreferDualStack"}}),
  };
  for (const Json& object : kinds) {
    const Json made = Make(services, object);
    SCOPED_TRACE(DumpJson(made));
    for (const char* member : {"clusterIP", "clusterIPs", "ipFamilies", "healthCheckNodePort"}) {
      EXPECT_EQ(Find(made, {"spec", member}), nullptr) << member;
    }
    const Json* ports = Find(made, {"spec", "ports"});
    ASSERT_NE(ports, nullptr);
    for (const Json& port : *ports) EXPECT_FALSE(port.contains("nodePort"));
  }
  // What was asked for is another matter.
  const Json headless = Make(services, Service("headless", {{"clusterIP", "None"}}));
  EXPECT_EQ(StringAt(headless, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(Find(headless, {"spec", "ipFamilies"}), nullptr);
  Json chosen = Service("chosen", {{"type", "NodePort"}});
  chosen["spec"]["ports"][0]["nodePort"] = 30'080;
  EXPECT_EQ(Make(services, chosen)["spec"]["ports"][0]["nodePort"], 30'080);
  // Nobody has allocated it, so it goes with the next update.
  const Json plain = Replace(services, Service("headless", Json::object()));
  EXPECT_EQ(Find(plain, {"spec", "clusterIP"}), nullptr) << DumpJson(plain);
  const Json freed = Replace(services, Service("chosen", {{"type", "NodePort"}}));
  EXPECT_FALSE(freed["spec"]["ports"][0].contains("nodePort")) << DumpJson(freed);
}

TEST_P(Payload, JobsGetNoSelector) {
  const Json job = {{"apiVersion", "batch/v1"},
                    {"kind", "Job"},
                    {"metadata", {{"name", "j"}}},
                    {"spec",
                     {{"template",
                       {{"spec",
                         {{"restartPolicy", "Never"},
                          {"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
  const Json made = Make("/apis/batch/v1/namespaces/default/jobs", job);
  EXPECT_EQ(Find(made, {"spec", "selector"}), nullptr) << DumpJson(made);
  EXPECT_EQ(Find(made, {"spec", "template", "metadata", "labels"}), nullptr);
  const std::string text = DumpJson(made);
  EXPECT_EQ(text.find("controller-uid"), std::string::npos) << text;
  EXPECT_EQ(text.find("job-name"), std::string::npos) << text;
}

// A volume for it is found, and a node, where they run.
TEST_P(Payload, PodsAndClaimsAreNotPlaced) {
  const Json pod = Make("/api/v1/namespaces/default/pods",
                        {{"metadata", {{"name", "p"}}},
                         {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  for (const char* member : {"nodeName", "serviceAccountName", "serviceAccount", "priority"}) {
    const Json* value = Find(pod, {"spec", member});
    EXPECT_TRUE(value == nullptr) << member << ": " << DumpJson(pod);
  }
  EXPECT_EQ(Find(pod, {"spec", "volumes"}), nullptr) << "no token is mounted";
  const Json claim = Make("/api/v1/namespaces/default/persistentvolumeclaims",
                          {{"metadata", {{"name", "c"}}},
                           {"spec",
                            {{"accessModes", {"ReadWriteOnce"}},
                             {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
  EXPECT_EQ(Find(claim, {"spec", "storageClassName"}), nullptr) << DumpJson(claim);
  EXPECT_EQ(Find(claim, {"spec", "volumeName"}), nullptr);
}

// Where its data comes from is for the cluster to make sense of.
TEST_P(Payload, ClaimsSayWhatTheirAuthorSaid) {
  const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  auto claim = [](const char* name, const char* member, const Json& source) {
    return Json{{"metadata", {{"name", name}}},
                {"spec",
                 {{"accessModes", {"ReadWriteOnce"}},
                  {"resources", {{"requests", {{"storage", "1Gi"}}}}},
                  {member, source}}}};
  };
  const Json near = {{"kind", "PersistentVolumeClaim"}, {"name", "o"}};
  const Json old = claim("old", "dataSource", near);
  EXPECT_EQ(StringAt(Make(claims, old), {"spec", "dataSource", "name"}), "o");
  EXPECT_EQ(Find(Replace(claims, old), {"spec", "dataSourceRef"}), nullptr);
  Json far = near;
  far["namespace"] = "q";
  const Json ref = claim("ref", "dataSourceRef", far);
  EXPECT_EQ(StringAt(Make(claims, ref), {"spec", "dataSourceRef", "namespace"}), "q");
  const Json kept = Replace(claims, ref);
  EXPECT_EQ(StringAt(kept, {"spec", "dataSourceRef", "namespace"}), "q") << DumpJson(kept);
  EXPECT_EQ(Find(kept, {"spec", "dataSource"}), nullptr) << DumpJson(kept);
}

TEST_P(Payload, DevicesMayBeAskedForInAnyNamespace) {
  const Json spec = {{"devices",
                      {{"requests",
                        {{{"name", "a"},
                          {"exactly", {{"deviceClassName", "c"}, {"adminAccess", true}}}}}}}}};
  const std::string devices = "/apis/resource.k8s.io/v1/namespaces/default/";
  const Json claim = Make(devices + "resourceclaims", {{"metadata", {{"name", "c"}}}, {"spec", spec}});
  EXPECT_EQ(claim["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"], true);
  Make(devices + "resourceclaimtemplates",
       {{"metadata", {{"name", "t"}}}, {"spec", {{"spec", spec}}}});
}

INSTANTIATE_TEST_SUITE_P(Types, Payload, testing::Values("wds", "mailbox"),
                         [](const auto& type) { return std::string(type.param); });

}  // namespace
}  // namespace mailroom
