// What is filled into pods and claims beyond their defaults.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "storage/object/yaml.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

Json Yaml(const std::string& text) { return *ParseYaml(text); }

class Filled : public testing::Test {
 protected:
  void SetUp() override {
    hub_.NewWorkspace("c1", "cluster");
    hub_.Do("POST", kAccounts, Yaml("{metadata: {name: default}}"));
  }

  TestHub::Answer MakePod(const std::string& spec, const std::string& metadata) {
    Json pod = Yaml("{apiVersion: v1, kind: Pod, metadata: {name: p, " + metadata +
                    "}, spec: {automountServiceAccountToken: false, " + spec + "}}");
    if (!pod["spec"].contains("containers")) pod["spec"]["containers"] = Yaml("[{name: c, image: i}]");
    return hub_.Do("POST", kPods + "?dryRun=All", pod);
  }

  const std::string kAccounts = "/clusters/c1/api/v1/namespaces/default/serviceaccounts";
  const std::string kPods = "/clusters/c1/api/v1/namespaces/default/pods";
  const std::string kClaims = "/clusters/c1/api/v1/namespaces/default/persistentvolumeclaims";
  TestHub hub_;
};

TEST_F(Filled, PodsThatWaitAtGatesSaySo) {
  const auto made = MakePod("schedulingGates: [{name: a.b/c}]", "");
  ASSERT_EQ(made.code, 201) << made.text;
  Json condition = made.body["status"]["conditions"][0];
  EXPECT_TRUE(condition["lastTransitionTime"].is_string());
  condition.erase("lastTransitionTime");
  EXPECT_EQ(condition, Yaml("{type: PodScheduled, status: 'False', lastProbeTime: null, reason: "
                            "SchedulingGated, message: Scheduling is blocked due to non-empty "
                            "scheduling gates}"));
}

TEST_F(Filled, SelectorsAskForThePodsOwnLabels) {
  const std::string term =
      "{topologyKey: k, matchLabelKeys: [app, none], mismatchLabelKeys: [ver], "
      "labelSelector: {matchLabels: {q: w}}}";
  const auto made = MakePod(
      "topologySpreadConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: DoNotSchedule, "
      "matchLabelKeys: [app, none, ver], labelSelector: {}}], affinity: {podAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: [" + term + "]}, podAntiAffinity: "
      "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: " + term +
      "}]}}", "labels: {app: x, ver: '1'}");
  ASSERT_EQ(made.code, 201) << made.text;
  const Json& spec = made.body["spec"];
  EXPECT_EQ(spec["topologySpreadConstraints"][0]["labelSelector"],
            Yaml("{matchExpressions: [{key: app, operator: In, values: [x]}, "
                 "{key: ver, operator: In, values: ['1']}]}"));
  const Json merged = Yaml("{matchLabels: {q: w}, matchExpressions: [{key: app, operator: In, "
                           "values: [x]}, {key: ver, operator: NotIn, values: ['1']}]}");
  EXPECT_EQ(spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
                ["labelSelector"], merged);
  EXPECT_EQ(spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
                [0]["podAffinityTerm"]["labelSelector"], merged);
}

TEST_F(Filled, AnnotationsNameProfilesOfContainers) {
  const std::pair<const char*, const char*> cases[] = {
      {"runtime/default", "{type: RuntimeDefault}"},
      {"unconfined", "{type: Unconfined}"},
      {"localhost/x", "{type: Localhost, localhostProfile: x}"},
      {"localhost/", "null"},
  };
  const std::string key = "container.apparmor.security.beta.kubernetes.io/c";
  for (const auto& [annotation, profile] : cases) {
    const auto made = MakePod("schedulerName: s", "annotations: {" + key + ": '" + annotation + "'}");
    ASSERT_EQ(made.code, 201) << made.text;
    const Json* found =
        Find(made.body["spec"]["containers"][0], {"securityContext", "appArmorProfile"});
    EXPECT_EQ(found == nullptr ? Json() : *found, Yaml(profile)) << annotation;
    EXPECT_EQ(made.headers.Get("warning"),
              "299 - \"metadata.annotations[" + key +
                  "]: deprecated since v1.30; use the \\\"appArmorProfile\\\" field instead\"");
  }
}

