#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kQuota = {"", "v1", "ResourceQuota"};
const GroupVersionKind kLimits = {"", "v1", "LimitRange"};
const GroupVersionKind kBudget = {"policy", "v1", "PodDisruptionBudget"};

TEST(ValidateLimits, Quotas) {
  ExpectFaults(std::vector<NewCase>{
      {kQuota,
       "{spec: {hard: {pods: '1', cpu: 500m, requests.nvidia.com/gpu: '1', count/deployments.apps: "
       "'2', hugepages-2Mi: 2Mi, requests.hugepages-2Mi: 2Mi, "
       "gold.storageclass.storage.k8s.io/requests.storage: 1Gi}}}",
       {}},
      {kQuota, "{spec: {}}", {}},
      {kQuota,
       "{spec: {hard: {foo: '1'}}}",
       {"spec.hard[foo]: Invalid value: \"foo\": must be a standard resource type or fully "
        "qualified",
        "spec.hard[foo]: Invalid value: \"foo\": must be a standard resource for quota"}},
      {kQuota,
       "{spec: {hard: {'a b': '1'}}}",
       {"spec.hard[a b]: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.hard[a b]: Invalid value: \"a b\": must be a standard resource for quota"}},
      {kQuota,
       "{spec: {hard: {storage: '1'}}}",
       {"spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota"}},
      {kQuota,
       "{spec: {hard: {count/deployments.apps: 500m}}}",
       {"spec.hard[count/deployments.apps]: Invalid value: \"500m\": must be an integer"}},
      {kQuota,
       "{spec: {hard: {pods: '-1'}}}",
       {"spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {kQuota,
       "{spec: {hard: {pods: 500m}}}",
       {"spec.hard[pods]: Invalid value: \"500m\": must be an integer"}},
      {kQuota,
       "{spec: {hard: {pods: -500m}}}",
       {"spec.hard[pods]: Invalid value: \"-500m\": must be greater than or equal to 0",
        "spec.hard[pods]: Invalid value: \"-500m\": must be an integer"}},
      {kQuota,
       "{spec: {hard: {example.com/gpu: 1500m}}}",
       {"spec.hard[example.com/gpu]: Invalid value: \"1500m\": must be an integer"}},
      {kQuota,
       "{spec: {hard: {cpu: '-1'}}}",
       {"spec.hard[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {kQuota, "{spec: {hard: {requests.nvidia.com/gpu: 500m}}}", {}},
      {kQuota, "{spec: {hard: {kubernetes.io/x: 500m}}}", {}},
      {kQuota,
       "{spec: {hard: {pods: '1', services: '2'}, scopes: [BestEffort, NotBestEffort]}}",
       {"spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: unsupported scope applied "
        "to resource",
        "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: unsupported scope applied "
        "to resource",
        "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes"}},
      {kQuota,
       "{spec: {hard: {pods: '1'}, scopes: [Terminating, NotTerminating, Odd]}}",
       {"spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\",\"Odd\"]: unsupported "
        "scope",
        "spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\",\"Odd\"]: conflicting "
        "scopes"}},
      {kQuota,
       "{spec: {hard: {cpu: '1', persistentvolumeclaims: '1'}, scopes: [BestEffort, PriorityClass, "
       "VolumeAttributesClass]}}",
       {"spec.scopes: Invalid value: [\"BestEffort\",\"PriorityClass\",\"VolumeAttributesClass\"]: "
        "unsupported scope applied to resource",
        "spec.scopes: Invalid value: [\"BestEffort\",\"PriorityClass\",\"VolumeAttributesClass\"]: "
        "unsupported scope applied to resource",
        "spec.scopes: Invalid value: [\"BestEffort\",\"PriorityClass\",\"VolumeAttributesClass\"]: "
        "unsupported scope applied to resource",
        "spec.scopes: Invalid value: [\"BestEffort\",\"PriorityClass\",\"VolumeAttributesClass\"]: "
        "unsupported scope applied to resource"}},
      {kQuota,
       "{spec: {scopeSelector: {matchExpressions: [{scopeName: Odd, operator: In, values: [a]}]}}}",
       {"spec.scopeSelector.matchExpressions.scopeName: Invalid value: \"Odd\": unsupported "
        "scope"}},
      {kQuota,
       "{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In}, "
       "{scopeName: PriorityClass, operator: Exists, values: [a]}, {scopeName: PriorityClass, "
       "operator: Odd}]}}}",
       {"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value "
        "when `operator` is 'In' or 'NotIn' for scope selector",
        "spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when "
        "`operator` is 'Exist' or 'DoesNotExist' for scope selector",
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"Odd\": not a valid "
        "selector operator"}},
      {kQuota,
       "{spec: {hard: {services: '1'}, scopeSelector: {matchExpressions: [{scopeName: BestEffort, "
       "operator: In, values: [a]}, {scopeName: NotBestEffort, operator: Exists}]}}}",
       {"spec.scopeSelector.matchExpressions: Invalid value: "
        "{\"MatchExpressions\":[{\"ScopeName\":\"BestEffort\",\"Operator\":\"In\",\"Values\":["
        "\"a\"]},{\"ScopeName\":\"NotBestEffort\",\"Operator\":\"Exists\",\"Values\":null}]}: "
        "unsupported scope applied to resource",
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' "
        "when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
        "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
        "ResourceQuotaScopeCrossNamespacePodAffinity",
        "spec.scopeSelector.matchExpressions: Invalid value: "
        "{\"MatchExpressions\":[{\"ScopeName\":\"BestEffort\",\"Operator\":\"In\",\"Values\":["
        "\"a\"]},{\"ScopeName\":\"NotBestEffort\",\"Operator\":\"Exists\",\"Values\":null}]}: "
        "unsupported scope applied to resource",
        "spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes"}},
      {kQuota,
       "{spec: {hard: {services: '1'}, scopes: [BestEffort], scopeSelector: {matchExpressions: "
       "[{scopeName: Terminating, operator: Exists}, {scopeName: NotTerminating, operator: "
       "Exists}]}}}",
       {"spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource",
        "spec.scopeSelector.matchExpressions: Invalid value: "
        "{\"MatchExpressions\":[{\"ScopeName\":\"Terminating\",\"Operator\":\"Exists\",\"Values\":"
        "null},{\"ScopeName\":\"NotTerminating\",\"Operator\":\"Exists\",\"Values\":null}]}: "
        "unsupported scope applied to resource",
        "spec.scopeSelector.matchExpressions: Invalid value: "
        "{\"MatchExpressions\":[{\"ScopeName\":\"Terminating\",\"Operator\":\"Exists\",\"Values\":"
        "null},{\"ScopeName\":\"NotTerminating\",\"Operator\":\"Exists\",\"Values\":null}]}: "
        "unsupported scope applied to resource",
        "spec.scopeSelector.matchExpressions: Invalid value: [\"BestEffort\"]: conflicting "
        "scopes"}},
      {kQuota,
       "{spec: {scopeSelector: {matchExpressions: [{}]}}}",
       {"spec.scopeSelector.matchExpressions.scopeName: Invalid value: \"\": unsupported scope",
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"\": not a valid selector "
        "operator"}},
      {kQuota, "{spec: {hard: {pods: 10P, memory: 10P}}}", {}},
  });
}

TEST(ValidateLimits, QuotasChanges) {
  ExpectFaults(std::vector<ChangeCase>{
      {kQuota,
       "{spec: {scopes: [BestEffort]}}",
       "{spec: {scopes: [NotBestEffort]}}",
       {"spec.scopes: Invalid value: [\"NotBestEffort\"]: field is immutable"}},
      {kQuota,
       "{spec: {scopes: [BestEffort]}}",
       "{spec: {}}",
       {"spec.scopes: Invalid value: null: field is immutable"}},
      {kQuota,
       "{spec: {scopes: [Terminating, PriorityClass]}}",
       "{spec: {scopes: [PriorityClass, Terminating]}}",
       {}},
      {kQuota,
       "{spec: {}}",
       "{spec: {hard: {foo: '1'}}}",
       {"spec.hard[foo]: Invalid value: \"foo\": must be a standard resource type or fully "
        "qualified",
        "spec.hard[foo]: Invalid value: \"foo\": must be a standard resource for quota"}},
  });
}

TEST(ValidateLimits, LimitRanges) {
  ExpectFaults(std::vector<NewCase>{
      {kLimits,
       "{spec: {limits: [{type: Container, max: {cpu: '2'}, min: {cpu: 100m}, default: {cpu: "
       "300m}, defaultRequest: {cpu: 200m}, maxLimitRequestRatio: {cpu: '10'}}, {type: Pod, max: "
       "{memory: 1Gi}}, {type: PersistentVolumeClaim, max: {storage: 1Gi}}, {type: example.com/x, "
       "max: {storage: 1Gi}}]}}",
       {}},
      {kLimits,
       "{spec: {limits: [{}]}}",
       {"spec.limits[0].type: Invalid value: \"\": name part must be non-empty",
        "spec.limits[0].type: Invalid value: \"\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {kLimits,
       "{spec: {limits: [{type: Odd}, {type: 'a b'}, {type: Pod}, {type: Pod}]}}",
       {"spec.limits[0].type: Invalid value: \"Odd\": must be a standard limit type or fully "
        "qualified",
        "spec.limits[1].type: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.limits[3].type: Duplicate value: \"Pod\""}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {foo: '1'}}]}}",
       {"spec.limits[0].max[foo]: Invalid value: \"foo\": must be a standard resource type or "
        "fully qualified",
        "spec.limits[0].max[foo]: Invalid value: \"foo\": must be a standard resource for "
        "containers",
        "spec.limits[0].default[foo]: Invalid value: \"foo\": must be a standard resource type or "
        "fully qualified",
        "spec.limits[0].default[foo]: Invalid value: \"foo\": must be a standard resource for "
        "containers",
        "spec.limits[0].defaultRequest[foo]: Invalid value: \"foo\": must be a standard resource "
        "type or fully qualified",
        "spec.limits[0].defaultRequest[foo]: Invalid value: \"foo\": must be a standard resource "
        "for containers"}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {storage: '1'}}, {type: PersistentVolumeClaim, "
       "max: {foo: '1'}, min: {storage: '1'}}]}}",
       {"spec.limits[0].max[storage]: Invalid value: \"storage\": must be a standard resource for "
        "containers",
        "spec.limits[0].default[storage]: Invalid value: \"storage\": must be a standard resource "
        "for containers",
        "spec.limits[0].defaultRequest[storage]: Invalid value: \"storage\": must be a standard "
        "resource for containers",
        "spec.limits[1].max[foo]: Invalid value: \"foo\": must be a standard resource type or "
        "fully qualified"}},
      {kLimits,
       "{spec: {limits: [{type: Container, min: {'a b': '1'}}]}}",
       {"spec.limits[0].min[a b]: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.limits[0].min[a b]: Invalid value: \"a b\": must be a standard resource for "
        "containers",
        "spec.limits[0].defaultRequest[a b]: Invalid value: \"a b\": name part must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.limits[0].defaultRequest[a b]: Invalid value: \"a b\": must be a standard resource "
        "for containers"}},
      {kLimits,
       "{spec: {limits: [{type: Container, min: {requests.a.com/x: '1', kubernetes.io/y: '1', "
       "hugepages-2Mi: 1Mi}}]}}",
       {"spec.limits[0].min[requests.a.com/x]: Invalid value: \"requests.a.com/x\": doesn't follow "
        "extended resource name standard",
        "spec.limits[0].defaultRequest[requests.a.com/x]: Invalid value: \"requests.a.com/x\": "
        "doesn't follow extended resource name standard"}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {cpu: '1'}, min: {cpu: '2'}}]}}",
       {"spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
        "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min value 2 is greater than "
        "default request value 1",
        "spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 is greater than default "
        "value 1"}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {cpu: '1'}, min: {cpu: 500m}, default: {cpu: '2'}, "
       "defaultRequest: {cpu: '3'}}]}}",
       {"spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": default request value 3 is "
        "greater than max value 1",
        "spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": default request value 3 is "
        "greater than default limit value 2",
        "spec.limits[0].default[cpu]: Invalid value: \"1\": default value 2 is greater than max "
        "value 1"}},
      {kLimits,
       "{spec: {limits: [{type: Container, min: {cpu: '1'}, default: {cpu: 500m}, defaultRequest: "
       "{cpu: 200m}}]}}",
       {"spec.limits[0].defaultRequest[cpu]: Invalid value: \"200m\": min value 1 is greater than "
        "default request value 200m",
        "spec.limits[0].default[cpu]: Invalid value: \"1\": min value 1 is greater than default "
        "value 500m"}},
      {kLimits,
       "{spec: {limits: [{type: Pod, default: {cpu: 500m}, defaultRequest: {cpu: 200m, foo: "
       "'1'}}]}}",
       {"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
        "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"}},
      {kLimits,
       "{spec: {limits: [{type: PersistentVolumeClaim}]}}",
       {"spec.limits[0].limits: Required value: either minimum or maximum storage value is "
        "required, but neither was provided"}},
      {kLimits,
       "{spec: {limits: [{type: Container, maxLimitRequestRatio: {cpu: 500m}}]}}",
       {"spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less "
        "than 1"}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {cpu: '2'}, min: {cpu: '1'}, maxLimitRequestRatio: "
       "{cpu: '3'}}]}}",
       {"spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"3\": ratio 3 is greater than "
        "max/min = 2.000000"}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {memory: 1Gi}, min: {memory: 300Mi}, "
       "maxLimitRequestRatio: {memory: '3.5'}}]}}",
       {"spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: \"3500m\": ratio 3500m is "
        "greater than max/min = 3.413333"}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {memory: '0'}, min: {memory: '0'}, "
       "maxLimitRequestRatio: {memory: '3.5'}}]}}",
       {}},
      {kLimits,
       "{spec: {limits: [{type: Container, max: {memory: '1'}, min: {memory: '0'}, "
       "maxLimitRequestRatio: {memory: '3.5'}}]}}",
       {}},
      {kLimits,
       "{spec: {limits: [{type: Container, default: {nvidia.com/gpu: '2'}, defaultRequest: "
       "{nvidia.com/gpu: '1'}}]}}",
       {"spec.limits[0].defaultRequest[nvidia.com/gpu]: Invalid value: \"1\": default value 2 must "
        "equal to defaultRequest value 1 in nvidia.com/gpu"}},
      {kLimits,
       "{spec: {limits: [{type: Container, default: {hugepages-2Mi: 4Mi}, defaultRequest: "
       "{hugepages-2Mi: 2Mi}}]}}",
       {"spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: \"2Mi\": default value 4Mi "
        "must equal to defaultRequest value 2Mi in hugepages-2Mi"}},
      {kLimits, "{spec: {limits: []}}", {}},
      {kLimits, "{spec: {}}", {}},
  });
}

