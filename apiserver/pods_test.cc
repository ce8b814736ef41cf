// Subresources of pods: evictions, bindings, containers that come later, other amounts.
#include "apiserver/pods.h"

#include <gtest/gtest.h>

#include "apiserver/conditions.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

using apiserver::ConditionOf;

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";

std::string Message(const TestHub::Answer& answer) { return StringAt(answer.body, {"message"}); }

class Pods : public testing::Test {
 protected:
  // A pod with one container `c`; `spec` is merged into its spec.
  void Make(const std::string& name, const Json& spec = Json::object()) {
    Json pod = {{"metadata", {{"name", name}, {"labels", {{"app", "a"}}}}},
                {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i:1"}}})}}}};
    pod["spec"].merge_patch(spec);
    const auto made = hub.Do("POST", pods, pod);
    ASSERT_EQ(made.code, 201) << made.text;
  }
  void Run(const std::string& name, const char* ready) {
    const Json status = {{"phase", "Running"},
                         {"conditions", Json::array({{{"type", "Ready"}, {"status", ready}}})}};
    ASSERT_EQ(hub.Do("PATCH", pods + "/" + name + "/status", {{"status", status}}, kMerge).code,
              200);
  }
  TestHub::Answer Evict(const std::string& name, const Json& options = nullptr,
                        const std::string& query = "") {
    Json eviction = {
        {"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}};
    if (!options.is_null()) eviction["deleteOptions"] = options;
    return hub.Do("POST", pods + "/" + name + "/eviction" + query, eviction);
  }
  TestHub::Answer Write(const std::string& path, const Json& patch, const char* type = kStrategic) {
    return hub.Do("PATCH", pods + path, patch, type);
  }
  Json Read(const std::string& name) { return hub.Get(pods + "/" + name).body; }

  TestHub hub;
  std::string prefix = hub.NewWorkspace("c1", "cluster");
  std::string pods = prefix + "/api/v1/namespaces/default/pods";
  std::string budgets = prefix + "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
};

TEST_F(Pods, AnEvictionDeletes) {
  Make("a");
  const auto dry = Evict("a", nullptr, "?dryRun=All");
  EXPECT_EQ(dry.code, 201) << dry.text;
  EXPECT_EQ(Evict("a", {{"dryRun", {"All"}}}).code, 201);
  EXPECT_EQ(ConditionOf(Read("a"), "DisruptionTarget"), nullptr) << "nothing was written";
  EXPECT_EQ(Evict("a", {{"preconditions", {{"uid", "other"}}}}).code, 409);
  EXPECT_EQ(Evict("a", {{"preconditions", {{"resourceVersion", "1"}}}}).code, 409);
  EXPECT_EQ(Evict("a", {{"propagationPolicy", "Sideways"}}).code, 422);
  const auto done = Evict("a");
  EXPECT_EQ(done.code, 201);
  EXPECT_EQ(done.body, Json({{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::object()},
                             {"status", "Success"},
                             {"code", 201}}));
  EXPECT_EQ(hub.Get(pods + "/a").code, 404);
  const auto none = Evict("a");
  EXPECT_EQ(none.code, 404);
  EXPECT_EQ(Message(none), "pods \"a\" not found");
}

TEST_F(Pods, AreLeftTheirTimeWhichMayBecomeShorter) {
  const auto grace = [](const Json& pod) {
    return IntAt(pod, {"metadata", "deletionGracePeriodSeconds"}, -1);
  };
  const auto end = [](const Json& pod) {
    return ParseTime(StringAt(pod, {"metadata", "deletionTimestamp"}));
  };
  const auto told = [&](const std::string& options) {
    return hub.Do("DELETE", pods + "/a" + options).body;
  };
  Make("a", {{"nodeName", "n"}});
  const Json first = told("?gracePeriodSeconds=60");
  EXPECT_EQ(grace(first), 60);
  EXPECT_EQ(IntAt(first, {"metadata", "generation"}), 2);
  // Whoever leaves it to the pod, or gives more time, changes nothing.
  EXPECT_EQ(told(""), first);
  EXPECT_EQ(told("?gracePeriodSeconds=60"), first);
  EXPECT_EQ(told("?gracePeriodSeconds=90&propagationPolicy=Orphan"), first);
  Write("/a/status", {{"status", {{"phase", "Succeeded"}}}});
  EXPECT_EQ(grace(told("")), 60);
  // Less time counts from when it was told first.
  const std::string began = FormatTime(Clock::Real().Now());
  ASSERT_TRUE(Eventually([&] { return FormatTime(Clock::Real().Now()) != began; }));
  const Json second = told("?gracePeriodSeconds=20");
  EXPECT_EQ(grace(second), 20);
  EXPECT_EQ(end(second), end(first) - 40);
  EXPECT_EQ(IntAt(second, {"metadata", "generation"}), 2);
  const Json third = told("?gracePeriodSeconds=-5");
  EXPECT_EQ(grace(third), 1);
  EXPECT_GE(end(third), end(first) - 59);
  const Json last = told("?gracePeriodSeconds=0");
  EXPECT_EQ(grace(last), 0);
  EXPECT_EQ(hub.Get(pods + "/a").code, 404);
  EXPECT_EQ(StringAt(last, {"metadata", "resourceVersion"}),
            StringAt(hub.Get(pods).body, {"metadata", "resourceVersion"}));
}

TEST_F(Pods, AreGivenNoTimeWhenNothingRuns) {
  Make("a");
  const Json last = hub.Do("DELETE", pods + "/a").body;
  EXPECT_EQ(IntAt(last, {"metadata", "deletionGracePeriodSeconds"}, -1), 0);
  EXPECT_FALSE(StringAt(last, {"metadata", "deletionTimestamp"}).empty());
  EXPECT_EQ(hub.Get(pods + "/a").code, 404);
  for (const char* phase : {"Succeeded", "Failed"}) {
    Make("a", {{"nodeName", "n"}});
    Write("/a/status", {{"status", {{"phase", phase}}}});
    EXPECT_EQ(hub.Do("DELETE", pods + "/a").code, 200);
    EXPECT_EQ(hub.Get(pods + "/a").code, 404) << phase;
  }
  Make("a", {{"nodeName", "n"}, {"terminationGracePeriodSeconds", 7}});
  const Json ending = hub.Do("DELETE", pods + "/a").body;
  EXPECT_EQ(IntAt(ending, {"metadata", "deletionGracePeriodSeconds"}), 7);
}

TEST_F(Pods, EvictionsAreReadAsClientsWriteThem) {
  for (const char* version : {"policy/v1", "policy/v1beta1"}) {
    Make("a");
    const Json eviction = {{"apiVersion", version},
                           {"kind", "Eviction"},
                           {"metadata", {{"name", "a"}, {"namespace", "default"}}}};
    const auto answer = hub.Do("POST", pods + "/a/eviction", eviction);
    EXPECT_EQ(answer.code, 201) << version << answer.text;
  }
  Make("a");
  const Json other = {{"metadata", {{"name", "b"}}}};
  EXPECT_EQ(Message(hub.Do("POST", pods + "/a/eviction", other)),
            "name in URL does not match name in Eviction object");
  const Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "a"}}}};
  EXPECT_EQ(hub.Do("POST", pods + "/a/eviction", pod).code, 400);
  const Json elsewhere = {{"metadata", {{"name", "a"}, {"namespace", "kube-system"}}}};
  EXPECT_EQ(hub.Do("POST", pods + "/a/eviction", elsewhere).code, 400);
  EXPECT_EQ(hub.Get(pods + "/a/eviction").code, 405);
  EXPECT_EQ(hub.Get(pods + "/a").code, 200);
}

