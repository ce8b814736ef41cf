#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kFlow = {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"};
const GroupVersionKind kPolicy = {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"};
const GroupVersionKind kService = {"apiregistration.k8s.io", "v1", "APIService"};
const GroupVersionKind kAttachment = {"storage.k8s.io", "v1", "VolumeAttachment"};
const GroupVersionKind kClass = {"resource.k8s.io", "v1", "DeviceClass"};
const GroupVersionKind kSlice = {"resource.k8s.io", "v1", "ResourceSlice"};
const GroupVersionKind kRange = {"networking.k8s.io", "v1", "ServiceCIDR"};
const GroupVersionKind kDriver = {"storage.k8s.io", "v1", "CSIDriver"};
const GroupVersionKind kNodeDrivers = {"storage.k8s.io", "v1", "CSINode"};
const GroupVersionKind kHooks = {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"};
const GroupVersionKind kClaim = {"", "v1", "PersistentVolumeClaim"};
const GroupVersionKind kIngressClass = {"networking.k8s.io", "v1", "IngressClass"};

TEST(ValidateChanges, OfWhatIsWanted) {
  ExpectFaults(std::vector<ChangeCase>{
      {kClass,
       "{spec: {}}",
       "{spec: {selectors: [{cel: {expression: x}}], config: [{}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"x\": compilation failed: ERROR: "
        "<input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^",
        "spec.config[0].opaque: Required value"}},
      {kSlice,
       "{spec: {driver: d, pool: {name: m, resourceSliceCount: 1}, nodeName: a}}",
       "{spec: {driver: e, pool: {name: k, resourceSliceCount: 0}, allNodes: true}}",
       {"spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        "spec.pool.name: Invalid value: \"k\": field is immutable",
        "spec.driver: Invalid value: \"e\": field is immutable",
        "spec.nodeName: Invalid value: null: field is immutable"}},
      {kDriver,
       "{spec: {}}",
       "{spec: {attachRequired: false, fsGroupPolicy: '', volumeLifecycleModes: [Ephemeral, X]}}",
       {"spec.fsGroupPolicy: Unsupported value: \"\": supported values: \"File\", \"None\", "
        "\"ReadWriteOnceWithFSType\"",
        "spec.volumeLifecycleModes: Unsupported value: \"X\": supported values: "
        "\"Persistent\", \"Ephemeral\"",
        "spec.attachedRequired: Invalid value: false: field is immutable",
        "spec.volumeLifecycleModes: Invalid value: [\"Ephemeral\",\"X\"]: field is immutable"}},
      {kNodeDrivers,
       "{spec: {drivers: [{name: a, nodeID: x}, {name: b, nodeID: x}]}}",
       "{spec: {drivers: [{name: b, nodeID: z}, {name: a, nodeID: '', allocatable: {count: "
       "-1}}]}}",
       {"spec.drivers[1].nodeID: Required value",
        "spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal "
        "to 0",
        "spec.drivers: Invalid value: {\"Name\":\"a\",\"NodeID\":\"\",\"TopologyKeys\":null,"
        "\"Allocatable\":null}: field is immutable",
        "spec.drivers: Invalid value: {\"Name\":\"b\",\"NodeID\":\"z\",\"TopologyKeys\":null,"
        "\"Allocatable\":null}: field is immutable"}},
      {kRange,
       "{spec: {cidrs: [10.1.0.0/24]}}",
       "{spec: {cidrs: ['fd00::/64', 10.1.0.0/24]}}",
       {"spec.cidrs[0]: Invalid value: \"fd00::/64\": field is immutable"}},
      {kRange,
       "{spec: {cidrs: [10.1.0.0/24]}}",
       "{spec: {cidrs: []}}",
       {"spec.cidrs: Invalid value: []: field is immutable"}},
      {kRange,
       "{spec: {cidrs: [10.1.0.0/24]}}",
       "{spec: {cidrs: [10.1.0.0/24, 10.2.0.0/24]}}",
       {"spec.cidrs: Invalid value: [\"10.1.0.0/24\",\"10.2.0.0/24\"]: may specify no more "
        "than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"}},
      {kIngressClass,
       "{spec: {controller: a.b/c}}",
       "{spec: {controller: d, parameters: {kind: a, name: b, scope: Namespace}}}",
       {"spec.controller: Invalid value: \"d\": field is immutable",
        "spec.controller: Invalid value: \"d\": must be a domain-prefixed path (such as "
        "\"acme.io/foo\")",
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"}},
      {kService,
       "{metadata: {name: v1.h1.b}, spec: {group: h1.b, version: v1, groupPriorityMinimum: 1, "
       "versionPriority: 1, service: {name: a, namespace: b}}}",
       "{metadata: {name: v1.h1.b}, spec: {group: h1.c, version: v2, groupPriorityMinimum: 1, "
       "versionPriority: 1}}",
       {}},
      {kHooks,
       "{webhooks: []}",
       "{webhooks: [{name: a.b.c, sideEffects: Some, admissionReviewVersions: [v3], "
       "clientConfig: {url: 'https://a'}}]}",
       {"webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", "
        "\"NoneOnDryRun\"",
        "webhooks[0].admissionReviewVersions: Invalid value: [\"v3\"]: must include at least "
        "one of v1, v1beta1"}},
      {kPolicy,
       "{metadata: {name: h1p}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: 'true'}]}}",
       "{metadata: {name: h1p}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: '1'}]}}",
       {"spec.validations[0].expression: Invalid value: \"1\": must evaluate to bool but got "
        "int"}},
      {kAttachment,
       "{spec: {attacher: a, nodeName: w, source: {persistentVolumeName: a}}}",
       "{spec: {attacher: A_, nodeName: w, source: {persistentVolumeName: a}}}",
       {"spec.attacher: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec: Invalid value: {\"Attacher\":\"A_\",\"Source\":{\"PersistentVolumeName\":\"a\","
        "\"InlineVolumeSpec\":null},\"NodeName\":\"w\"}: field is immutable"}},
  });
}

TEST(ValidateChanges, OfWhatIs) {
  EXPECT_EQ(FaultsOf(kPolicy,
                     "{metadata: {name: h1p}, spec: {matchConstraints: {resourceRules: "
                     "[{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: "
                     "[pods]}]}, validations: [{expression: 'true'}]}}",
                     "{metadata: {name: h1p}, spec: {matchConstraints: {resourceRules: "
                     "[{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: "
                     "[pods]}]}, validations: [{expression: 'true'}]}, status: {typeChecking: "
                     "{expressionWarnings: [{}, {warning: a, fieldRef: ' '}]}, conditions: "
                     "[{type: A, status: X, reason: 'a b', message: m}, {type: A, status: "
                     "'True', reason: R, observedGeneration: -1, lastTransitionTime: "
                     "'2020-01-01T00:00:00Z'}]}}",
                     "status"),
            (std::vector<std::string>{"status.typeChecking.expressionWarnings[0].warning: Required value",
                "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
                "status.typeChecking.expressionWarnings[1].fieldRef: Required value",
                "status.conditions[0].status: Unsupported value: \"X\": supported values: "
                "\"False\", \"True\", \"Unknown\"",
                "status.conditions[0].lastTransitionTime: Required value",
                "status.conditions[0].reason: Invalid value: \"a b\": a condition reason must "
                "start with alphabetic character, optionally followed by a string of "
                "alphanumeric characters or '_,:', and must end with an alphanumeric character "
                "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  "
                "or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,"
                ":]*[A-Za-z0-9_])?')",
                "status.conditions[1].type: Duplicate value: \"A\"",
                "status.conditions[1].observedGeneration: Invalid value: -1: must be greater "
                "than or equal to zero"}));
  EXPECT_EQ(FaultsOf(kService,
                     "{metadata: {name: v1.h1.b}, spec: {group: h1.b, version: v1, "
                     "groupPriorityMinimum: 1, versionPriority: 1, service: {name: a, "
                     "namespace: b}}}",
                     "{metadata: {name: v1.h1.b}, spec: {group: h1.b, version: v1, "
                     "groupPriorityMinimum: 1, versionPriority: 1, service: {name: a, "
                     "namespace: b}}, status: {conditions: [{type: A, status: X}, {type: A}]}}",
                     "status"),
            (std::vector<std::string>{"status.conditions[0].status: Unsupported value: \"X\": supported values: "
                "\"True\", \"False\", \"Unknown\"",
                "status.conditions[1].status: Unsupported value: \"\": supported values: "
                "\"True\", \"False\", \"Unknown\""}));
  EXPECT_EQ(FaultsOf(kAttachment,
                     "{spec: {attacher: a, nodeName: w, source: {persistentVolumeName: a}}}",
                     "{spec: {attacher: a, nodeName: w, source: {persistentVolumeName: a}}, "
                     "status: {attachError: {errorCode: -1}, detachError: {errorCode: -2}}}",
                     "status"),
            (std::vector<std::string>{"status.attachError.errorCode: Invalid value: -1: must be between 0 and "
                "2147483647, inclusive",
                "status.detachError.errorCode: Invalid value: -2: must be between 0 and "
                "2147483647, inclusive"}));
  EXPECT_EQ(FaultsOf(kFlow,
                     "{metadata: {name: h1f}, spec: {priorityLevelConfiguration: {name: b}}}",
                     "{metadata: {name: h1f}, spec: {priorityLevelConfiguration: {name: b}}, "
                     "status: {conditions: [{type: a}, {type: a}, {}]}}",
                     "status"),
            (std::vector<std::string>{"status.conditions[1].type: Duplicate value: \"a\"",
                "status.conditions[2].type: Required value"}));
  EXPECT_EQ(FaultsOf(kRange,
                     "{spec: {cidrs: [10.1.0.0/24]}}",
                     "{spec: {cidrs: [10.1.0.0/24]}, status: {conditions: [{type: A, status: "
                     "X}]}}",
                     "status"),
            (std::vector<std::string>{}));
}

TEST(ValidateChanges, OfHowAnAmountIsWritten) {
  const auto claim = [](const std::string& size) {
    return "{spec: {accessModes: [ReadWriteOnce], resources: {limits: {storage: 2Gi}, requests: {storage: " + size +
           "}}}}";
  };
  const std::string bytes = claim("'1073741824'"), same = claim("1Gi"), more = claim("'1073741825'");
  ExpectFaults(std::vector<ChangeCase>{
      {kClaim, bytes.c_str(), same.c_str(), {}},
      {kClaim, same.c_str(), bytes.c_str(), {}},
      {kClaim, same.c_str(), more.c_str(),
       {"spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims"}},
  });
}

// As they are in stores that were written before missing members were shown as null.
TEST(ValidateChanges, OfWhatSaysNothing) {
  const std::string claim = "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}, dataSource: "
                            "{kind: PersistentVolumeClaim, name: a}}";
  const std::string pod = "containers: [{name: c, image: i}]";
  const struct {
    GroupVersionKind gvk;
    std::string object;
    const char* silent;  // the pointer to what says nothing
  } cases[] = {
      {{"", "v1", "PersistentVolume"},
       "{spec: {capacity: {storage: 1}, accessModes: [ReadWriteOnce], azureFile: {secretName: a, shareName: b}}}",
       "/spec/azureFile/secretNamespace"},
      {{"", "v1", "Pod"},
       "{spec: {volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: " + claim + "}}}], " + pod + "}}",
       "/spec/volumes/0/ephemeral/volumeClaimTemplate/spec/dataSource/apiGroup"},
      {{"apps", "v1", "StatefulSet"},
       "{spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + pod +
           "}}, volumeClaimTemplates: [{metadata: {name: v}, spec: " + claim + "}]}}",
       "/spec/volumeClaimTemplates/0/spec/dataSource/apiGroup"},
  };
  for (const auto& c : cases) {
    ResourceType type;
    type.gvk = c.gvk;
    type.schema = BuiltinKind(c.gvk);
    Json object = *ParseYaml(c.object);
    ApplyDefaults(type, object);
    const Json::json_pointer place(c.silent);
    ASSERT_TRUE(object.at(place).is_null()) << c.object;
    Json before = object;
    before.at(place.parent_pointer()).erase(place.back());
    EXPECT_TRUE(ValidateObject(type, object, &before).empty()) << c.object;
    EXPECT_TRUE(ValidateObject(type, before, &object).empty()) << c.object;
    before.at(place.parent_pointer())[place.back()] = "a";
    EXPECT_FALSE(ValidateObject(type, object, &before).empty()) << c.object;
  }
}

}  // namespace
}  // namespace mailroom::openapi
