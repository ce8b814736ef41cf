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
const GroupVersionKind kRevision = {"apps", "v1", "ControllerRevision"};
const GroupVersionKind kNode = {"", "v1", "Node"};
const GroupVersionKind kSlice = {"resource.k8s.io", "v1", "ResourceSlice"};

TEST(ValidateClasses, ChecksStorage) {
  ExpectFaults(std::vector<NewCase>{
      {kClass, "{provisioner: Kubernetes.io/EBS, parameters: {a: b}}", {}},
      {kClass, "{provisioner: a/b, reclaimPolicy: Recycle, parameters: {'': x}}",
       {"parameters: Invalid value: \"\": field can not be empty.",
        "reclaimPolicy: Unsupported value: \"Recycle\": supported values: \"Delete\", \"Retain\""}},
      {kClass,
       "{provisioner: a/b, allowedTopologies: [{matchLabelExpressions: [{key: a, values: [x, x]}, {key: "
       "a}]}]}",
       {"allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: \"x\"",
        "allowedTopologies[0].matchLabelExpressions[1].values: Required value",
        "allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: \"a\""}},
      {kAttributes, "{driverName: a}",
       {"parameters: Required value: must contain at least one key/value pair"}},
      {kDriver,
       "{spec: {fsGroupPolicy: Foo, volumeLifecycleModes: [Foo], nodeAllocatableUpdatePeriodSeconds: 9, "
       "tokenRequests: [{audience: a, expirationSeconds: 1}, {audience: a}]}}",
       {"spec.fsGroupPolicy: Unsupported value: \"Foo\": supported values: \"File\", \"None\", "
        "\"ReadWriteOnceWithFSType\"",
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less "
        "than 10 minutes",
        "spec.tokenRequests[1].audience: Duplicate value: \"a\"",
        "spec.volumeLifecycleModes: Unsupported value: \"Foo\": supported values: \"Persistent\", "
        "\"Ephemeral\"",
        "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to "
        "10 seconds"}},
      {kNodeDrivers,
       "{spec: {drivers: [{name: b, nodeID: x, topologyKeys: [a, a]}, {name: b, nodeID: x, allocatable: "
       "{count: -1}}]}}",
       {"spec.drivers[0]: Duplicate value: \"a\"",
        "spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
        "spec.drivers[1].name: Duplicate value: \"b\""}},
      {kCapacity, "{storageClassName: a, capacity: '-1'}",
       {"capacity: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {kAttachment, "{spec: {attacher: a, nodeName: w, source: {}}}",
       {"spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
        "persistentVolumeName"}},
  });
}

TEST(ValidateClasses, ChecksOtherClasses) {
  ExpectFaults(std::vector<NewCase>{
      {kIngressClass, "{spec: {controller: foo}}",
       {"spec.controller: Invalid value: \"foo\": must be a domain-prefixed path (such as "
        "\"acme.io/foo\")"}},
      {kIngressClass, "{spec: {controller: 'a/b c'}}",
       {"spec.controller: Invalid value: \"b c\": Invalid path (regex used for validation is "
        "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"}},
      {kIngressClass,
       "{spec: {controller: a/b, parameters: {kind: a/b, name: '..', scope: Cluster, namespace: x}}}",
       {"spec.parameters.kind: Invalid value: \"a/b\": may not contain '/'",
        "spec.parameters.name: Invalid value: \"..\": may not be '..'",
        "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"}},
      {kIngressClass, "{spec: {controller: a/b, parameters: {kind: a, name: b, scope: Foo}}}",
       {"spec.parameters.scope: Unsupported value: \"Foo\": supported values: \"Cluster\", "
        "\"Namespace\""}},
      {kRange, "{spec: {cidrs: [10.1.0.0/24, 10.2.0.0/24]}}",
       {"spec.cidrs: Invalid value: [\"10.1.0.0/24\",\"10.2.0.0/24\"]: may specify no more than one IP "
        "for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"}},
      {kRange, "{spec: {cidrs: ['FD00::/64']}}",
       {"spec.cidrs[0]: Invalid value: \"FD00::/64\": must be in canonical form (\"fd00::/64\")"}},
      {kRevision, "{revision: -1}",
       {"revision: Invalid value: -1: must be greater than or equal to 0",
        "data: Required value: data is mandatory"}},
  });
}

TEST(ValidateClasses, KeepsWhatMayNotChange) {
  ExpectFaults(std::vector<ChangeCase>{
      {kAttributes, "{driverName: a, parameters: {a: b}}", "{driverName: b, parameters: {a: c}}",
       {"driverName: Forbidden: updates to driverName are forbidden.",
        "parameters: Forbidden: updates to parameters are forbidden."}},
      {kDriver, "{spec: {attachRequired: true, volumeLifecycleModes: [Persistent]}}",
       "{spec: {attachRequired: false, volumeLifecycleModes: [Ephemeral]}}",
       {"spec.attachedRequired: Invalid value: false: field is immutable",
        "spec.volumeLifecycleModes: Invalid value: [\"Ephemeral\"]: field is immutable"}},
      {kNodeDrivers, "{spec: {drivers: [{name: a, nodeID: x, topologyKeys: [a]}]}}",
       "{spec: {drivers: [{name: a, nodeID: x, topologyKeys: [a], allocatable: {count: 4}}, {name: b, "
       "nodeID: x, topologyKeys: [a]}]}}",
       {}},
      {kCapacity, "{storageClassName: a}", "{storageClassName: b}",
       {"storageClassName: Invalid value: \"b\": field is immutable"}},
      {kAttachment, "{spec: {attacher: a, nodeName: w, source: {persistentVolumeName: a}}}",
       "{spec: {attacher: a, nodeName: m, source: {persistentVolumeName: a}}}",
       {"spec: Invalid value: {\"Attacher\":\"a\",\"Source\":{\"PersistentVolumeName\":\"a\","
        "\"InlineVolumeSpec\":null},\"NodeName\":\"m\"}: field is immutable"}},
      {kRuntime, "{handler: a}", "{handler: b}", {"handler: Invalid value: \"b\": field is immutable"}},
      {kIngressClass, "{spec: {controller: a/b}}", "{spec: {controller: a/c}}",
       {"spec.controller: Invalid value: \"a/c\": field is immutable"}},
      {kAddress, "{spec: {parentRef: {resource: services, name: a}}}",
       "{spec: {parentRef: {resource: services, name: b}}}",
       {"spec.parentRef: Invalid value: {\"Group\":\"\",\"Resource\":\"services\",\"Namespace\":\"\","
        "\"Name\":\"b\"}: field is immutable"}},
      {kRange, "{spec: {cidrs: [10.1.0.0/24]}}", "{spec: {cidrs: [10.2.0.0/24]}}",
       {"spec.cidrs[0]: Invalid value: \"10.2.0.0/24\": field is immutable"}},
      {kRange, "{spec: {cidrs: [10.1.0.0/24]}}", "{spec: {cidrs: [10.1.0.0/24, 'fd00::/64']}}", {}},
      {kRevision, "{revision: 1, data: {a: b}}", "{revision: 2}",
       {"data: Invalid value: null: field is immutable"}},
      {kNode, "{spec: {podCIDRs: [10.1.0.0/24], providerID: a}}",
       "{spec: {podCIDRs: [10.2.0.0/24], providerID: b}}",
       {"spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid",
        "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid"}},
      {kSlice, "{spec: {driver: a, nodeName: w, pool: {name: p, resourceSliceCount: 1}}}",
       "{spec: {driver: b, nodeName: m, pool: {name: q, resourceSliceCount: 1}}}",
       {"spec.pool.name: Invalid value: \"q\": field is immutable",
        "spec.driver: Invalid value: \"b\": field is immutable",
        "spec.nodeName: Invalid value: \"m\": field is immutable"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
