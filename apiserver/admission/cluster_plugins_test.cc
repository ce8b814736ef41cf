// Built-in plugins about nodes and about the Secrets of service accounts, over a whole server.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
constexpr const char* kZone = "topology.kubernetes.io/zone";

Json Pod(const std::string& name, const Json& spec = Json::object(),
         const Json& container = Json::object()) {
  Json only = {{"name", "c"}, {"image", "i"}};
  only.update(container);
  Json all = {{"containers", Json::array({only})}};
  all.update(spec);
  return {{"metadata", {{"name", name}}}, {"spec", all}};
}

class ClusterPlugins : public testing::Test {
 protected:
  ClusterPlugins() : hub_("authority"), ws_(hub_.NewWorkspace("c1", "cluster")) {}
  void SetUp() override {
    ASSERT_TRUE(Eventually([&] { return hub_.Get(ws_ + kAccounts + "/default").code == 200; }));
  }

  Json Make(const std::string& path, const Json& object) {
    const auto made = hub_.Do("POST", ws_ + path, object);
    EXPECT_EQ(made.code, 201) << made.text;
    return made.body;
  }
  std::string Refusal(const Json& pod) {
    const auto answer = hub_.Do("POST", ws_ + kPods, pod);
    EXPECT_EQ(answer.code, 403) << answer.text;
    return StringAt(answer.body, {"message"});
  }
  void MakeNode(const std::string& name, const Json& labels, const Json& spec = Json::object()) {
    Make(kNodes, {{"metadata", {{"name", name}, {"labels", labels}}}, {"spec", spec}});
  }

  TestHub hub_;
  std::string ws_;
};