TEST_F(Pods, ARunningPodIsToldWhyItGoes) {
  Make("a", {{"nodeName", "n"}});
  Run("a", "True");
  ASSERT_EQ(Evict("a", {{"gracePeriodSeconds", 7}}).code, 201);
  const Json pod = Read("a");
  EXPECT_FALSE(StringAt(pod, {"metadata", "deletionTimestamp"}).empty());
  EXPECT_EQ(IntAt(pod, {"metadata", "deletionGracePeriodSeconds"}), 7);
  const Json* why = ConditionOf(pod, "DisruptionTarget");
  ASSERT_NE(why, nullptr) << DumpJson(pod);
  EXPECT_EQ(StringAt(*why, {"reason"}), "EvictionByEvictionAPI");
  EXPECT_EQ(StringAt(*why, {"message"}), "Eviction API: evicting");
}

TEST_F(Pods, ABudgetIsAskedAndTakenFrom) {
  for (const char* name : {"a", "b"}) {
    Make(name);
    Run(name, "True");
  }
  const Json budget = {
      {"metadata", {{"name", "pdb"}}},
      {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "a"}}}}}}}};
  ASSERT_EQ(hub.Do("POST", budgets, budget).code, 201);
  auto count = [&](Json status) {
    status["observedGeneration"] = 1;
    const auto counted = hub.Do("PATCH", budgets + "/pdb/status", {{"status", status}}, kMerge);
    ASSERT_EQ(counted.code, 200) << counted.text;
  };
  const auto uncounted = Evict("a");
  EXPECT_EQ(uncounted.code, 429);
  EXPECT_EQ(uncounted.headers.Get("retry-after"), "10");
  EXPECT_EQ(Message(uncounted),
            "Cannot evict pod as it would violate the pod's disruption budget.");
  const Json cause = uncounted.body["details"]["causes"][0];
  EXPECT_EQ(cause, Json({{"reason", "DisruptionBudget"},
                         {"message",
                          "The disruption budget pdb is still being processed by the "
                          "server."}}));

  count({{"disruptionsAllowed", 1},
         {"currentHealthy", 2},
         {"desiredHealthy", 1},
         {"expectedPods", 2}});
  EXPECT_EQ(Evict("a", nullptr, "?dryRun=All").code, 201);
  EXPECT_EQ(IntAt(hub.Get(budgets + "/pdb").body, {"status", "disruptionsAllowed"}), 1);
  ASSERT_EQ(Evict("a").code, 201);
  const Json taken = hub.Get(budgets + "/pdb").body;
  EXPECT_EQ(IntAt(taken, {"status", "disruptionsAllowed"}), 0);
  EXPECT_TRUE(Find(taken, {"status", "disruptedPods"})->contains("a")) << DumpJson(taken);
  EXPECT_EQ(StringAt(*ConditionOf(taken, "DisruptionAllowed"), {"reason"}), "InsufficientPods");

  count({{"currentHealthy", 1}});
  const auto refused = Evict("b");
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(refused.headers.Get("retry-after"), "");
  EXPECT_EQ(StringAt(refused.body["details"]["causes"][0], {"message"}),
            "The disruption budget pdb needs 1 healthy pods and has 1 currently");
  EXPECT_EQ(
      hub.Do("PATCH", budgets + "/pdb/status", {{"status", {{"disruptionsAllowed", -1}}}}, kMerge)
          .code,
      422);
  // A pod that is not ready is none of the healthy ones.
  count({{"disruptionsAllowed", 0}});
  Run("b", "False");
  EXPECT_EQ(Evict("b").code, 201);
  EXPECT_EQ(hub.Get(pods + "/b").code, 404);
}

