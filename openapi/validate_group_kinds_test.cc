#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kClass = {"storage.k8s.io", "v1", "StorageClass"};
const GroupVersionKind kAttributes = {"storage.k8s.io", "v1", "VolumeAttributesClass"};
const GroupVersionKind kDriver = {"storage.k8s.io", "v1", "CSIDriver"};
const GroupVersionKind kNodeDrivers = {"storage.k8s.io", "v1", "CSINode"};
const GroupVersionKind kCapacity = {"storage.k8s.io", "v1", "CSIStorageCapacity"};
const GroupVersionKind kAttachment = {"storage.k8s.io", "v1", "VolumeAttachment"};
const GroupVersionKind kRuntime = {"node.k8s.io", "v1", "RuntimeClass"};
const GroupVersionKind kIngressClass = {"networking.k8s.io", "v1", "IngressClass"};
const GroupVersionKind kAddress = {"networking.k8s.io", "v1", "IPAddress"};
const GroupVersionKind kRange = {"networking.k8s.io", "v1", "ServiceCIDR"};
const GroupVersionKind kPriority = {"scheduling.k8s.io", "v1", "PriorityClass"};
const GroupVersionKind kService = {"apiregistration.k8s.io", "v1", "APIService"};

TEST(ValidateGroupKinds, ChecksStorage) {
  ExpectFaults(std::vector<NewCase>{
      {kClass,
       "{provisioner: '', volumeBindingMode: X, reclaimPolicy: Z}",
       {"provisioner: Required value",
        "reclaimPolicy: Unsupported value: \"Z\": supported values: \"Delete\", \"Retain\"",
        "volumeBindingMode: Unsupported value: \"X\": supported values: \"Immediate\", "
        "\"WaitForFirstConsumer\""}},
      {kClass,
       "{provisioner: a, volumeBindingMode: ''}",
       {"volumeBindingMode: Unsupported value: \"\": supported values: \"Immediate\", "
        "\"WaitForFirstConsumer\""}},
      {kAttributes,
       "{parameters: {'': x}}",
       {"driverName: Required value",
        "parameters: Invalid value: \"\": field can not be empty."}},
      {kDriver,
       "{spec: {fsGroupPolicy: '', volumeLifecycleModes: [''], serviceAccountTokenInSecrets: "
       "true}}",
       {"spec.fsGroupPolicy: Unsupported value: \"\": supported values: \"File\", \"None\", "
        "\"ReadWriteOnceWithFSType\"",
        "spec.volumeLifecycleModes: Unsupported value: \"\": supported values: \"Persistent\", "
        "\"Ephemeral\"",
        "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets "
        "is set but no tokenRequests are specified"}},
      {kNodeDrivers,
       "{spec: {drivers: [{name: a, nodeID: ''}, {name: a, nodeID: x, topologyKeys: ['']}, "
       "{nodeID: x}]}}",
       {"spec.drivers[0].nodeID: Required value",
        "spec.drivers[1].name: Duplicate value: \"a\"",
        "spec.drivers[1]: Required value",
        "spec.drivers[1]: Invalid value: \"\": name part must be non-empty",
        "spec.drivers[1]: Invalid value: \"\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
        "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.drivers[2].name: Required value"}},
      {kCapacity,
       "{storageClassName: '', nodeTopology: {matchLabels: {'a b': c}}, capacity: '-1'}",
       {"nodeTopology.matchLabels: Invalid value: \"a b\": name part must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "storageClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "capacity: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {kAttachment,
       "{spec: {attacher: '', nodeName: '', source: {persistentVolumeName: ''}}}",
       {"spec.attacher: Required value",
        "spec.source.persistentVolumeName: Required value: must specify non empty "
        "persistentVolumeName",
        "spec.nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.source.persistentVolumeName: Invalid value: \"\": a lowercase RFC 1123 subdomain "
        "must consist of lower case alphanumeric characters, '-' or '.', and must start and "
        "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kAttachment,
       "{spec: {attacher: a, nodeName: b, source: {inlineVolumeSpec: {capacity: {storage: 1Gi}, "
       "claimRef: {name: x}, nodeAffinity: {}, storageClassName: a, volumeMode: Block, "
       "persistentVolumeReclaimPolicy: Delete}}}}",
       {"spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context "
        "of inline volumes",
        "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context "
        "of inline volumes",
        "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context "
        "of inline volumes",
        "spec.source.inlineVolumeSpec.accessModes: Required value",
        "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be "
        "Retain in the context of inline volumes",
        "spec.source.inlineVolumeSpec.nodeAffinity: Forbidden: may not be specified in the "
        "context of inline volumes",
        "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
        "spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the "
        "context of inline volumes",
        "spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other "
        "than Filesystem in the context of inline volumes"}},
      {kAttachment,
       "{spec: {attacher: a, nodeName: b, source: {inlineVolumeSpec: {accessModes: [X], csi: "
       "{}}}}}",
       {"spec.source.inlineVolumeSpec.accessModes: Unsupported value: \"X\": supported values: "
        "\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        "spec.source.inlineVolumeSpec.csi.driver: Required value",
        "spec.source.inlineVolumeSpec.csi.volumeHandle: Required value"}},
  });
  ExpectFaults(std::vector<ChangeCase>{
      {kClass,
       "{provisioner: a, parameters: {a: b}}",
       "{provisioner: b, parameters: {a: c}, reclaimPolicy: Retain, volumeBindingMode: "
       "WaitForFirstConsumer}",
       {"parameters: Invalid value: {\"a\":\"c\"}: field is immutable",
        "provisioner: Invalid value: \"b\": field is immutable",
        "reclaimPolicy: Invalid value: \"Retain\": field is immutable",
        "volumeBindingMode: Invalid value: \"WaitForFirstConsumer\": field is immutable"}},
      {kNodeDrivers,
       "{spec: {drivers: [{name: a, nodeID: x, allocatable: {count: 1}}]}}",
       "{spec: {drivers: [{name: a, nodeID: z, topologyKeys: [b]}]}}",
       {"spec.drivers: Invalid value: "
        "{\"Name\":\"a\",\"NodeID\":\"z\",\"TopologyKeys\":[\"b\"],\"Allocatable\":null}: "
        "field is immutable"}},
      {kCapacity,
       "{storageClassName: a, nodeTopology: {matchLabels: {a: b}}}",
       "{storageClassName: b, nodeTopology: {matchExpressions: [{key: a, operator: Exists}], "
       "matchLabels: {a: b}}}",
       {"nodeTopology: Invalid value: "
        "{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}: "
        "field is immutable",
        "storageClassName: Invalid value: \"b\": field is immutable"}},
  });
}

TEST(ValidateGroupKinds, ChecksOthers) {
  ExpectFaults(std::vector<NewCase>{
      {kRuntime,
       "{handler: ''}",
       {"handler: Required value"}},
      {kRuntime,
       "{handler: A, overhead: {podFixed: {cpu: '-1', foo: 1}}, scheduling: {nodeSelector: {'a "
       "b': c}, tolerations: [{operator: Gt, key: a, value: '1'}, {key: a}, {key: a}, {effect: "
       "X, operator: Exists}, {operator: Foo, key: b}]}}",
       {"handler: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case "
        "alphanumeric characters or '-', and must start and end with an alphanumeric character "
        "(e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
        "overhead.limits[foo]: Invalid value: \"foo\": must be a standard resource type or "
        "fully qualified",
        "overhead.limits[foo]: Invalid value: \"foo\": must be a standard resource for "
        "containers",
        "scheduling.nodeSelector: Invalid value: \"a b\": name part must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "scheduling.tolerations[0].operator: Unsupported value: \"Gt\": supported values: "
        "\"Equal\", \"Exists\", \"Lt\", \"Gt\"",
        "scheduling.tolerations[3].effect: Unsupported value: \"X\": supported values: "
        "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
        "scheduling.tolerations[4].operator: Unsupported value: \"Foo\": supported values: "
        "\"Equal\", \"Exists\"",
        "scheduling.tolerations[2]: Duplicate value: "
        "{\"Key\":\"a\",\"Operator\":\"\",\"Value\":\"\",\"Effect\":\"\",\"TolerationSeconds\":null}"}},
      {kIngressClass,
       "{spec: {controller: '', parameters: {kind: '', name: a/b}}}",
       {"spec.controller: Required value",
        "spec.parameters.kind: Required value",
        "spec.parameters.name: Invalid value: \"a/b\": may not contain '/'"}},
      {kIngressClass,
       "{spec: {controller: 'a', parameters: {kind: 'K', name: '', scope: ''}}}",
       {"spec.controller: Invalid value: \"a\": must be a domain-prefixed path (such as "
        "\"acme.io/foo\")",
        "spec.parameters.name: Required value",
        "spec.parameters.scope: Unsupported value: \"\": supported values: \"Cluster\", "
        "\"Namespace\""}},
      {kAddress,
       "{metadata: {name: 10.0.0.7}, spec: {}}",
       {"spec.parentRef: Required value"}},
      {kAddress,
       "{metadata: {name: 10.0.0.7}, spec: {parentRef: {group: A_, namespace: a/b}}}",
       {"spec.parentRef.group: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.parentRef.resource: Required value",
        "spec.parentRef.name: Required value",
        "spec.parentRef.namespace: Invalid value: \"a/b\": may not contain '/'"}},
      {kRange,
       "{spec: {}}",
       {"spec.cidrs: Required value: at least one CIDR required"}},
      {kRange,
       "{spec: {cidrs: [a, b, c]}}",
       {"spec.cidrs: Invalid value: {\"CIDRs\":[\"a\",\"b\",\"c\"]}: may only hold up to 2 "
        "values"}},
      {kPriority,
       "{metadata: {name: a}, value: 2000000000, preemptionPolicy: Foo}",
       {"value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
        "preemptionPolicy: Unsupported value: \"Foo\": supported values: "
        "\"PreemptLowerPriority\", \"Never\""}},
      {kPriority,
       "{metadata: {name: system-x}, value: 1, preemptionPolicy: ''}",
       {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
        "system use only. error: system-x is not a known system priority class",
        "preemptionPolicy: Required value"}},
      {kPriority,
       "{metadata: {name: system-node-critical}, value: 1}",
       {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
        "system use only. error: value of system-node-critical PriorityClass must be 2000001000"}},
      {kPriority,
       "{metadata: {name: system-node-critical}, value: 2000001000, globalDefault: true}",
       {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
        "system use only. error: globalDefault of system-node-critical PriorityClass must be "
        "false"}},
      {kService,
       "{metadata: {name: v1.a.b}, spec: {group: a.b, version: v1, caBundle: YWJj, "
       "insecureSkipTLSVerify: true}}",
       {"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
        "spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a caBundle",
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have "
        "insecureSkipTLSVerify"}},
      {kService,
       "{metadata: {name: v2.}, spec: {group: '', version: v2, groupPriorityMinimum: 30000, "
       "versionPriority: 2000, service: {}, caBundle: YWJj, insecureSkipTLSVerify: true}}",
       {"spec.group: Required value: only v1 may have an empty group and it better be legacy "
        "kube",
        "spec.groupPriorityMinimum: Invalid value: 30000: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 2000: must be positive and less than 1000",
        "spec.service.namespace: Required value",
        "spec.service.name: Required value",
        "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is "
        "present"}},
  });
  ExpectFaults(std::vector<ChangeCase>{
      {kAddress,
       "{metadata: {name: 10.0.0.7}, spec: {parentRef: {resource: services, namespace: a, name: "
       "b}}}",
       "{metadata: {name: 10.0.0.7}, spec: {parentRef: {resource: services, name: a/b}}}",
       {"spec.parentRef.name: Invalid value: \"a/b\": may not contain '/'",
        "spec.parentRef: Invalid value: "
        "{\"Group\":\"\",\"Resource\":\"services\",\"Namespace\":\"\",\"Name\":\"a/b\"}: field "
        "is immutable"}},
      {kPriority,
       "{metadata: {name: a}, value: 1}",
       "{metadata: {name: a}, value: 2000000000, preemptionPolicy: Never}",
       {"value: Forbidden: may not be changed in an update.",
        "preemptionPolicy: Invalid value: \"Never\": field is immutable"}},
      {kRuntime,
       "{handler: a}",
       "{handler: B}",
       {"handler: Invalid value: \"B\": a lowercase RFC 1123 label must consist of lower case "
        "alphanumeric characters or '-', and must start and end with an alphanumeric character "
        "(e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "handler: Invalid value: \"B\": field is immutable"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