TEST_F(ClusterPlugins, ANewNodeIsNotReady) {
  const Json not_ready = {{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
  const Json other = {{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoExecute"}};
  MakeNode("a", Json::object());
  MakeNode("b", Json::object(), {{"taints", {other}}});
  Json given = not_ready;
  given["value"] = "x";
  MakeNode("c", Json::object(), {{"taints", {given}}});
  auto taints = [&](const std::string& name) {
    return hub_.Get(ws_ + kNodes + "/" + name).body["spec"]["taints"];
  };
  EXPECT_EQ(taints("a"), Json::array({not_ready}));
  EXPECT_EQ(taints("b"), Json::array({other, not_ready}));
  EXPECT_EQ(taints("c"), Json::array({given}));
  // Whoever takes it off is not contradicted.
  const auto ready = hub_.Do("PATCH", ws_ + kNodes + "/a", {{"spec", {{"taints", nullptr}}}},
                             "application/merge-patch+json");
  ASSERT_EQ(ready.code, 200) << ready.text;
  EXPECT_FALSE(ready.body["spec"].contains("taints"));
}

TEST_F(ClusterPlugins, PodsLearnWhereTheirNodeStands) {
  MakeNode("n", {{kZone, "z"}, {"topology.kubernetes.io/region", "r"}, {"other", "o"}});
  Json placed = Pod("placed", {{"nodeName", "n"}});
  placed["metadata"]["labels"] = {{kZone, "mine"}};
  const Json there = {{kZone, "z"}, {"topology.kubernetes.io/region", "r"}};
  EXPECT_EQ(Make(kPods, placed)["metadata"]["labels"], there);
  EXPECT_FALSE(Make(kPods, Pod("elsewhere", {{"nodeName", "none"}}))["metadata"].contains("labels"));

  EXPECT_FALSE(Make(kPods, Pod("bound"))["metadata"].contains("labels"));
  Make(std::string(kPods) + "/bound/binding",
       {{"metadata", {{"name", "bound"}, {"labels", {{kZone, "wrong"}, {"own", "x"}}}}},
        {"target", {{"kind", "Node"}, {"name", "n"}}}});
  Json all = there;
  all["own"] = "x";
  EXPECT_EQ(hub_.Get(ws_ + kPods + "/bound").body["metadata"]["labels"], all);
}

TEST_F(ClusterPlugins, ARunningPodGrowsWithinItsNode) {
  auto node = [&](const std::string& name, const std::string& system, const Json& features) {
    MakeNode(name, {{"kubernetes.io/os", system}});
    const Json status = {{"allocatable", {{"cpu", "2"}, {"memory", "1Gi"}}},
                         {"declaredFeatures", features}};
    ASSERT_EQ(hub_.Do("PATCH", ws_ + kNodes + "/" + name + "/status", {{"status", status}},
                      "application/merge-patch+json").code,
              200);
  };
  node("n", "linux", Json::array());
  node("able", "linux", {"InPlacePodVerticalScalingInitContainers"});
  node("w", "windows", Json::array());
  auto amounts = [](const std::string& cpu) {
    return Json{{"requests", {{"cpu", cpu}, {"memory", "1Mi"}}}};
  };
  auto resize = [&](const std::string& where, const char* list, const Json& wanted) {
    const std::string name = "on-" + where;
    const Json init = {{"name", "i"}, {"image", "i"}, {"resources", amounts("1")}};
    const auto made = hub_.Do("POST", ws_ + kPods,
                              Pod(name, {{"nodeName", where}, {"initContainers", {init}}},
                                  {{"resources", amounts("1")}}));
    EXPECT_TRUE(made.code == 201 || made.code == 409) << made.text;
    const Json change = {{"name", *list == 'c' ? "c" : "i"}, {"resources", wanted}};
    return hub_.Do("PATCH", ws_ + kPods + "/" + name + "/resize",
                   {{"spec", {{list, Json::array({change})}}}},
                   "application/strategic-merge-patch+json");
  };
  EXPECT_EQ(resize("n", "containers", amounts("2")).code, 200);
  const auto greedy = resize("n", "containers", {{"requests", {{"cpu", "2500m"}, {"memory", "2Gi"}}}});
  EXPECT_EQ(greedy.code, 403);
  EXPECT_EQ(greedy.body["message"],
            "pods \"on-n\" is forbidden: node didn't have enough allocatable resources: cpu, "
            "requested: 2500, allocatable: 2000; memory, requested: 2147483648, allocatable: "
            "1073741824");
  EXPECT_EQ(greedy.body["details"]["causes"], Json::array({{{"reason", "NodeCapacity"}}}));
  const auto foreign = resize("w", "containers", amounts("2"));
  EXPECT_EQ(foreign.body["message"],
            "pods \"on-w\" is forbidden: pod resize is only supported on linux nodes, node \"w\" is "
            "\"windows\"");
  EXPECT_EQ(foreign.body["details"]["causes"], Json::array({{{"reason", "UnsupportedPlatform"}}}));
  EXPECT_EQ(resize("gone", "containers", amounts("2")).body["message"],
            "pods \"on-gone\" is forbidden: node \"gone\" not found");
  EXPECT_EQ(resize("n", "initContainers", amounts("2")).body["message"],
            "pods \"on-n\" is forbidden: pod update requires features "
            "InPlacePodVerticalScalingInitContainers which are not available on node \"n\"");
  const auto able = resize("able", "initContainers", amounts("2"));
  EXPECT_EQ(able.code, 200) << able.text;
}

TEST_F(ClusterPlugins, AccountsMayLimitTheSecretsOfPods) {
  Make(kAccounts, {{"metadata", {{"name", "tight"},
                                 {"annotations", {{"kubernetes.io/enforce-mountable-secrets", "true"}}}}},
                   {"secrets", {{{"name", "fine"}}}},
                   {"imagePullSecrets", {{{"name", "pull"}}}}});
  const Json tight = {{"serviceAccountName", "tight"}};
  auto with = [&](const Json& spec, const Json& container = Json::object()) {
    Json all = tight;
    all.update(spec);
    return Pod("p", all, container);
  };
  auto volume = [](const std::string& name) {
    return Json{{"volumes", {{{"name", "v"}, {"secret", {{"secretName", name}}}}}}};
  };
  auto env = [](const std::string& name) {
    return Json{{"env", {{{"name", "E"},
                          {"valueFrom", {{"secretKeyRef", {{"name", name}, {"key", "k"}}}}}}}}};
  };
  auto env_from = [](const std::string& name) {
    return Json{{"envFrom", {{{"secretRef", {{"name", name}}}}}}};
  };
  const std::string head = "pods \"p\" is forbidden: ";
  const std::string tail =
      "secret.secretName=\"bad\" is not allowed because service account tight does not reference "
      "that secret";
  EXPECT_EQ(Refusal(with(volume("bad"))), head + "volume with " + tail);
  EXPECT_EQ(Refusal(with(Json::object(), env("bad"))),
            head + "container c with envVar E referencing " + tail);
  EXPECT_EQ(Refusal(with(Json::object(), env_from("bad"))),
            head + "container c with envFrom referencing " + tail);
  Json init = env_from("bad");
  init.update({{"name", "i"}, {"image", "i"}});
  EXPECT_EQ(Refusal(with({{"initContainers", {init}}})),
            head + "init container i with envFrom referencing " + tail);
  EXPECT_EQ(Refusal(with({{"imagePullSecrets", {{{"name", "other"}}}}})),
            head + "imagePullSecrets[0].name=\"other\" is not allowed because service account tight "
                   "does not reference that imagePullSecret");
  Json all = env("fine");
  all.update(env_from("fine"));
  Make(kPods, with(volume("fine"), all));
  Json later = env("bad");
  later.update({{"name", "e"}, {"image", "i"}});
  const auto added = hub_.Do("PATCH", ws_ + kPods + "/p/ephemeralcontainers",
                             {{"spec", {{"ephemeralContainers", {later}}}}},
                             "application/strategic-merge-patch+json");
  EXPECT_EQ(added.code, 500);
  EXPECT_EQ(added.body["message"], "ephemeral container e with envVar E referencing " + tail);
  EXPECT_FALSE(added.body.contains("reason")) << added.text;
}

TEST_F(ClusterPlugins, MirrorPodsHaveNothingOfTheApi) {
  auto mirror = [](const Json& spec) {
    Json all = {{"nodeName", "n"}};
    all.update(spec);
    Json pod = Pod("m", all);
    pod["metadata"]["annotations"] = {{"kubernetes.io/config.mirror", "x"}};
    return pod;
  };
  const std::string head = "pods \"m\" is forbidden: a mirror pod may not ";
  EXPECT_EQ(Refusal(mirror({{"serviceAccountName", "default"}})), head + "reference service accounts");
  EXPECT_EQ(Refusal(mirror({{"imagePullSecrets", {{{"name", "s"}}}}})), head + "reference secrets");
  auto projected = [](const Json& source) {
    return Json{{"volumes", {{{"name", "v"}, {"projected", {{"sources", {source}}}}}}}};
  };
  EXPECT_EQ(Refusal(mirror(projected({{"secret", {{"name", "s"}}}}))), head + "reference secrets");
  EXPECT_EQ(Refusal(mirror(projected({{"serviceAccountToken", {{"path", "p"}}}}))),
            head + "use ServiceAccountToken volume projections");
}

TEST_F(ClusterPlugins, AnyVolumeOfThatNameIsTheTokens) {
  const Json own = {{{"name", "kube-api-access-a"}, {"emptyDir", Json::object()}},
                    {{"name", "kube-api-access-b"}, {"emptyDir", Json::object()}}};
  const Json pod = Make(kPods, Pod("p", {{"volumes", own}}));
  EXPECT_EQ(pod["spec"]["volumes"].size(), 2u);
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"][0]["name"], "kube-api-access-a");
}

TEST_F(ClusterPlugins, APodWaitsForTheAccountOfANewNamespace) {
  for (int i = 0; i < 20; ++i) {
    const std::string ns = "n" + std::to_string(i);
    Make("/api/v1/namespaces", {{"metadata", {{"name", ns}}}});
    Make("/api/v1/namespaces/" + ns + "/pods", Pod("p"));
  }
}

}  // namespace
}  // namespace mailroom::admission