TEST_F(Filled, SourcesOfClaimsSayTheSameInBothMembers) {
  struct Case {
    const char* given;
    const char* kept;  // of both members; null: neither
  };
  const Case cases[] = {
      {"dataSource: {kind: PersistentVolumeClaim, name: o}",
       "{apiGroup: null, kind: PersistentVolumeClaim, name: o}"},
      {"dataSourceRef: {kind: PersistentVolumeClaim, name: o}",
       "{apiGroup: null, kind: PersistentVolumeClaim, name: o}"},
      {"dataSource: {kind: Pod, name: o}", nullptr},
      {"dataSource: {}", nullptr},
      {"dataSource: null", nullptr},
      {"dataSourceRef: null", nullptr},
      {"dataSource: {kind: X, apiGroup: x.y, name: o}", nullptr},
      {"dataSourceRef: {kind: X, apiGroup: x.y, name: o}", "{apiGroup: x.y, kind: X, name: o}"},
      {"dataSourceRef: {kind: PersistentVolumeClaim, name: o, namespace: q}", nullptr},
  };
  auto claim = [](const std::string& source) {
    return Yaml("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: "
                "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, " + source +
                "}}");
  };
  for (const Case& c : cases) {
    const auto made = hub_.Do("POST", kClaims + "?dryRun=All", claim(c.given));
    ASSERT_EQ(made.code, 201) << made.text;
    for (const char* member : {"dataSource", "dataSourceRef"}) {
      const Json* found = Find(made.body, {"spec", member});
      ASSERT_EQ(found == nullptr, c.kept == nullptr) << c.given;
      if (found != nullptr) {
        EXPECT_EQ(*found, Yaml(c.kept)) << c.given;
      }
    }
  }
  ASSERT_EQ(hub_.Do("POST", kClaims, claim(cases[0].given)).code, 201);
  EXPECT_EQ(hub_.Do("PUT", kClaims + "/a", claim(cases[0].given)).code, 200);
  EXPECT_EQ(hub_.Do("PUT", kClaims + "/a", claim(cases[1].given)).code, 200);
  EXPECT_EQ(hub_.Do("PUT", kClaims + "/a",
                    claim("dataSourceRef: {kind: PersistentVolumeClaim, name: z}")).code, 422);
}

TEST_F(Filled, MembersOfFeaturesThatAreOffAreDropped) {
  struct Case {
    const char *path, *given, *dropped;
  };
  const Case cases[] = {
      {"/api/v1/namespaces/default/serviceaccounts",
       "{metadata: {name: a}, secrets: [{name: x, kind: 'y'}, {kind: z}]}", nullptr},
      {"/apis/coordination.k8s.io/v1/namespaces/default/leases",
       "{metadata: {name: a}, spec: {strategy: x, preferredHolder: 'y', holderIdentity: z}}",
       "strategy"},
      {"/apis/apps/v1/namespaces/default/statefulsets",
       "{metadata: {name: a}, spec: {serviceName: s, selector: {matchLabels: {a: b}}, updateStrategy: "
       "{rollingUpdate: {maxUnavailable: 2}}, template: {metadata: {labels: {a: b}}, spec: "
       "{schedulingGroup: {podGroupName: g}, containers: [{name: c, image: i, lifecycle: "
       "{stopSignal: SIGTERM}}]}}}}",
       "maxUnavailable"},
      {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       "{metadata: {name: a}, addressType: IPv4, endpoints: [{addresses: [1.2.3.4], "
       "deprecatedTopology: {a: b}}]}",
       "deprecatedTopology"},
      {"/api/v1/nodes", "{metadata: {name: a}, spec: {configSource: {configMap: {}}}}",
       "configSource"},
  };
  for (const Case& c : cases) {
    const auto made = hub_.Do("POST", std::string("/clusters/c1") + c.path, Yaml(c.given));
    ASSERT_EQ(made.code, 201) << made.text;
    Json shown = made.body;
    shown["metadata"].erase("managedFields");
    const std::string text = DumpJson(shown);
    for (const char* member : {"lifecycle", "schedulingGroup", "preferredHolder"}) {
      EXPECT_EQ(text.find(member), std::string::npos) << text;
    }
    if (c.dropped != nullptr) {
      EXPECT_EQ(text.find(c.dropped), std::string::npos) << text;
    } else {
      EXPECT_EQ(made.body["secrets"], Yaml("[{name: x}, {}]"));
    }
  }
  // A cluster that the object goes to may have the feature.
  const auto kept = hub_.Do("POST", "/clusters/wds1/apis/coordination.k8s.io/v1/namespaces/default/leases",
                            Yaml("{metadata: {name: a}, spec: {strategy: x, holderIdentity: z}}"));
  ASSERT_EQ(kept.code, 201) << kept.text;
  EXPECT_EQ(StringAt(kept.body, {"spec", "strategy"}), "x");
}

}  // namespace
}  // namespace mailroom