TEST_F(Pods, BudgetsOfPendingPodsAndOfPayloadAreNotAsked) {
  const Json budget = {{"metadata", {{"name", "pdb"}}},
                       {"spec", {{"minAvailable", 1}, {"selector", Json::object()}}}};
  ASSERT_EQ(hub.Do("POST", budgets, budget).code, 201);
  Make("pending");
  EXPECT_EQ(Evict("pending").code, 201);
  Make("a");
  Run("a", "True");
  EXPECT_EQ(Evict("a").code, 429);
  Json second = budget;
  second["metadata"]["name"] = "other";
  ASSERT_EQ(hub.Do("POST", budgets, second).code, 201);
  const auto two = Evict("a");
  EXPECT_EQ(two.code, 500);
  EXPECT_EQ(Message(two),
            "This pod has more than one PodDisruptionBudget, which the eviction "
            "subresource does not support.");
  prefix = "/clusters/wds1";
  pods = prefix + "/api/v1/namespaces/default/pods";
  ASSERT_EQ(
      hub.Do("POST", prefix + "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)
          .code,
      201);
  Make("a");
  Run("a", "True");
  EXPECT_EQ(Evict("a").code, 201) << "budgets in a WDS are meant for other clusters";
}

TEST_F(Pods, ABindingGivesTheNodeOnce) {
  Make("a");
  const Json binding = {{"metadata", {{"name", "a"}, {"annotations", {{"by", "me"}}}}},
                        {"target", {{"kind", "Node"}, {"name", "n1"}}}};
  EXPECT_EQ(hub.Do("POST", pods + "/a/binding?dryRun=All", binding).code, 201);
  EXPECT_EQ(StringAt(Read("a"), {"spec", "nodeName"}), "");
  const auto bound = hub.Do("POST", pods + "/a/binding", binding);
  ASSERT_EQ(bound.code, 201) << bound.text;
  EXPECT_EQ(StringAt(bound.body, {"status"}), "Success");
  const Json pod = Read("a");
  EXPECT_EQ(StringAt(pod, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(StringAt(pod, {"metadata", "annotations", "by"}), "me");
  EXPECT_EQ(IntAt(pod, {"metadata", "generation"}), 1);
  ASSERT_NE(ConditionOf(pod, "PodScheduled"), nullptr);
  const auto again = hub.Do("POST", pods + "/a/binding", binding);
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(Message(again),
            "Operation cannot be fulfilled on pods/binding \"a\": pod a is already "
            "assigned to node \"n1\"");
  // The older way.
  Make("b");
  const std::string bindings = prefix + "/api/v1/namespaces/default/bindings";
  const Json old_way = {{"metadata", {{"name", "b"}}}, {"target", {{"name", "n2"}}}};
  ASSERT_EQ(hub.Do("POST", bindings, old_way).code, 201);
  EXPECT_EQ(StringAt(Read("b"), {"spec", "nodeName"}), "n2");
  // What is refused.
  Make("d");
  auto refused = [&](const Json& target) {
    const auto answer =
        hub.Do("POST", pods + "/d/binding", {{"metadata", {{"name", "d"}}}, {"target", target}});
    EXPECT_EQ(answer.code, 500);
    return Message(answer);
  };
  EXPECT_EQ(refused(Json::object()), "target.name: Required value");
  EXPECT_EQ(refused({{"kind", "Pod"}, {"name", "x"}}),
            "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"");
  EXPECT_EQ(hub.Do("POST", pods + "/none/binding",
                   {{"metadata", {{"name", "none"}}}, {"target", {{"name", "n"}}}})
                .code,
            404);
  EXPECT_EQ(Write("/d", {{"spec", {{"nodeName", "n3"}}}}).code, 422) << "only a binding does it";
}

TEST_F(Pods, EphemeralContainersAreOnlyAdded) {
  Make("a");
  const auto containers = [](const char* name, const char* image) {
    return Json(
        {{"spec", {{"ephemeralContainers", Json::array({{{"name", name}, {"image", image}}})}}}});
  };
  EXPECT_EQ(Write("/a", containers("e", "x")).code, 422) << "not on the main endpoint";
  Json patch = containers("e", "x");
  patch["metadata"]["labels"]["app"] = "other";
  patch["spec"]["activeDeadlineSeconds"] = 5;
  const auto added = Write("/a/ephemeralcontainers", patch);
  ASSERT_EQ(added.code, 200) << added.text;
  EXPECT_EQ(added.body["spec"]["ephemeralContainers"][0]["imagePullPolicy"], "Always");
  EXPECT_EQ(StringAt(added.body, {"metadata", "labels", "app"}), "a") << "not what it writes";
  EXPECT_EQ(Find(added.body, {"spec", "activeDeadlineSeconds"}), nullptr);
  EXPECT_EQ(IntAt(added.body, {"metadata", "generation"}), 2);
  EXPECT_EQ(hub.Get(pods + "/a/ephemeralcontainers").body, added.body);
  bool owned = false;
  for (const Json& entry : added.body["metadata"]["managedFields"]) {
    owned = owned || StringAt(entry, {"subresource"}) == "ephemeralcontainers";
  }
  EXPECT_TRUE(owned);
  const auto changed = Write("/a/ephemeralcontainers", containers("e", "y"));
  EXPECT_EQ(changed.code, 422);
  EXPECT_EQ(Message(changed),
            "Pod \"a\" is invalid: spec.ephemeralContainers: Forbidden: existing "
            "ephemeral containers \"e\" may not be changed\n");
  EXPECT_EQ(
      Message(
          Write("/a/ephemeralcontainers", {{"spec", {{"ephemeralContainers", nullptr}}}}, kMerge)),
      "Pod \"a\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "
      "\"e\" may not be removed\n");
  Json bad = containers("f", "x");
  bad["spec"]["ephemeralContainers"][0]["targetContainerName"] = "none";
  EXPECT_EQ(
      Message(Write("/a/ephemeralcontainers", bad)),
      "Pod \"a\" is invalid: spec.ephemeralContainers[0].targetContainerName: Not found: \"none\"");
  // Applied, nothing but them is owned.
  Json config = containers("g", "z");
  config.update({{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata", {{"name", "a"}, {"labels", {{"app", "mine"}}}}}});
  const auto applied = Write("/a/ephemeralcontainers?fieldManager=m", config, kApply);
  ASSERT_EQ(applied.code, 200) << applied.text;
  EXPECT_EQ(applied.body["spec"]["ephemeralContainers"].size(), 2u);
  EXPECT_EQ(StringAt(applied.body, {"metadata", "labels", "app"}), "a");
  for (const Json& entry : applied.body["metadata"]["managedFields"]) {
    if (StringAt(entry, {"manager"}) != "m") continue;
    EXPECT_FALSE(entry["fieldsV1"].contains("f:metadata")) << DumpJson(entry);
  }
  Json pod = {{"metadata", {{"name", "b"}}}, {"spec", patch["spec"]}};
  pod["spec"]["containers"] = Json::array({{{"name", "c"}, {"image", "i"}}});
  EXPECT_EQ(Message(hub.Do("POST", pods, pod)),
            "Pod \"b\" is invalid: spec.ephemeralContainers: Forbidden: cannot be set on create");
}

TEST_F(Pods, ResizeChangesAmountsAndNothingElse) {
  auto amounts = [](const char* requests, const char* limits) {
    Json container = {{"name", "c"}};
    if (requests != nullptr) container["resources"]["requests"]["cpu"] = requests;
    if (limits != nullptr) container["resources"]["limits"]["cpu"] = limits;
    return Json({{"spec", {{"containers", Json::array({container})}}}});
  };
  const Json made = {
      {"containers",
       Json::array({{{"name", "c"},
                     {"image", "i:1"},
                     {"resources", {{"requests", {{"cpu", "1"}}}, {"limits", {{"cpu", "2"}}}}}}})}};
  Make("a", made);
  EXPECT_EQ(Write("/a", amounts("500m", nullptr)).code, 422) << "not on the main endpoint";
  Json patch = amounts("500m", "3");
  patch["spec"]["containers"][0]["image"] = "other";
  patch["metadata"]["annotations"]["x"] = "y";
  const auto resized = Write("/a/resize", patch);
  ASSERT_EQ(resized.code, 200) << resized.text;
  const Json& container = resized.body["spec"]["containers"][0];
  EXPECT_EQ(container["resources"],
            Json({{"requests", {{"cpu", "500m"}}}, {"limits", {{"cpu", "3"}}}}));
  EXPECT_EQ(container["image"], "i:1");
  EXPECT_EQ(Find(resized.body, {"metadata", "annotations", "x"}), nullptr);
  EXPECT_EQ(IntAt(resized.body, {"metadata", "generation"}), 2);
  EXPECT_EQ(hub.Get(pods + "/a/resize").body, resized.body);

  struct Refusal {
    Json patch;
    const char* type;
    const char* message;
  };
  Json memory = amounts(nullptr, nullptr);
  memory["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1";
  const Json added = {{"spec", {{"containers", Json::array({{{"name", "d"}, {"image", "i"}}})}}}};
  const Json removed = *ParseJson(
      R"({"spec":{"containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"1"}}}]}})");
  const Refusal cases[] = {
      {added, kStrategic,
       "spec.containers: Forbidden: containers may not be added or removed on resize"},
      {removed, kMerge,
       "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
      {memory, kStrategic, "spec: Forbidden: only cpu and memory resources are mutable"},
  };
  for (const Refusal& c : cases) {
    const auto refused = Write("/a/resize", c.patch, c.type);
    EXPECT_EQ(refused.code, 422) << refused.text;
    EXPECT_NE(Message(refused).find(c.message), std::string::npos) << refused.text;
  }
  Make("plain");
  EXPECT_NE(
      Message(Write("/plain/resize", amounts("1", nullptr)))
          .find("spec: Invalid value: \"BestEffort\": Pod QOS Class may not change as a result of "
                "resizing"),
      std::string::npos);
}

TEST_F(Pods, WhoAppliesAResizeOwnsAmountsOnly) {
  Make("a", *ParseJson(R"({"containers":[{"name":"c","image":"i:1",
    "resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]})"));
  const Json config = *ParseJson(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},
    "spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]}})");
  const auto applied = Write("/a/resize?fieldManager=tuner&force=true", config, kApply);
  ASSERT_EQ(applied.code, 200) << applied.text;
  int owners = 0;
  for (const Json& entry : applied.body["metadata"]["managedFields"]) {
    const Json* container = Find(entry, {"fieldsV1", "f:spec", "f:containers", R"(k:{"name":"c"})"});
    if (container == nullptr) continue;
    owners += container->contains(".") ? 1 : 0;
    if (StringAt(entry, {"manager"}) != "tuner") continue;
    EXPECT_EQ(StringAt(entry, {"subresource"}), "resize");
    EXPECT_EQ(*container, *ParseJson(R"({"f:resources":{"f:requests":{"f:cpu":{}}}})"));
  }
  EXPECT_EQ(owners, 1) << applied.text;
}

TEST_F(Pods, AResizeIsChargedAndLimitedAsTheWholePodWas) {
  const std::string here = prefix + "/api/v1/namespaces/default/";
  Make("a", *ParseJson(R"({"containers":[{"name":"c","image":"i:1",
    "resources":{"requests":{"cpu":"500m"},"limits":{"cpu":"1"}}}]})"));
  ASSERT_EQ(hub.Do("POST", here + "resourcequotas",
                   {{"metadata", {{"name", "q"}}}, {"spec", {{"hard", {{"requests.cpu", "1"}}}}}})
                .code,
            201);
  auto used = [&] {
    return StringAt(hub.Get(here + "resourcequotas/q").body, {"status", "used", "requests.cpu"});
  };
  EXPECT_TRUE(Eventually([&] { return used() == "500m"; })) << used();
  auto resize = [&](const char* requests, const char* limits) {
    const Json amounts = {{"requests", {{"cpu", requests}}}, {"limits", {{"cpu", limits}}}};
    return Write(
        "/a/resize",
        {{"spec", {{"containers", Json::array({{{"name", "c"}, {"resources", amounts}}})}}}});
  };
  const auto more = resize("800m", "1");
  ASSERT_EQ(more.code, 200) << more.text;
  EXPECT_EQ(used(), "800m");
  const auto over = resize("2", "2");
  EXPECT_EQ(over.code, 403);
  EXPECT_NE(Message(over).find("exceeded quota: q, requested: requests.cpu=1200m"),
            std::string::npos)
      << over.text;
  const Json range = *ParseJson(R"({"metadata":{"name":"l"},
    "spec":{"limits":[{"type":"Container","max":{"cpu":"1"}}]}})");
  ASSERT_EQ(hub.Do("POST", here + "limitranges", range).code, 201);
  const auto above = resize("900m", "3");
  EXPECT_EQ(above.code, 403);
  EXPECT_NE(Message(above).find("maximum cpu usage per Container is 1, but limit is 3"),
            std::string::npos)
      << above.text;
}

