// Nodes, namespaces, events, and what config maps and secrets hold.
#include "openapi/base64.h"
#include "openapi/validate_cases.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kNode = {"", "v1", "Node"};
const GroupVersionKind kNamespace = {"", "v1", "Namespace"};
const GroupVersionKind kSecret = {"", "v1", "Secret"};
const GroupVersionKind kEvent = {"events.k8s.io", "v1", "Event"};

constexpr const char* kQualified =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

TEST(ValidateNodes, NewOnes) {
  ExpectFaults(std::vector<NewCase>{
      {kNode, "{spec: {podCIDR: x}}",
       {"spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
        "2001:db8::/64)"}},
      {kNode, "{spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64']}}", {}},
      {kNode, "{spec: {podCIDRs: [10.0.0.0/24, 10.1.0.0/24]}}",
       {"spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.1.0.0/24\"]: may specify no more than "
        "one CIDR for each IP family"}},
      {kNode,
       "{metadata: {annotations: {scheduler.alpha.kubernetes.io/preferAvoidPods: x}}, spec: {taints: "
       "[{key: a, effect: NoExecute}, {key: a, value: c, effect: NoExecute}, {key: b}]}, status: "
       "{capacity: {cpu: -1, a/b: 1500m}, allocatable: {pods: 1}, declaredFeatures: [B, A]}}",
       {"metadata.annotations.AvoidPods: Invalid value: "
        "\"scheduler.alpha.kubernetes.io/preferAvoidPods\": invalid character 'x' looking for "
        "beginning of value",
        "metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"c\",\"Effect\":\"NoExecute\","
        "\"TimeAdded\":null}: taints must be unique by key and effect pair",
        "metadata.taints[2].effect: Required value",
        "status.capacity.a/b: Invalid value: \"1500m\": must be an integer",
        "status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0",
        "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically"}},
  });
}

TEST(ValidateNodes, Changes) {
  const char* kBefore = "{spec: {podCIDRs: [10.0.0.0/24], providerID: p}}";
  ExpectFaults(std::vector<ChangeCase>{
      {kNode, kBefore, "{spec: {podCIDRs: [10.1.0.0/24], providerID: q, externalID: z}}",
       {"spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid",
        "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid",
        "spec.externalID: Forbidden: may not be updated"}},
  });
  EXPECT_EQ(FaultsOf(kNode, kBefore,
                     "{spec: {podCIDRs: [10.0.0.0/24], providerID: p}, status: {addresses: [{type: "
                     "Hostname, address: a}, {type: Hostname, address: a}]}}",
                     "status"),
            (std::vector<std::string>{
                "status.addresses[1]: Duplicate value: {\"Type\":\"Hostname\",\"Address\":\"a\"}"}));
}

TEST(ValidateNamespaces, FinalizersAndPhase) {
  const std::string standard =
      "name is neither a standard finalizer name nor is it fully qualified";
  const std::string odd = std::string("Invalid value: \"a b\": ");
  EXPECT_EQ(FaultsOf(kNamespace, nullptr, "{spec: {finalizers: ['a b', kubernetes, c/d]}}"),
            (std::vector<std::string>{"spec.finalizers: " + odd + kQualified,
                                      "spec.finalizers: " + odd + standard}));
  EXPECT_EQ(FaultsOf(kNamespace, "{}", "{spec: {finalizers: [kubernetes, 'a b']}}", "finalize"),
            (std::vector<std::string>{"spec.finalizers[1]: " + odd + kQualified,
                                      "spec.finalizers[1]: " + odd + standard}));
  EXPECT_EQ(FaultsOf(kNamespace, "{}", "{status: {phase: Terminating}}", "status"),
            (std::vector<std::string>{"status.Phase: Invalid value: \"Terminating\": may only be "
                                      "'Active' if `deletionTimestamp` is empty"}));
}

TEST(ValidateEvents, WhatStays) {
  ExpectFaults(std::vector<ChangeCase>{
      {kEvent,
       "{metadata: {namespace: a}, regarding: {namespace: a}, note: m, type: Normal}",
       "{metadata: {namespace: a}, regarding: {namespace: a, name: q}, note: o, type: Normal}",
       {"involvedObject: Invalid value: {\"Kind\":\"\",\"Namespace\":\"a\",\"Name\":\"q\",\"UID\":"
        "\"\",\"APIVersion\":\"\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}: field is immutable",
        "message: Invalid value: \"o\": field is immutable"}},
  });
}

TEST(ValidateConfig, SizesAndDocuments) {
  const std::string large = "{data: {a: " + std::string(limits::kConfigBytes + 1, 'x') + "}}";
  EXPECT_EQ(FaultsOf({"", "v1", "ConfigMap"}, nullptr, large.c_str()),
            (std::vector<std::string>{"[]: Too long: may not be more than 1048576 bytes"}));
  const std::pair<const char*, const char*> cases[] = {
      {"x", "invalid character 'x' looking for beginning of value"},
      {"", "unexpected end of JSON input"},
      {"[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"},
      {"1", "json: cannot unmarshal number into Go value of type map[string]interface {}"},
      {"null", ""},
      {"{}", ""},
  };
  for (const auto& [text, why] : cases) {
    const std::string secret = "{type: kubernetes.io/dockercfg, data: {.dockercfg: '" +
                               EncodeBase64(text) + "'}}";
    std::vector<std::string> expected;
    if (*why != '\0') {
      expected.push_back(
          "data[.dockercfg]: Invalid value: \"<secret contents redacted>\": " + std::string(why));
    }
    EXPECT_EQ(FaultsOf(kSecret, nullptr, secret.c_str()), expected) << text;
  }
}

}  // namespace
}  // namespace mailroom::openapi
