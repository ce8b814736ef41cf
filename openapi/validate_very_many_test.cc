// Objects with very many parts are judged in a time that grows with their size, not with its square:
// each of these would run for minutes.
#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "openapi/normalize.h"
#include "openapi/structural.h"
#include "openapi/validate.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kPod = {"", "v1", "Pod"};

Causes FaultsOf(const GroupVersionKind& gvk, Json object, Json before = nullptr,
                std::string_view subresource = "") {
  ResourceType type;
  type.gvk = gvk;
  type.schema = BuiltinKind(gvk);
  ApplyDefaults(type, object);
  if (!before.is_null()) ApplyDefaults(type, before);
  return ValidateObject(type, object, before.is_null() ? nullptr : &before, subresource);
}

// What `make` says of each number.
template <typename Make>
Json Many(std::size_t count, Make make) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(make(std::to_string(i)));
  return list;
}

Json Pod(Json spec, Json metadata = Json::object()) {
  if (!spec.contains("containers")) spec["containers"] = Json::array({{{"name", "c"}, {"image", "i"}}});
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

TEST(ValidateVeryMany, ConstraintsOfAPod) {
  const Json spread = Many(20'000, [](const std::string& i) -> Json {
    return {{"topologyKey", "k" + i}, {"maxSkew", 1}, {"whenUnsatisfiable", "DoNotSchedule"}};
  });
  EXPECT_TRUE(FaultsOf(kPod, Pod({{"topologySpreadConstraints", spread}})).empty());
  const Json term = {
      {"topologyKey", "k"},
      {"matchLabelKeys", Many(20'000, [](const std::string& i) { return "a" + i; })},
      {"mismatchLabelKeys", Many(20'000, [](const std::string& i) { return "b" + i; })},
      {"labelSelector", {{"matchExpressions", Many(20'000, [](const std::string& i) -> Json {
          return {{"key", "c" + i}, {"operator", "Exists"}};
        })}}}};
  const Json affinity = {{"podAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({term})}}}};
  EXPECT_TRUE(FaultsOf(kPod, Pod({{"affinity", affinity}})).empty());
}

TEST(ValidateVeryMany, PartsOfAChangedPod) {
  const Json pod = Pod({{"tolerations", Many(5'000, [](const std::string& i) -> Json {
    return {{"key", "k" + i}, {"operator", "Exists"}};
  })}});
  EXPECT_TRUE(FaultsOf(kPod, pod, pod).empty());
  const Json watched = Pod({{"ephemeralContainers", Many(3'000, [](const std::string& i) -> Json {
    return {{"name", "e" + i}, {"image", "i"}};
  })}});
  EXPECT_TRUE(FaultsOf(kPod, watched, watched, "ephemeralcontainers").empty());
}

TEST(ValidateVeryMany, ProfilesInAnnotations) {
  Json annotations = Json::object();
  for (int i = 0; i < 5'000; ++i) {
    annotations["container.apparmor.security.beta.kubernetes.io/c" + std::to_string(i)] = "unconfined";
  }
  const Json containers = Many(5'000, [](const std::string& i) -> Json {
    return {{"name", "c" + i}, {"image", "i"}};
  });
  EXPECT_TRUE(FaultsOf(kPod, Pod({{"containers", containers}}, {{"annotations", annotations}})).empty());
}

// As many faults as are told before the containers are compared.
TEST(ValidateVeryMany, FaultsBeforeAResize) {
  const Json containers = Many(1'000, [](const std::string& i) -> Json {
    return {{"name", "c" + i}, {"image", "i"}};
  });
  const Json volumes = Many(limits::kProblemsTold, [](const std::string&) { return Json::object(); });
  EXPECT_EQ(FaultsOf(kPod, Pod({{"volumes", volumes}}), Pod({{"containers", containers}}), "resize").size(),
            limits::kProblemsTold);
}

TEST(ValidateVeryMany, Webhooks) {
  const Json hooks = Many(5'000, [](const std::string& i) -> Json {
    return {{"name", "h" + i + ".b.c"},
            {"sideEffects", "None"},
            {"admissionReviewVersions", Json::array({"v1"})},
            {"clientConfig", {{"url", "https://a"}}}};
  });
  const GroupVersionKind gvk = {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"};
  EXPECT_TRUE(FaultsOf(gvk, {{"webhooks", hooks}}, {{"webhooks", hooks}}).empty());
}

TEST(ValidateVeryMany, ScopesOfAQuota) {
  const GroupVersionKind gvk = {"", "v1", "ResourceQuota"};
  const Json scopes = Many(20'000, [](const std::string&) { return "NotBestEffort"; });
  EXPECT_TRUE(FaultsOf(gvk, {{"spec", {{"scopes", scopes}, {"hard", {{"pods", "1"}}}}}}).empty());
  EXPECT_EQ(FaultsOf(gvk, {{"spec", {{"scopes", scopes}, {"hard", {{"services", "1"}}}}}}).size(),
            limits::kProblemsTold);
  const Json terms = Many(10'000, [](const std::string&) -> Json {
    return {{"scopeName", "NotBestEffort"}, {"operator", "Exists"}};
  });
  const Json spec = {{"scopeSelector", {{"matchExpressions", terms}}}, {"hard", {{"pods", "1"}}}};
  EXPECT_TRUE(FaultsOf(gvk, {{"spec", spec}}).empty());
}

TEST(ValidateVeryMany, KeysOfADefinition) {
  const Json keys = Many(20'000, [](const std::string& i) { return "k" + i; });
  const Json list = {{"type", "array"},
                     {"x-kubernetes-list-type", "map"},
                     {"x-kubernetes-list-map-keys", keys},
                     {"items", {{"type", "object"}}}};
  EXPECT_EQ(CheckKeywords({{"type", "object"}, {"properties", {{"a", list}}}}, "s").size(),
            limits::kProblemsTold);
}

}  // namespace
}  // namespace mailroom::openapi
