#include "openapi/validate_flow_control.h"

#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kFlow = {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"};
const GroupVersionKind kLevel = {"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration"};

TEST(ValidateFlowControl, ChecksFlows) {
  ExpectFaults(std::vector<NewCase>{
      {kFlow, "{metadata: {name: a}, spec: {priorityLevelConfiguration: {name: b}}}", {}},
      {kFlow, "{metadata: {name: a}, spec: {matchingPrecedence: -1, distinguisherMethod: {type: X}}}",
       {"spec.matchingPrecedence: Invalid value: -1: must be a positive value",
        "spec.distinguisherMethod.type: Unsupported value: {\"Type\":\"X\"}: supported values: "
        "\"ByNamespace\", \"ByUser\"",
        "spec.priorityLevelConfiguration.name: Required value: must reference a priority level"}},
      {kFlow,
       "{metadata: {name: a}, spec: {matchingPrecedence: 1, priorityLevelConfiguration: {name: b}, "
       "rules: [{}]}}",
       {"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have "
        "matchingPrecedence 1",
        "spec.rules[0].subjects: Required value: subjects must contain at least one value",
        "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be "
        "non-empty"}},
      {kFlow,
       "{metadata: {name: a}, spec: {matchingPrecedence: 10001, priorityLevelConfiguration: {name: b}}}",
       {"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"}},
  });
}

TEST(ValidateFlowControl, ChecksSubjects) {
  const auto rule = [](const std::string& subjects) {
    return "{metadata: {name: a}, spec: {priorityLevelConfiguration: {name: b}, rules: [{subjects: [" +
           subjects + "], nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}]}]}}";
  };
  const std::string good = rule("{kind: ServiceAccount, serviceAccount: {name: '*', namespace: m}}, "
                                "{kind: User, user: {name: x}}, {kind: Group, group: {name: z}}");
  const std::string bad = rule("{kind: X}, {kind: ServiceAccount}, {kind: User, user: {}, group: "
                               "{name: y}}, {kind: ServiceAccount, serviceAccount: {name: x}}");
  const std::string at = "spec.rules[0].subjects";
  ExpectFaults(std::vector<NewCase>{
      {kFlow, good.c_str(), {}},
      {kFlow, bad.c_str(),
       {at + "[0].kind: Unsupported value: \"X\": supported values: \"Group\", \"ServiceAccount\", "
             "\"User\"",
        at + "[1].serviceAccount: Required value: serviceAccount is required when subject kind is "
             "'ServiceAccount'",
        at + "[2].user.name: Required value",
        at + "[2].group: Forbidden: group is forbidden when subject kind is not 'Group'",
        at + "[3].serviceAccount.namespace: Required value: must specify namespace for service "
             "account"}},
  });
}

TEST(ValidateFlowControl, ChecksRules) {
  const std::string at = "spec.rules[0].resourceRules[0]";
  ExpectFaults(std::vector<NewCase>{
      {kFlow,
       "{metadata: {name: a}, spec: {priorityLevelConfiguration: {name: b}, rules: [{subjects: [{kind: "
       "User, user: {name: x}}], resourceRules: [{verbs: [get, x], apiGroups: ['*', a]}, {verbs: ['*', "
       "get], apiGroups: [''], resources: [pods], namespaces: [A_]}], nonResourceRules: [{verbs: [get], "
       "nonResourceURLs: ['', x, /a b, //, /*/x, /]}]}]}}",
       {at + ".verbs: Unsupported value: [\"get\",\"x\"]: supported values: \"create\", \"delete\", "
             "\"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \"update\", \"watch\"",
        at + ".apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify other api "
             "groups",
        at + ".resources: Required value: resource rules must supply at least one resource",
        at + ".namespaces: Required value: resource rules that are not cluster scoped must supply at "
             "least one namespace",
        "spec.rules[0].resourceRules[1].verbs: Invalid value: [\"*\",\"get\"]: if '*' is present, must "
        "not specify other verbs",
        "spec.rules[0].resourceRules[1].namespaces[0]: Invalid value: \"A_\": each member of this list "
        "must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case "
        "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. "
        "'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"\": must not be empty",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: \"x\": must start with "
        "slash",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: \"/a b\": must not contain "
        "white-space",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: \"//\": must not contain "
        "double slash",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: \"/*/x\": wildcard can "
        "only do suffix matching"}},
  });
}