TEST(ValidateLimits, LimitRangesChanges) {
  ExpectFaults(std::vector<ChangeCase>{
      {kLimits,
       "{spec: {limits: []}}",
       "{spec: {limits: [{type: Odd}]}}",
       {"spec.limits[0].type: Invalid value: \"Odd\": must be a standard limit type or fully "
        "qualified"}},
  });
}

TEST(ValidateLimits, DisruptionBudgets) {
  ExpectFaults(std::vector<NewCase>{
      {kBudget, "{spec: {}}", {}},
      {kBudget, "{spec: {minAvailable: 1}}", {}},
      {kBudget, "{spec: {minAvailable: 100%}}", {}},
      {kBudget, "{spec: {maxUnavailable: 0%}}", {}},
      {kBudget,
       "{spec: {minAvailable: '50'}}",
       {"spec.minAvailable: Invalid value: \"50\": a valid percent string must be a numeric string "
        "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
        "'[0-9]+%')"}},
      {kBudget,
       "{spec: {minAvailable: 150%}}",
       {"spec.minAvailable: Invalid value: \"150%\": must not be greater than 100%"}},
      {kBudget,
       "{spec: {maxUnavailable: -1}}",
       {"spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
      {kBudget,
       "{spec: {maxUnavailable: 101%}}",
       {"spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%"}},
      {kBudget,
       "{spec: {maxUnavailable: '-5%'}}",
       {"spec.maxUnavailable: Invalid value: \"-5%\": a valid percent string must be a numeric "
        "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
        "'[0-9]+%')"}},
      {kBudget,
       "{spec: {maxUnavailable: ''}}",
       {"spec.maxUnavailable: Invalid value: \"\": a valid percent string must be a numeric string "
        "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
        "'[0-9]+%')"}},
      {kBudget,
       "{spec: {maxUnavailable: 'x'}}",
       {"spec.maxUnavailable: Invalid value: \"x\": a valid percent string must be a numeric "
        "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
        "'[0-9]+%')"}},
      {kBudget,
       "{spec: {maxUnavailable: '99999999999999999999%'}}",
       {"spec.maxUnavailable: Invalid value: \"99999999999999999999%\": must not be greater than "
        "100%"}},
      {kBudget, "{spec: {maxUnavailable: '050%'}}", {}},
      {kBudget,
       "{spec: {maxUnavailable: '5 %'}}",
       {"spec.maxUnavailable: Invalid value: \"5 %\": a valid percent string must be a numeric "
        "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
        "'[0-9]+%')"}},
      {kBudget,
       "{spec: {minAvailable: 1, maxUnavailable: 1}}",
       {"spec: Invalid value: "
        "{\"MinAvailable\":1,\"Selector\":null,\"MaxUnavailable\":1,\"UnhealthyPodEvictionPolicy\":"
        "null}: minAvailable and maxUnavailable cannot be both set"}},
      {kBudget,
       "{spec: {minAvailable: 1, maxUnavailable: 10%, selector: {matchLabels: {a: b}, "
       "matchExpressions: [{key: a, operator: In, values: [b]}]}, unhealthyPodEvictionPolicy: "
       "AlwaysAllow}}",
       {"spec: Invalid value: "
        "{\"MinAvailable\":1,\"Selector\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{"
        "\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\"]}]},\"MaxUnavailable\":\"10%\","
        "\"UnhealthyPodEvictionPolicy\":\"AlwaysAllow\"}: minAvailable and maxUnavailable cannot "
        "be both set"}},
      {kBudget,
       "{spec: {minAvailable: 150%, maxUnavailable: '5', selector: {}}}",
       {"spec: Invalid value: "
        "{\"MinAvailable\":\"150%\",\"Selector\":{},\"MaxUnavailable\":\"5\","
        "\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be both set",
        "spec.minAvailable: Invalid value: \"150%\": must not be greater than 100%",
        "spec.maxUnavailable: Invalid value: \"5\": a valid percent string must be a numeric "
        "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
        "'[0-9]+%')"}},
      {kBudget,
       "{spec: {selector: {matchLabels: {a: 'b c'}, matchExpressions: [{key: a, operator: In, "
       "values: ['x y']}, {key: b, operator: In}]}}}",
       {"spec.selector.matchLabels: Invalid value: \"b c\": a valid label must be an empty string "
        "or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "spec.selector.matchExpressions[0].values[0]: Invalid value: \"x y\": a valid label must "
        "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
        "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "spec.selector.matchExpressions[1].values: Required value: must be specified when "
        "`operator` is 'In' or 'NotIn'"}},
      {kBudget,
       "{spec: {unhealthyPodEvictionPolicy: Odd}}",
       {"spec.unhealthyPodEvictionPolicy: Unsupported value: \"Odd\": supported values: "
        "\"AlwaysAllow\", \"IfHealthyBudget\""}},
      {kBudget,
       "{spec: {unhealthyPodEvictionPolicy: ''}}",
       {"spec.unhealthyPodEvictionPolicy: Unsupported value: \"\": supported values: "
        "\"AlwaysAllow\", \"IfHealthyBudget\""}},
  });
}

TEST(ValidateLimits, WrittenStatus) {
  EXPECT_EQ(FaultsOf(kQuota, "{}",
                     "{spec: {hard: {foo: '1'}}, status: {hard: {pods: 500m}, used: {pods: '-1'}}}",
                     "status"),
            (std::vector<std::string>{
                "status.hard[pods]: Invalid value: \"500m\": must be an integer",
                "status.used[pods]: Invalid value: \"-1\": must be greater than or equal to 0"}));
  EXPECT_EQ(
      FaultsOf(
          kBudget, "{}",
          "{spec: {minAvailable: 150%}, status: {disruptionsAllowed: -1, conditions: [{type: A, "
          "status: Odd, "
          "observedGeneration: -1, reason: 'x y'}, {type: A, status: 'True', lastTransitionTime: "
          "'2026-01-01T00:00:00Z'}]}}",
          "status"),
      (std::vector<std::string>{
          "status.conditions[0].status: Unsupported value: \"Odd\": supported values: \"False\", "
          "\"True\", \"Unknown\"",
          "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or "
          "equal to zero",
          "status.conditions[0].lastTransitionTime: Required value",
          "status.conditions[0].reason: Invalid value: \"x y\": a condition reason must start with "
          "alphabetic character, optionally followed by a string of alphanumeric characters or "
          "'_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or "
          "'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for "
          "validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
          "status.conditions[1].type: Duplicate value: \"A\"",
          "status.conditions[1].reason: Required value",
          "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"}));
}

TEST(ValidateLimits, ASelectorOfBeforeMayStay) {
  const char* old =
      "{spec: {selector: {matchExpressions: [{key: a, operator: In, values: ['x y']}]}}}";
  EXPECT_EQ(FaultsOf(kBudget, old, old), std::vector<std::string>());
}

}  // namespace
}  // namespace mailroom::openapi
