#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "apiserver/admission/quota_usage.h"
#include "openapi/catalog.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

openapi::ResourceTypePtr TypeOf(const char* group, const char* version, const char* plural) {
  return openapi::BaseCatalog(openapi::WorkspaceType::kCluster)->FindShared(group, version, plural);
}

Json Container(const std::string& name, const Json& requests, const Json& limits) {
  return {{"name", name}, {"image", "i"},
          {"resources", {{"requests", requests}, {"limits", limits}}}};
}

Json Pod(const std::string& name, const Json& containers) {
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}}},
          {"spec", {{"containers", containers}}}};
}

TEST(QuotaUsageTest, CountsByKind) {
  Json pod = Pod("p", Json::array({Container("a", {{"cpu", "250m"}, {"example.com/dongle", "2"}},
                                             {{"cpu", "1"}}),
                                   Container("b", {{"cpu", "0.25"}, {"memory", "1Gi"}},
                                             Json::object())}));
  const ResourceList want = {{"count/pods", "1"},       {"pods", "1"},
                             {"cpu", "500m"},           {"requests.cpu", "500m"},
                             {"memory", "1Gi"},         {"requests.memory", "1Gi"},
                             {"limits.cpu", "1"},       {"requests.example.com/dongle", "2"}};
  EXPECT_EQ(UsageOf(*TypeOf("", "v1", "pods"), pod, 0), want);
  pod["status"] = {{"phase", "Succeeded"}};
  EXPECT_EQ(UsageOf(*TypeOf("", "v1", "pods"), pod, 0), (ResourceList{{"count/pods", "1"}}));

  const Json service = {{"spec", {{"type", "LoadBalancer"}, {"ports", {{{"port", 1}}, {{"port", 2}}}}}}};
  EXPECT_EQ(UsageOf(*TypeOf("", "v1", "services"), service, 0),
            (ResourceList{{"count/services", "1"}, {"services", "1"}, {"services.nodeports", "2"},
                          {"services.loadbalancers", "1"}}));
  const Json claim = {{"spec", {{"storageClassName", "gold"},
                                {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}};
  EXPECT_EQ(UsageOf(*TypeOf("", "v1", "persistentvolumeclaims"), claim, 0),
            (ResourceList{{"count/persistentvolumeclaims", "1"},
                          {"persistentvolumeclaims", "1"},
                          {"requests.storage", "1Gi"},
                          {"gold.storageclass.storage.k8s.io/persistentvolumeclaims", "1"},
                          {"gold.storageclass.storage.k8s.io/requests.storage", "1Gi"}}));
  EXPECT_EQ(UsageOf(*TypeOf("apps", "v1", "replicasets"), Json::object(), 0),
            (ResourceList{{"count/replicasets.apps", "1"}}));
  EXPECT_EQ(UsageOf(*TypeOf("", "v1", "secrets"), Json::object(), 0),
            (ResourceList{{"count/secrets", "1"}, {"secrets", "1"}}));
}

TEST(QuotaUsageTest, InitContainersCountWhereTheyNeedMore) {
  Json pod = Pod("p", Json::array({Container("a", {{"cpu", "1"}}, Json::object())}));
  pod["spec"]["initContainers"] =
      Json::array({Container("i", {{"cpu", "3"}}, Json::object())});
  EXPECT_EQ(PodTotal(pod, "requests", Overhead::kCounted), (ResourceList{{"cpu", "3"}}));
  pod["spec"]["initContainers"][0]["restartPolicy"] = "Always";
  EXPECT_EQ(PodTotal(pod, "requests", Overhead::kCounted), (ResourceList{{"cpu", "4"}}));
  pod["spec"]["overhead"] = {{"cpu", "500m"}};
  EXPECT_EQ(PodTotal(pod, "requests", Overhead::kCounted), (ResourceList{{"cpu", "4500m"}}));
  EXPECT_EQ(PodTotal(pod, "requests", Overhead::kIgnored), (ResourceList{{"cpu", "4"}}));
}

TEST(QuotaUsageTest, Scopes) {
  const auto pods = TypeOf("", "v1", "pods");
  Json best = Pod("p", Json::array({{{"name", "a"}}}));
  Json other = Pod("p", Json::array({Container("a", {{"cpu", "1"}}, Json::object())}));
  other["spec"]["activeDeadlineSeconds"] = 3;
  other["spec"]["priorityClassName"] = "high";
  auto in = [&](const char* scope, const Json& pod, const char* op = "Exists",
                std::vector<std::string> values = {}) {
    return InScopes(*pods, {{scope, op, std::move(values)}}, pod);
  };
  EXPECT_TRUE(in("BestEffort", best));
  EXPECT_FALSE(in("BestEffort", other));
  EXPECT_TRUE(in("NotBestEffort", other));
  EXPECT_TRUE(in("Terminating", other));
  EXPECT_TRUE(in("NotTerminating", best));
  EXPECT_TRUE(in("PriorityClass", other, "In", {"high"}));
  EXPECT_FALSE(in("PriorityClass", other, "NotIn", {"high"}));
  EXPECT_FALSE(in("PriorityClass", best));
  EXPECT_FALSE(InScopes(*TypeOf("", "v1", "secrets"), {{"BestEffort", "Exists", {}}}, best));
}

class QuotaTest : public ::testing::Test {
 protected:
  QuotaTest() : ws_(hub_.NewWorkspace("c1", "cluster")) {}

  std::string In(const std::string& resource) {
    return ws_ + "/api/v1/namespaces/default/" + resource;
  }
  void Quota(const Json& spec, const std::string& name = "q") {
    const auto made = hub_.Do("POST", In("resourcequotas"),
                              {{"apiVersion", "v1"}, {"kind", "ResourceQuota"},
                               {"metadata", {{"name", name}}}, {"spec", spec}});
    ASSERT_EQ(made.code, 201) << made.text;
  }
  // Waits until the quota's status shows what it should.
  void Shows(const Json& used, const std::string& name = "q") {
    Json found;
    ASSERT_TRUE(Eventually([&] {
      found = hub_.Get(In("resourcequotas/" + name)).body["status"];
      return found.contains("used") && found["used"] == used;
    })) << found << " never became " << used;
  }

  TestHub hub_;
  std::string ws_;
};

TEST_F(QuotaTest, ChargesWhatIsCreatedAndForgetsWhatIsDeleted) {
  Quota({{"hard", {{"configmaps", "2"}, {"count/secrets", "5"}}}});
  Shows({{"configmaps", "0"}, {"count/secrets", "0"}});
  ASSERT_EQ(hub_.Do("POST", In("configmaps"), ConfigMap("a")).code, 201);
  // At once: the charge is part of the write.
  EXPECT_EQ(hub_.Get(In("resourcequotas/q")).body["status"]["used"]["configmaps"], "1");
  ASSERT_EQ(hub_.Do("POST", In("configmaps"), ConfigMap("b")).code, 201);
  const auto refused = hub_.Do("POST", In("configmaps"), ConfigMap("c"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.body["message"],
            "configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: "
            "configmaps=2, limited: configmaps=2");
  EXPECT_EQ(hub_.Do("POST", In("configmaps?dryRun=All"), ConfigMap("c")).code, 403);
  ASSERT_EQ(hub_.Do("DELETE", In("configmaps/a")).code, 200);
  Shows({{"configmaps", "1"}, {"count/secrets", "0"}});
  EXPECT_EQ(hub_.Do("POST", In("configmaps?dryRun=All"), ConfigMap("c")).code, 201);
  EXPECT_EQ(hub_.Get(In("resourcequotas/q")).body["status"]["used"]["configmaps"], "1");
}

TEST_F(QuotaTest, CountsWhatWasThereBefore) {
  ASSERT_EQ(hub_.Do("POST", In("configmaps"), ConfigMap("a")).code, 201);
  Quota({{"hard", {{"configmaps", "1"}}}});
  Shows({{"configmaps", "1"}});
  EXPECT_EQ(hub_.Get(In("resourcequotas/q")).body["status"]["hard"], (Json{{"configmaps", "1"}}));
  ASSERT_EQ(hub_.Do("PATCH", In("resourcequotas/q"), {{"spec", {{"hard", {{"configmaps", "3"}}}}}},
                    "application/merge-patch+json").code, 200);
  ASSERT_TRUE(Eventually([&] {
    return hub_.Get(In("resourcequotas/q")).body["status"]["hard"]["configmaps"] == "3";
  }));
  EXPECT_EQ(hub_.Do("POST", In("configmaps"), ConfigMap("b")).code, 201);
}

TEST_F(QuotaTest, ManyWritersNeverShareTheLastOne) {
  Quota({{"hard", {{"configmaps", "10"}}}});
  Shows({{"configmaps", "0"}});
  std::atomic<int> made{0}, refused{0}, other{0};
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < 4; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < 8; ++i) {
          const int code = hub_.Do("POST", In("configmaps"),
                                   ConfigMap("m" + std::to_string(w) + "-" + std::to_string(i))).code;
          ++(code == 201 ? made : code == 403 ? refused : other);
        }
      });
    }
  }
  EXPECT_EQ(made, 10);
  EXPECT_EQ(refused, 22);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(hub_.Get(In("resourcequotas/q")).body["status"]["used"]["configmaps"], "10");
}

