// HorizontalPodAutoscalers as clients of autoscaling/v1 see and write them.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kV1 =
    "/clusters/wds1/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const std::string kV2 =
    "/clusters/wds1/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

Json Full() {
  return *ParseJson(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
    "metadata":{"name":"h","annotations":{"a":"b"}},"spec":{"maxReplicas":3,
    "scaleTargetRef":{"kind":"D","name":"x","apiVersion":"apps/v1"},
    "behavior":{"scaleUp":{"policies":[{"type":"Pods","value":1,"periodSeconds":5}]}},
    "metrics":[
     {"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"100Mi"}}},
     {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},
     {"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"s"},
      "metric":{"name":"m","selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}},
      "target":{"type":"AverageValue","averageValue":"1"}}},
     {"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}},
     {"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}}},
     {"type":"ContainerResource","containerResource":{"name":"cpu","container":"c",
      "target":{"type":"Utilization","averageUtilization":5}}}]}})");
}

std::string Annotation(const Json& object, const std::string& name) {
  return StringAt(object, {"metadata", "annotations", "autoscaling.alpha.kubernetes.io/" + name});
}

TEST(Autoscaler, KeepsInAnnotationsWhatTheFirstVersionLacks) {
  TestHub hub;
  ASSERT_EQ(hub.Do("POST", kV2, Full()).code, 201);
  Json told = Full();
  told["status"] = *ParseJson(R"({"currentReplicas":1,"desiredReplicas":2,
    "conditions":[{"type":"AbleToScale","status":"True","message":"m"}],
    "currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":5,"averageValue":"1m"}}},
     {"type":"External","external":{"metric":{"name":"m"},"current":{"value":"1"}}}]})");
  ASSERT_EQ(hub.Do("PUT", kV2 + "/h/status", told).code, 200);
  const Json before = hub.Do("GET", kV2 + "/h").body;

  Json old = hub.Do("GET", kV1 + "/h").body;
  EXPECT_EQ(Annotation(old, "metrics"),
            R"([{"type":"Resource","resource":{"name":"memory","targetAverageValue":"100Mi"}},)"
            R"({"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},)"
            R"("metricName":"m","targetValue":"0","selector":{"matchLabels":{"a":"b"},)"
            R"("matchExpressions":[{"key":"k","operator":"In","values":["v"]}]},"averageValue":"1"}},)"
            R"({"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}},)"
            R"({"type":"External","external":{"metricName":"m","targetValue":"1"}},)"
            R"({"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":5,"container":"c"}}])");
  EXPECT_EQ(Annotation(old, "behavior"),
            R"({"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[)"
            R"({"Type":"Pods","Value":1,"PeriodSeconds":5}],"Tolerance":null},"ScaleDown":{)"
            R"("StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[)"
            R"({"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}})");
  EXPECT_EQ(Annotation(old, "conditions"),
            R"([{"type":"AbleToScale","status":"True","lastTransitionTime":null,"message":"m"}])");
  EXPECT_EQ(Annotation(old, "current-metrics"),
            R"([{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":5,)"
            R"("currentAverageValue":"1m"}},{"type":"External","external":{"metricName":"m","currentValue":"1"}}])");
  EXPECT_EQ(old["spec"], *ParseJson(R"({"maxReplicas":3,"minReplicas":1,
    "scaleTargetRef":{"kind":"D","name":"x","apiVersion":"apps/v1"},"targetCPUUtilizationPercentage":70})"));
  EXPECT_EQ(old["status"], *ParseJson(R"({"currentReplicas":1,"desiredReplicas":2,
    "currentCPUUtilizationPercentage":5})"));

  Erase(old, {"metadata", "resourceVersion"});
  old["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/conditions"] = "[]";
  old["spec"]["targetCPUUtilizationPercentage"] = 50;
  const auto put = hub.Do("PUT", kV1 + "/h", old);
  ASSERT_EQ(put.code, 200) << put.text;
  EXPECT_EQ(put.headers.Get("warning"), "");
  const Json after = hub.Do("GET", kV2 + "/h").body;
  EXPECT_EQ(after["metadata"]["annotations"], (Json{{"a", "b"}}));
  EXPECT_EQ(after["status"], before["status"]);
  EXPECT_EQ(after["spec"]["behavior"], before["spec"]["behavior"]);
  Json metrics = before["spec"]["metrics"];
  Json cpu = metrics[1];
  cpu["resource"]["target"]["averageUtilization"] = 50;
  metrics.erase(1);
  metrics.push_back(cpu);
  EXPECT_EQ(after["spec"]["metrics"], metrics);

  const auto patched = hub.Do("PATCH", kV1 + "/h", {{"spec", {{"maxReplicas", 4}}}},
                              "application/merge-patch+json");
  ASSERT_EQ(patched.code, 200) << patched.text;
  EXPECT_EQ(hub.Do("GET", kV2 + "/h").body["spec"]["metrics"], metrics);
}

TEST(Autoscaler, OfTheFirstVersionGoesByCpuWhenNothingIsSaid) {
  TestHub hub;
  Json given = *ParseJson(R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler",
    "metadata":{"name":"h"},"spec":{"maxReplicas":3,
    "scaleTargetRef":{"kind":"D","name":"x","apiVersion":"apps/v1"}}})");
  // What carries nothing of ours goes.
  given["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"] = "garbage";
  given["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/behavior"] = R"({"ScaleUp":1})";
  const auto made = hub.Do("POST", kV1, given);
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(IntAt(made.body, {"spec", "targetCPUUtilizationPercentage"}), 80);
  EXPECT_EQ(made.body["status"], (Json{{"currentReplicas", 0}, {"desiredReplicas", 0}}));
  EXPECT_EQ(Find(made.body, {"metadata", "annotations"}), nullptr);
  const Json stored = hub.Do("GET", kV2 + "/h").body;
  EXPECT_EQ(stored["spec"]["metrics"],
            *ParseJson(R"([{"type":"Resource","resource":{"name":"cpu",
              "target":{"type":"Utilization","averageUtilization":80}}}])"));
  EXPECT_EQ(stored["status"], (Json{{"currentMetrics", nullptr}, {"desiredReplicas", 0}}));
}

TEST(Nodes, MayBeMadeWithAStatus) {
  TestHub hub;
  const auto made = hub.Do("POST", "/clusters/wds1/api/v1/nodes",
                           *ParseJson(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},
                             "status":{"capacity":{"cpu":"2"},"phase":"Running"}})"));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(StringAt(made.body, {"status", "phase"}), "Running");
  EXPECT_EQ(StringAt(made.body, {"status", "allocatable", "cpu"}), "2");
}

}  // namespace
}  // namespace mailroom
