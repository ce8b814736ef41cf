#include "openapi/validate_cases.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kPod = {"", "v1", "Pod"};

std::string Pod(const std::string& more, const std::string& container = "") {
  return "{spec: {containers: [{name: c, image: i" + container + "}], " + more + "}}";
}

TEST(ValidatePodDetails, ChecksWhatFewPodsHave) {
  ExpectFaults(std::vector<NewCase>{
      {kPod, "{spec: {containers: [{name: c, image: ' i'}]}}",
       {"spec.containers[0].image: Invalid value: \" i\": must not have leading or trailing "
        "whitespace"}},
      {kPod, Pod("os: {name: Foo}").c_str(),
       {"spec.os: Unsupported value: \"Foo\": supported values: \"linux\", \"windows\""}},
      {kPod, Pod("dnsConfig: {searches: [a_b.c, ., a., A]}").c_str(),
       {"spec.dnsConfig.searches[3]: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '_', '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"}},
      {kPod, Pod("os: {name: linux}", ", securityContext: {windowsOptions: {runAsUserName: a}}").c_str(),
       {"spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for "
        "a linux pod"}},
      {kPod, Pod("os: {name: windows}, hostPID: true, securityContext: {runAsUser: 1}",
                 ", securityContext: {capabilities: {add: [A]}}").c_str(),
       {"spec.hostPID: Forbidden: cannot be set for a windows pod",
        "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
        "spec.containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod"}},
      {kPod, Pod("hostnameOverride: a, setHostnameAsFQDN: true").c_str(),
       {"spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true"}},
      {kPod, Pod("volumes: [{name: b, ephemeral: {}}, {name: d, csi: {driver: a, nodePublishSecretRef: {}}}]").c_str(),
       {"spec.volumes[0].ephemeral.volumeClaimTemplate: Required value",
        "spec.volumes[1].csi.nodePublishSecretRef.name: Required value"}},
      {kPod,
       Pod("volumes: [{name: b, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [Foo]}}}}]").c_str(),
       {"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: \"Foo\": "
        "supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value"}},
  });
}

TEST(ValidatePodDetails, AddsUpWhatRunsAtATime) {
  const std::string small = ", resources: {requests: {cpu: 1}}}", large = ", resources: {requests: {cpu: 3}}}";
  const std::string pod =
      "{spec: {resources: {requests: {cpu: 3}}, containers: [{name: c, image: i" + small +
      "], initContainers: [{name: s, image: i, restartPolicy: Always" + small + ", {name: f, image: i" +
      large + ", {name: t, image: i, restartPolicy: Always" + small + "]}}";
  EXPECT_EQ(FaultsOf(kPod, nullptr, pod.c_str()),
            std::vector<std::string>{"spec.resources.requests[cpu]: Invalid value: \"3\": must be greater than "
                                     "or equal to aggregate container requests of 4"});
}

// Work grows with what a pod holds, not with its square.
TEST(ValidatePodDetails, LooksAtManyPartsOnce) {
  constexpr int kMany = 10'000, kPages = 2'000;
  Json claims = Json::array(), named = Json::array(), mounts = Json::array(), devices = Json::array();
  Json sidecars = Json::array(), whole = Json::object(), part = Json::object();
  for (int i = 0; i < kMany; ++i) {
    const std::string text = std::to_string(i);
    claims.push_back({{"name", "c" + text}, {"resourceClaimName", "r"}});
    named.push_back({{"name", "c" + text}});
    mounts.push_back({{"name", "m" + text}, {"mountPath", "/m" + text}});
    devices.push_back({{"name", "d" + text}, {"devicePath", "/d" + text}});
  }
  for (int i = 1; i <= kPages; ++i) {
    const std::string name = "hugepages-" + std::to_string(i);
    whole[name] = "0";
    if (i > 1) part[name] = "1";
    sidecars.push_back({{"name", "s" + std::to_string(i)},
                        {"image", "i"},
                        {"restartPolicy", "Always"},
                        {"resources", {{"limits", {{"cpu", "1"}, {name, "0"}}}}}});
  }
  const auto faults = [](const Json& before, const Json& after) {
    return FaultsOf(kPod, before.is_null() ? nullptr : DumpJson(before).c_str(), DumpJson(after).c_str());
  };
  const auto pod = [](Json container, Json spec) {
    container.update(Json{{"name", "c"}, {"image", "i"}});
    spec["containers"] = Json::array({std::move(container)});
    return Json{{"spec", std::move(spec)}};
  };
  EXPECT_EQ(faults(nullptr, pod({{"resources", {{"claims", named}}}}, {{"resourceClaims", claims}})),
            std::vector<std::string>());
  EXPECT_EQ(faults(nullptr, pod({{"volumeMounts", mounts}, {"volumeDevices", devices}}, Json::object())).size(),
            limits::kProblemsTold);
  EXPECT_EQ(faults(pod({{"resources", {{"limits", whole}}}}, Json::object()),
                   pod({{"resources", {{"limits", part}}}}, Json::object())).size(),
            limits::kProblemsTold);
  EXPECT_EQ(faults(nullptr, pod(Json::object(),
                                {{"resources", {{"limits", {{"cpu", "9k"}}}}}, {"initContainers", sidecars}})),
            std::vector<std::string>());
}

}  // namespace
}  // namespace mailroom::openapi