TEST_F(QuotaTest, ComputeQuotasDemandThatPodsSayWhatTheyNeed) {
  Quota({{"hard", {{"requests.cpu", "1"}, {"pods", "5"}}}});
  Shows({{"requests.cpu", "0"}, {"pods", "0"}});
  const auto bare = hub_.Do("POST", In("pods"), Pod("p", Json::array({{{"name", "a"}, {"image", "i"}}})));
  EXPECT_EQ(bare.code, 403);
  EXPECT_EQ(bare.body["message"],
            "pods \"p\" is forbidden: failed quota: q: must specify requests.cpu for: a");
  auto pod = [&](const std::string& name, const std::string& cpu) {
    return hub_.Do("POST", In("pods"),
                   Pod(name, Json::array({Container("a", {{"cpu", cpu}}, Json::object())})));
  };
  EXPECT_EQ(pod("p", "600m").code, 201);
  const auto refused = pod("p2", "500m");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.body["message"],
            "pods \"p2\" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: "
            "requests.cpu=600m, limited: requests.cpu=1");
  // A pod that has ended gives back what it held.
  ASSERT_EQ(hub_.Do("PATCH", In("pods/p/status"), {{"status", {{"phase", "Succeeded"}}}},
                    "application/merge-patch+json").code, 200);
  Shows({{"requests.cpu", "0"}, {"pods", "0"}});
}

