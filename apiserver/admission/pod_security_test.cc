// PodSecurity over a whole server: whom it refuses, whom it warns, what it leaves alone.
#include <gtest/gtest.h>

#include "apiserver/admission/pod_security.h"
#include "apiserver/admission/pod_security_existing.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

constexpr const char* kNamespaces = "/api/v1/namespaces";
constexpr const char* kMerge = "application/merge-patch+json";

// Labels without their prefix.
Json Namespace(const std::string& name, const Json& labels) {
  Json full = Json::object();
  for (const auto& [key, value] : labels.items()) full[kSecurityPrefix + key] = value;
  return {{"metadata", {{"name", name}, {"labels", full}}}};
}

Json Pod(const std::string& name, const Json& more = Json::object()) {
  Json spec = {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}};
  spec.update(more);
  return {{"metadata", {{"name", name}}}, {"spec", spec}};
}

Json HostPod(const std::string& name) { return Pod(name, {{"hostPID", true}}); }

constexpr const char* kHostPid = "host namespaces (hostPID=true)";

class PodSecurity : public testing::Test {
 protected:
  PodSecurity() : ws_(hub_.NewWorkspace("c1", "cluster")) {}

  TestHub::Answer Make(const std::string& path, const Json& object) {
    return hub_.Do("POST", ws_ + path, object);
  }
  void MakeNamespace(const std::string& name, const Json& labels) {
    const auto made = Make(kNamespaces, Namespace(name, labels));
    ASSERT_EQ(made.code, 201) << made.text;
  }
  TestHub::Answer Label(const std::string& name, const Json& labels) {
    return hub_.Do("PATCH", ws_ + kNamespaces + "/" + name,
                   {{"metadata", {{"labels", Namespace(name, labels)["metadata"]["labels"]}}}},
                   kMerge);
  }
  static std::string Pods(const std::string& ns) {
    return kNamespaces + ("/" + ns) + "/pods";
  }
  // The texts of an answer's warnings, as they stand in the header.
  static std::vector<std::string> Warnings(const TestHub::Answer& answer) {
    std::vector<std::string> out;
    for (std::string_view header : answer.headers.All("warning")) out.emplace_back(header);
    return out;
  }

  TestHub hub_;
  std::string ws_;
};

