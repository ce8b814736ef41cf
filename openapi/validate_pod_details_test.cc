#include "openapi/validate_cases.h"

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

}  // namespace
}  // namespace mailroom::openapi