TEST_F(QuotaTest, ScopedQuotasSeeOnlyTheirPods) {
  Quota({{"hard", {{"pods", "5"}}}, {"scopes", {"BestEffort"}}}, "best");
  Quota({{"hard", {{"pods", "5"}}}, {"scopes", {"NotBestEffort"}}}, "other");
  Shows({{"pods", "0"}}, "best");
  Shows({{"pods", "0"}}, "other");
  ASSERT_EQ(hub_.Do("POST", In("pods"), Pod("p", Json::array({{{"name", "a"}, {"image", "i"}}}))).code, 201);
  EXPECT_EQ(hub_.Get(In("resourcequotas/best")).body["status"]["used"]["pods"], "1");
  EXPECT_EQ(hub_.Get(In("resourcequotas/other")).body["status"]["used"]["pods"], "0");
}

TEST_F(QuotaTest, AStatusWrittenByHandStaysUntilTheNextCount) {
  Quota({{"hard", {{"configmaps", "5"}}}});
  Shows({{"configmaps", "0"}});
  const auto patched =
      hub_.Do("PATCH", In("resourcequotas/q/status"), {{"status", {{"hard", {{"configmaps", "7"}}}}}},
              "application/merge-patch+json");
  ASSERT_EQ(patched.code, 200) << patched.text;
  EXPECT_EQ(patched.body["status"]["hard"]["configmaps"], "7");
  EXPECT_EQ(hub_.Get(In("resourcequotas/q")).body["status"]["hard"]["configmaps"], "7");
}