TEST_F(PodSecurity, RefusesPodsThatBreakTheLevel) {
  MakeNamespace("strict", {{"enforce", "baseline"}});
  const auto refused = Make(Pods("strict"), HostPod("p"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.body["reason"], "Forbidden");
  EXPECT_EQ(refused.body["details"], (Json{{"name", "p"}, {"kind", "pods"}}));
  EXPECT_EQ(refused.body["message"],
            std::string("pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": ") +
                kHostPid);
  EXPECT_TRUE(Warnings(refused).empty());
  const auto fine = Make(Pods("strict"), Pod("p"));
  EXPECT_EQ(fine.code, 201) << fine.text;
  EXPECT_TRUE(Warnings(fine).empty());
  EXPECT_EQ(Make(Pods("default"), HostPod("p")).code, 201);
}

TEST_F(PodSecurity, WarnsWhereItDoesNotRefuse) {
  MakeNamespace("warned", {{"warn", "baseline"}, {"warn-version", "v1.20"}});
  const auto pod = Make(Pods("warned"), HostPod("p"));
  EXPECT_EQ(pod.code, 201) << pod.text;
  EXPECT_EQ(Warnings(pod),
            std::vector<std::string>{"299 - \"would violate PodSecurity \\\"baseline:v1.20\\\": host "
                                     "namespaces (hostPID=true)\""});
}

TEST_F(PodSecurity, TemplatesAreOnlyWarnedAbout) {
  MakeNamespace("strict", {{"enforce", "baseline"}});
  const Json labels = {{"app", "a"}};
  Json pod = HostPod("");
  pod["metadata"] = {{"labels", labels}};
  Json once = pod;
  once["spec"]["restartPolicy"] = "Never";
  const Json by_label = {{"selector", {{"matchLabels", labels}}}, {"template", pod}};
  const Json job = {{"template", once}};
  const std::string ns = "/namespaces/strict/";
  const std::vector<std::pair<std::string, Json>> cases = {
      {"/api/v1" + ns + "podtemplates", {{"template", pod}}},
      {"/api/v1" + ns + "replicationcontrollers", {{"spec", {{"template", pod}}}}},
      {"/apis/apps/v1" + ns + "deployments", {{"spec", by_label}}},
      {"/apis/apps/v1" + ns + "replicasets", {{"spec", by_label}}},
      {"/apis/apps/v1" + ns + "daemonsets", {{"spec", by_label}}},
      {"/apis/apps/v1" + ns + "statefulsets", {{"spec", by_label}}},
      {"/apis/batch/v1" + ns + "jobs", {{"spec", job}}},
      {"/apis/batch/v1" + ns + "cronjobs",
       {{"spec", {{"schedule", "* * * * *"}, {"jobTemplate", {{"spec", job}}}}}}},
  };
  for (const auto& [path, body] : cases) {
    Json object = body;
    object["metadata"] = {{"name", "x"}};
    const auto made = Make(path, object);
    EXPECT_EQ(made.code, 201) << made.text;
    EXPECT_EQ(Warnings(made),
              std::vector<std::string>{"299 - \"would violate PodSecurity \\\"baseline:latest\\\": "
                                       "host namespaces (hostPID=true)\""}) << path;
    const auto again = hub_.Do("PATCH", ws_ + path + "/x",
                               {{"metadata", {{"labels", {{"b", "c"}}}}}}, kMerge);
    EXPECT_EQ(Warnings(again).size(), 1u) << path;
  }
  // Neither the status nor the scale of one is about its pods.
  const auto scaled = hub_.Do("PATCH", ws_ + "/apis/apps/v1" + ns + "deployments/x/scale",
                              {{"spec", {{"replicas", 2}}}}, kMerge);
  EXPECT_EQ(scaled.code, 200) << scaled.text;
  EXPECT_TRUE(Warnings(scaled).empty());
}

TEST_F(PodSecurity, OnlyNewContainersAndImagesCountInUpdates) {
  ASSERT_EQ(Make(kNamespaces, Namespace("late", Json::object())).code, 201);
  ASSERT_EQ(Make(Pods("late"), HostPod("p")).code, 201);
  ASSERT_EQ(Label("late", {{"enforce", "baseline"}}).code, 200);
  const std::string path = ws_ + Pods("late") + "/p";
  EXPECT_EQ(hub_.Do("PATCH", path, {{"metadata", {{"labels", {{"a", "b"}}}}}}, kMerge).code, 200);
  EXPECT_EQ(hub_.Do("PATCH", path + "/status", {{"status", {{"phase", "Running"}}}}, kMerge).code,
            200);
  const auto image = hub_.Do(
      "PATCH", path, {{"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "j"}}})}}}},
      "application/strategic-merge-patch+json");
  EXPECT_EQ(image.code, 403) << image.text;
  const auto more = hub_.Do(
      "PATCH", path + "/ephemeralcontainers",
      {{"spec", {{"ephemeralContainers", Json::array({{{"name", "e"}, {"image", "j"}}})}}}},
      "application/strategic-merge-patch+json");
  EXPECT_EQ(more.code, 403) << more.text;
  EXPECT_EQ(more.body["message"],
            std::string("pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": ") +
                kHostPid);
}

TEST_F(PodSecurity, LabelsOfNamespacesMustMakeSense) {
  const auto refused = Make(kNamespaces, Namespace("n", {{"enforce", "high"}, {"warn-version", "1"}}));
  EXPECT_EQ(refused.code, 422);
  EXPECT_EQ(refused.body["message"],
            "Namespace \"n\" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: "
            "Invalid value: \"high\": must be one of privileged, baseline, restricted, "
            "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1\": must be "
            "\"latest\" or \"v1.x\"]");
  EXPECT_EQ(refused.body["details"]["causes"][0]["reason"], "FieldValueInvalid");
  MakeNamespace("n", {{"enforce", "baseline"}});
  EXPECT_EQ(Label("n", {{"audit", "high"}}).code, 422);
  EXPECT_EQ(Label("n", {{"audit", "restricted"}}).code, 200);
}

TEST_F(PodSecurity, LabelsThatAreNoneCountAsTheStrictest) {
  MakeNamespace("n", Json::object());
  // Labels written along with the status are not looked at.
  const Json labels = Namespace("n", {{"enforce", "high"}});
  const auto labelled = hub_.Do("PATCH", ws_ + kNamespaces + "/n/status", labels, kMerge);
  ASSERT_EQ(labelled.code, 200) << labelled.text;
  ASSERT_EQ(labelled.body["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "high");
  const auto refused = Make(Pods("n"), Pod("p"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_TRUE(StringAt(refused.body, {"message"})
                  .starts_with("pods \"p\" is forbidden: violates PodSecurity "
                               "\"restricted:latest\": allowPrivilegeEscalation != false"))
      << refused.text;
  // What was wrong before may stay so.
  EXPECT_EQ(hub_.Do("PATCH", ws_ + kNamespaces + "/n", {{"metadata", {{"labels", {{"a", "b"}}}}}},
                    kMerge).code,
            200);
  EXPECT_EQ(Label("n", {{"enforce", "higher"}}).code, 422);
}

TEST_F(PodSecurity, AStricterLevelWarnsOfExistingPods) {
  MakeNamespace("grown", Json::object());
  for (const char* name : {"b", "a"}) ASSERT_EQ(Make(Pods("grown"), HostPod(name)).code, 201);
  ASSERT_EQ(Make(Pods("grown"), Pod("c", {{"hostNetwork", true}, {"hostPID", true},
                                          {"volumes", {{{"name", "v"}, {"hostPath", {{"path", "/"}}}}}}}))
                .code, 201);
  ASSERT_EQ(Make(Pods("default"), HostPod("z")).code, 201);
  const auto labelled = Label("grown", {{"enforce", "baseline"}});
  EXPECT_EQ(labelled.code, 200);
  EXPECT_EQ(Warnings(labelled),
            (std::vector<std::string>{
                "299 - \"existing pods in namespace \\\"grown\\\" violate the new PodSecurity enforce "
                "level \\\"baseline:latest\\\"\"",
                "299 - \"a (and 1 other pod): host namespaces\"",
                "299 - \"c: host namespaces, hostPath volumes\""}));
  EXPECT_TRUE(Warnings(Label("grown", {{"audit", "baseline"}})).empty());
  EXPECT_FALSE(Warnings(Label("grown", {{"enforce-version", "v1.20"}})).empty());
  EXPECT_TRUE(Warnings(Label("grown", {{"enforce", "privileged"}})).empty());
  EXPECT_FALSE(Warnings(Label("grown", {{"enforce", "restricted"}})).empty());
  EXPECT_TRUE(Warnings(Label("grown", {{"enforce", "baseline"}})).empty());
}

ObjectPtr Existing(const std::string& name, const std::string& controller, bool bad) {
  Json pod = bad ? HostPod(name) : Pod(name);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  if (!controller.empty()) {
    pod["metadata"]["ownerReferences"] = {{{"uid", "other"}},
                                          {{"uid", controller}, {"controller", true}}};
  }
  return Object::Make(pod, Revision(1));
}

TEST(ExistingPods, AreLookedAtWithinBounds) {
  const LevelVersion baseline{SecurityLevel::kBaseline};
  const std::string violate =
      "existing pods in namespace \"n\" violate the new PodSecurity enforce level "
      "\"baseline:latest\"";
  std::vector<ObjectPtr> pods;
  for (std::size_t i = 0; i < kExistingPodsChecked; ++i) pods.push_back(Existing("a", "set", false));
  auto never = [] { return false; };
  EXPECT_TRUE(WarnOfExistingPods(pods, "n", baseline, never).empty());
  // One that has no controller, or the first of another one, comes before them.
  pods.push_back(Existing("b", "", true));
  pods.push_back(Existing("c", "another", true));
  pods.push_back(Existing("d", "another", true));
  EXPECT_EQ(WarnOfExistingPods(pods, "n", baseline, never),
            (std::vector<std::string>{"new PodSecurity enforce level only checked against the first "
                                      "3000 of 3003 existing pods",
                                      violate, "b (and 1 other pod): host namespaces"}));
  int asked = 0;
  EXPECT_EQ(WarnOfExistingPods(pods, "n", baseline, [&] { return ++asked == 2; }),
            (std::vector<std::string>{
                "new PodSecurity enforce level only checked against the first 2 of 3003 existing pods",
                violate, "b: host namespaces"}));
}

TEST(DisabledPodSecurity, DoesNothing) {
  apiserver::Server::Options options;
  options.disabled_admission = {kPodSecurity};
  TestHub hub(options);
  const std::string ws = hub.NewWorkspace("c1", "cluster") + kNamespaces;
  EXPECT_EQ(hub.Do("POST", ws, Namespace("n", {{"enforce", "high"}})).code, 201);
  EXPECT_EQ(hub.Do("POST", ws + "/n/pods", HostPod("p")).code, 201);
}

TEST_F(PodSecurity, IsInertWherePoliciesArePayload) {
  for (const char* type : {"wds", "mailbox"}) {
    const std::string ws = hub_.NewWorkspace(std::string("inert-") + type, type);
    const auto made = hub_.Do("POST", ws + kNamespaces,
                              Namespace("n", {{"enforce", "restricted"}, {"warn", "none"}}));
    EXPECT_EQ(made.code, 201) << made.text;
    const auto pod = hub_.Do("POST", ws + Pods("n"), HostPod("p"));
    EXPECT_EQ(pod.code, 201) << pod.text;
    EXPECT_TRUE(Warnings(pod).empty());
  }
}

}  // namespace
}  // namespace mailroom::admission