TEST(ValidateFlowControl, ChecksLevels) {
  ExpectFaults(std::vector<NewCase>{
      {kLevel, "{metadata: {name: a}, spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {}}}}}",
       {}},
      {kLevel, "{metadata: {name: a}}", {"spec.type: Required value"}},
      {kLevel, "{metadata: {name: a}, spec: {type: X}}",
       {"spec.type: Unsupported value: \"X\": supported values: \"Exempt\", \"Limited\""}},
      {kLevel, "{metadata: {name: a}, spec: {type: Exempt, limited: {}, exempt: {lendablePercent: 101}}}",
       {"spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
        "spec.limited: Forbidden: must be nil if the type is not Limited",
        "spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"}},
      {kLevel, "{metadata: {name: a}, spec: {type: Limited, exempt: {}}}",
       {"spec.exempt: Forbidden: must be nil if the type is Limited",
        "spec.limited: Required value: must not be empty when type is Limited"}},
      {kLevel,
       "{metadata: {name: a}, spec: {type: Limited, limited: {nominalConcurrencyShares: -1, "
       "limitResponse: {type: Queue, queuing: {queues: 64, handSize: 11, queueLengthLimit: -1}}, "
       "borrowingLimitPercent: -1}}}",
       {"spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
        "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 11: required entropy bits of "
        "deckSize 64 and handSize 11 should not be greater than 60",
        "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative "
        "integer"}},
      {kLevel, "{metadata: {name: a}, spec: {type: Limited, limited: {}}}",
       {"spec.limited.limitResponse.type: Required value"}},
  });
}

TEST(ValidateFlowControl, FixesWhatEveryClusterHas) {
  ExpectFaults(std::vector<NewCase>{
      {kLevel, "{metadata: {name: exempt}, spec: {type: Exempt, exempt: {lendablePercent: 7}}}", {}},
      {kLevel,
       "{metadata: {name: catch-all}, spec: {type: Limited, limited: {nominalConcurrencyShares: 6, "
       "limitResponse: {type: Reject}}}}",
       {"spec: Invalid value: {\"Type\":\"Limited\",\"Limited\":{\"NominalConcurrencyShares\":6,"
        "\"LimitResponse\":{\"Type\":\"Reject\",\"Queuing\":null},\"LendablePercent\":0,"
        "\"BorrowingLimitPercent\":null},\"Exempt\":null}: spec of 'catch-all' must equal the fixed "
        "value"}},
      {kFlow, "{metadata: {name: exempt}, spec: {matchingPrecedence: 1, priorityLevelConfiguration: {name: exempt}}}",
       {"spec: Invalid value: {\"PriorityLevelConfiguration\":{\"Name\":\"exempt\"},"
        "\"MatchingPrecedence\":1,\"DistinguisherMethod\":null,\"Rules\":null}: spec of 'exempt' must "
        "equal the fixed value"}},
  });
  for (const char* name : {"exempt", "catch-all"}) {
    for (const GroupVersionKind& gvk : {kFlow, kLevel}) {
      const Json object = {{"metadata", {{"name", name}}}, {"spec", MandatoryFlowSpec(gvk.kind, name)}};
      EXPECT_EQ(FaultsOf(gvk, nullptr, object.dump().c_str()), std::vector<std::string>()) << name;
    }
  }
}

TEST(ValidateFlowControl, ChecksConditions) {
  EXPECT_EQ(FaultsOf(kFlow, "{metadata: {name: a}}",
                     "{metadata: {name: a}, status: {conditions: [{type: x}, {type: x}, {}]}}", "status"),
            (std::vector<std::string>{"status.conditions[1].type: Duplicate value: \"x\"",
                                      "status.conditions[2].type: Required value"}));
}

}  // namespace
}  // namespace mailroom::openapi