TEST_F(QuotaTest, CustomResourcesAreCountedByName) {
  const Json crd = {
      {"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "widgets.example.com"}}},
      {"spec", {{"group", "example.com"}, {"scope", "Namespaced"},
                {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
                {"versions", Json::array({{{"name", "v1"}, {"served", true}, {"storage", true},
                                           {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}})}}}};
  ASSERT_EQ(hub_.Do("POST", ws_ + "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).code, 201);
  Quota({{"hard", {{"count/widgets.example.com", "1"}}}});
  Shows({{"count/widgets.example.com", "0"}});
  auto widget = [&](const char* name) {
    return hub_.Do("POST", ws_ + "/apis/example.com/v1/namespaces/default/widgets",
                   {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}});
  };
  EXPECT_EQ(widget("a").code, 201);
  EXPECT_EQ(widget("b").code, 403);
}

TEST_F(QuotaTest, InertInWorkloadAndMailboxWorkspaces) {
  for (const char* type : {"wds", "mailbox"}) {
    ws_ = hub_.NewWorkspace(std::string("payload-") + type, type);
    Quota({{"hard", {{"configmaps", "0"}}}});
    ASSERT_EQ(hub_.Do("POST", In("limitranges"),
                      {{"apiVersion", "v1"}, {"kind", "LimitRange"}, {"metadata", {{"name", "l"}}},
                       {"spec", {{"limits", Json::array({{{"type", "Container"}, {"default", {{"cpu", "1"}}}}})}}}}).code, 201);
    EXPECT_EQ(hub_.Do("POST", In("configmaps"), ConfigMap("a")).code, 201);
    const auto pod = hub_.Do("POST", In("pods"), Pod("p", Json::array({{{"name", "a"}, {"image", "i"}}})));
    EXPECT_EQ(pod.code, 201) << pod.text;
    EXPECT_EQ(pod.body["spec"]["containers"][0].value("resources", Json::object()), Json::object());
    EXPECT_FALSE(hub_.Get(In("resourcequotas/q")).body.value("status", Json::object()).contains("used"));
  }
}

TEST_F(QuotaTest, LimitRangesFillInAndBound) {
  ASSERT_EQ(hub_.Do("POST", In("limitranges"),
                    {{"apiVersion", "v1"}, {"kind", "LimitRange"}, {"metadata", {{"name", "l"}}},
                     {"spec", {{"limits", Json::array({{{"type", "Container"},
                                                        {"min", {{"cpu", "50m"}}},
                                                        {"max", {{"cpu", "500m"}}},
                                                        {"default", {{"cpu", "500m"}}},
                                                        {"defaultRequest", {{"cpu", "100m"}}}}})}}}}).code, 201);
  const auto pod = hub_.Do("POST", In("pods"), Pod("p", Json::array({{{"name", "a"}, {"image", "i"}}})));
  ASSERT_EQ(pod.code, 201) << pod.text;
  EXPECT_EQ(pod.body["spec"]["containers"][0]["resources"],
            (Json{{"limits", {{"cpu", "500m"}}}, {"requests", {{"cpu", "100m"}}}}));
  EXPECT_EQ(pod.body["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
            "LimitRanger plugin set: cpu request for container a; cpu limit for container a");
  const auto refused = hub_.Do("POST", In("pods"),
                               Pod("p2", Json::array({Container("a", {{"cpu", "10m"}}, {{"cpu", "1"}})})));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.body["message"],
            "pods \"p2\" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, "
            "maximum cpu usage per Container is 500m, but limit is 1]");
}

TEST_F(QuotaTest, LimitRangesBoundRatiosPodsAndClaims) {
  ASSERT_EQ(hub_.Do("POST", In("limitranges"),
                    {{"apiVersion", "v1"}, {"kind", "LimitRange"}, {"metadata", {{"name", "l"}}},
                     {"spec", {{"limits", Json::array({{{"type", "Pod"}, {"max", {{"memory", "1Gi"}}},
                                                        {"maxLimitRequestRatio", {{"memory", "2"}}}},
                                                       {{"type", "PersistentVolumeClaim"},
                                                        {"min", {{"storage", "1Gi"}}},
                                                        {"max", {{"storage", "2Gi"}}}}})}}}}).code, 201);
  const auto pod = hub_.Do("POST", In("pods"),
                           Pod("p", Json::array({Container("a", {{"memory", "256Mi"}}, {{"memory", "768Mi"}})})));
  EXPECT_EQ(pod.body["message"],
            "pods \"p\" is forbidden: memory max limit to request ratio per Pod is 2, but provided "
            "ratio is 3.000000");
  auto claim = [&](const char* size) {
    return hub_.Do("POST", In("persistentvolumeclaims"),
                   {{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"metadata", {{"name", "c"}}},
                    {"spec", {{"accessModes", {"ReadWriteOnce"}},
                              {"resources", {{"requests", {{"storage", size}}}}}}}});
  };
  EXPECT_EQ(claim("3Gi").body["message"],
            "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
            "PersistentVolumeClaim is 2Gi, but request is 3Gi");
  EXPECT_EQ(claim("512Mi").code, 403);
  EXPECT_EQ(claim("1Gi").code, 201);
}

}  // namespace
}  // namespace mailroom::admission