TEST_F(Pods, ADaemonSetCountsTheChangesOfItsTemplate) {
  auto count = [](const Json& object) {
    return StringAt(object,
                    {"metadata", "annotations", "deprecated.daemonset.template.generation"});
  };
  const Json daemon =
      *ParseJson(R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const std::string path = "/apis/apps/v1/namespaces/default/daemonsets";
  Json made = hub.Do("POST", prefix + path, daemon).body;
  EXPECT_EQ(count(made), "1");
  const std::string self = prefix + path + "/d";
  const Json image = {
      {"spec",
       {{"template",
         {{"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "j"}}})}}}}}}}};
  EXPECT_EQ(count(hub.Do("PATCH", self, image, kStrategic).body), "2");
  EXPECT_EQ(count(hub.Do("PATCH", self, {{"spec", {{"minReadySeconds", 5}}}}, kMerge).body), "2");
  EXPECT_EQ(count(hub.Do("PATCH", self, {{"metadata", {{"annotations", nullptr}}}}, kMerge).body),
            "2");
  Json odd = daemon;
  Set(odd, {"metadata", "name"}, "odd");
  Set(odd, {"metadata", "annotations", "deprecated.daemonset.template.generation"}, "x");
  EXPECT_EQ(
      Message(hub.Do("POST", prefix + path, odd)),
      "DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "
      "\"x\": invalid syntax");
  EXPECT_EQ(count(hub.Do("POST", "/clusters/wds1" + path, daemon).body), "")
      << "for clusters to count";
}

}  // namespace
}  // namespace mailroom
