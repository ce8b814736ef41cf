#include "openapi/validate_builtin.h"

#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "openapi/normalize.h"
#include "openapi/validate.h"
#include "storage/object/limits.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

Json Yaml(const std::string& text) { return *ParseYaml(text); }

std::vector<std::string> Texts(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) texts.push_back(cause.field + ": " + cause.message);
  return texts;
}

ResourceType TypeOf(const GroupVersionKind& gvk) {
  ResourceType type;
  type.gvk = gvk;
  type.schema = BuiltinKind(gvk);
  return type;
}

const GroupVersionKind kConfigMap = {"", "v1", "ConfigMap"};
const GroupVersionKind kSecret = {"", "v1", "Secret"};
const GroupVersionKind kPod = {"", "v1", "Pod"};
const GroupVersionKind kService = {"", "v1", "Service"};
const GroupVersionKind kDeployment = {"apps", "v1", "Deployment"};
const GroupVersionKind kStatefulSet = {"apps", "v1", "StatefulSet"};
const GroupVersionKind kJob = {"batch", "v1", "Job"};
const GroupVersionKind kCronJob = {"batch", "v1", "CronJob"};
const GroupVersionKind kRole = {"rbac.authorization.k8s.io", "v1", "Role"};
const GroupVersionKind kBinding = {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"};
const GroupVersionKind kLease = {"coordination.k8s.io", "v1", "Lease"};
const GroupVersionKind kPriority = {"scheduling.k8s.io", "v1", "PriorityClass"};
const GroupVersionKind kClaim = {"", "v1", "PersistentVolumeClaim"};
const GroupVersionKind kIngress = {"networking.k8s.io", "v1", "Ingress"};
const GroupVersionKind kEvent = {"", "v1", "Event"};
const GroupVersionKind kNewEvent = {"events.k8s.io", "v1", "Event"};
const GroupVersionKind kApiService = {"apiregistration.k8s.io", "v1", "APIService"};
const GroupVersionKind kBudget = {"policy", "v1", "PodDisruptionBudget"};

struct Case {
  GroupVersionKind gvk;
  const char* object;
  std::vector<std::string> expected;
};

TEST(ValidateBuiltin, ChecksNewObjects) {
  const Case cases[] = {
      {kConfigMap, "{data: {a.b-C_1: x}, binaryData: {'y': eA==}}", {}},
      {kConfigMap,
       "{data: {'a b': x}}",
       {"data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric "
        "characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used "
        "for validation is '[-._a-zA-Z0-9]+')"}},
      {kConfigMap,
       "{data: {a: x}, binaryData: {a: eA==}}",
       {"data[a]: Invalid value: \"a\": duplicate of key present in binaryData"}},
      {kSecret,
       "{type: kubernetes.io/tls, data: {tls.crt: eA==}}",
       {"data[tls.key]: Required value"}},
      {kSecret,
       "{type: kubernetes.io/service-account-token}",
       {"metadata.annotations[kubernetes.io/service-account.name]: Required value"}},
      {kSecret,
       "{type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: '{}'}}",
       {}},
      {kSecret, "{type: helm.sh/release.v1, data: {release: eA==}}", {}},
      {kPod, "{spec: {containers: [{name: a, image: i}]}}", {}},
      {kPod, "{spec: {}}", {"spec.containers: Required value"}},
      {kPod,
       "{spec: {containers: [{name: A, image: i}, {image: j}, {name: b}]}}",
       {"spec.containers[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of "
        "lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
        "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "spec.containers[1].name: Required value", "spec.containers[2].image: Required value"}},
      {kPod,
       "{spec: {containers: [{name: a, image: i, ports: [{containerPort: 0}, {containerPort: "
       "70000, "
       "protocol: X}]}, {name: a, image: i}]}}",
       {"spec.containers[0].ports[0].containerPort: Required value",
        "spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and "
        "65535, inclusive",
        "spec.containers[0].ports[1].protocol: Unsupported value: \"X\": supported values: "
        "\"SCTP\", \"TCP\", \"UDP\"",
        "spec.containers[1].name: Duplicate value: \"a\""}},
      {kPod,
       "{spec: {volumes: [{name: v}], containers: [{name: a, image: i, volumeMounts: [{name: v, "
       "mountPath: /x}, {name: w, mountPath: /x}], env: [{name: 'N', valueFrom: {configMapKeyRef: "
       "{name: c}}}]}]}}",
       {"spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value",
        "spec.containers[0].volumeMounts[1].name: Not found: \"w\"",
        "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": must be unique"}},
      {kPod,
       "{spec: {restartPolicy: Sometimes, containers: [{name: a, image: i, resources: {requests: "
       "{cpu: 2}, limits: {cpu: 1}}}]}}",
       {"spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal "
        "to "
        "cpu limit of 1",
        "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
        "\"OnFailure\", \"Never\""}},
      {kDeployment,
       "{spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
       "{containers: [{name: c, image: i}]}}}}",
       {}},
      {kDeployment,
       "{spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
       "i}]}}}}",
       {"spec.selector: Required value",
        "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match "
        "template `labels`"}},
      {kDeployment,
       "{spec: {replicas: -1, selector: {matchLabels: {a: x}}, template: {metadata: {labels: {a: "
       "b}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
       {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match "
        "template `labels`",
        "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
        "\"Always\""}},
      {kDeployment,
       "{spec: {strategy: {type: Recreate, rollingUpdate: {}}, selector: {}, template: {spec: "
       "{containers: [{name: c, image: i}]}}}}",
       {"spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
        "'Recreate'"}},
      {kDeployment,
       "{spec: {strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0%}}, selector: "
       "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: "
       "c, "
       "image: i}]}}}}",
       {"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when "
        "`maxSurge` is 0"}},
      {kStatefulSet,
       "{spec: {selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: d}, "
       "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}}], template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, "
       "volumeMounts: [{name: d, mountPath: /d}]}]}}}}",
       {}},
      {kJob,
       "{spec: {template: {spec: {containers: [{name: c, image: i}]}}}}",
       {"spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
        "\"Never\""}},
      {kCronJob,
       "{spec: {schedule: '* *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, "
       "containers: [{name: c, image: i}]}}}}}}",
       {"spec.schedule: Invalid value: \"* *\": expected exactly 5 fields, found 2: [* *]"}},
      {kService, "{spec: {ports: [{port: 80}]}}", {}},
      {kService, "{spec: {}}", {"spec.ports: Required value"}},
      {kService, "{spec: {clusterIP: None}}", {}},
      {kService, "{spec: {type: ExternalName}}", {"spec.externalName: Required value"}},
      {kService,
       "{spec: {type: Odd, ports: [{port: 0}, {name: x, port: 80, targetPort: a_b}]}}",
       {"spec.type: Unsupported value: \"Odd\": supported values: \"ClusterIP\", \"ExternalName\", "
        "\"LoadBalancer\", \"NodePort\"",
        "spec.ports[0].name: Required value",
        "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
        "spec.ports[1].targetPort: Invalid value: \"a_b\": must contain only alpha-numeric "
        "characters (a-z, 0-9), and hyphens (-)"}},
      {kRole, "{rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]}", {}},
      {kRole, "{}", {}},
      {kRole,
       "{rules: [{resources: [pods]}, {verbs: [get], nonResourceURLs: [/x]}]}",
       {"rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[1].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to "
        "non-resource URLs"}},
      {kBinding,
       "{roleRef: {kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: s}, {kind: Robot, "
       "name: x}]}",
       {"roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"",
        "subjects[0].namespace: Required value",
        "subjects[1].kind: Unsupported value: \"Robot\": supported values: "
        "\"ServiceAccount\", \"User\", \"Group\""}},
      {kLease,
       "{spec: {leaseDurationSeconds: 0, leaseTransitions: -1}}",
       {"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"}},
      {kPriority,
       "{metadata: {name: big}, value: 2000000000}",
       {"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"}},
      {kClaim,
       "{spec: {}}",
       {"spec.accessModes: Required value: at least 1 access mode is required",
        "spec.resources[storage]: Required value"}},
      {kIngress,
       "{spec: {rules: [{host: 1.2.3.4, http: {paths: [{path: x, pathType: Prefix, backend: "
       "{service: {name: s}}}, {backend: {service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address",
        "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be an absolute path",
        "spec.rules[0].http.paths[0].backend: Required value: port name or number is required",
        "spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified"}},
      {kEvent,
       "{metadata: {namespace: a}, involvedObject: {namespace: b}}",
       {"involvedObject.namespace: Invalid value: \"b\": does not match event.namespace"}},
      {kEvent, "{metadata: {namespace: default}, involvedObject: {name: 'n'}}", {}},
      {kNewEvent,
       "{metadata: {namespace: a}, regarding: {namespace: a}, type: Normal}",
       {"eventTime: Required value"}},
      {kApiService,
       "{spec: {group: e.com, version: v1, groupPriorityMinimum: 100, versionPriority: 10, "
       "service: "
       "{name: s, namespace: 'n'}}}",
       {}},
      {kApiService,
       "{spec: {group: e.com, version: v1}}",
       {"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"}},
      {kPod,
       "{spec: {securityContext: {fsGroupChangePolicy: '', sysctls: [{name: a.b}]}, containers: "
       "[{name: a, image: i}]}}",
       {"spec.securityContext.fsGroupChangePolicy: Unsupported value: \"\": supported values: "
        "\"Always\", \"OnRootMismatch\""}},
      {kPod,
       "{spec: {topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}], "
       "containers: [{name: a, image: i, livenessProbe: {httpGet: {}}, startupProbe: {grpc: {}}}]}}",
       {"spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and "
        "65535, inclusive",
        "spec.containers[0].startupProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, "
        "inclusive",
        "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"}},
      {kPod,
       "{spec: {hostAliases: [{hostnames: [a]}], securityContext: {seccompProfile: {}}, containers: "
       "[{name: a, image: i}]}}",
       {"spec.securityContext.seccompProfile.type: Required value: type is required when "
        "seccompProfile is set",
        "spec.hostAliases[0].ip: Invalid value: \"\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)"}},
      {kPod,
       "{spec: {hostNetwork: true, hostUsers: false, securityContext: {seLinuxChangePolicy: "
       "MountOption}, tolerations: [{key: a, operator: Gt, value: '1'}, {key: a, operator: X, "
       "value: a}], containers: [{name: a, image: i}]}}",
       {"spec.securityContext.seLinuxChangePolicy: Unsupported value: \"MountOption\": supported "
        "values: \"Recursive\"",
        "spec.hostNetwork: Forbidden: when `hostUsers` is false",
        "spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", "
        "\"Exists\", \"Lt\", \"Gt\"",
        "spec.tolerations[1].operator: Unsupported value: \"X\": supported values: \"Equal\", "
        "\"Exists\""}},
      {{"networking.k8s.io", "v1", "NetworkPolicy"},
       "{spec: {podSelector: {}, policyTypes: ['']}}",
       {"spec.policyTypes[0]: Unsupported value: \"\": supported values: \"Ingress\", "
        "\"Egress\""}},
      {{"storage.k8s.io", "v1", "CSIDriver"},
       "{spec: {tokenRequests: [{}]}}",
       {}},
      {{"discovery.k8s.io", "v1", "EndpointSlice"},
       "{addressType: IPv4, endpoints: [{addresses: [1.2.3.4], hints: {forZones: [{name: ''}]}}]}",
       {}},
      {kStatefulSet,
       "{kind: StatefulSet, spec: {serviceName: s, selector: {matchLabels: {a: b}}, template: "
       "{metadata: {labels: {a: b}}, spec: {hostname: A_b, subdomain: A_b, containers: [{name: c, "
       "image: i}]}}, volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: "
       "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {conditions: [{}]}}]}}",
       {}},
      {kBudget,
       "{spec: {minAvailable: 1, maxUnavailable: 1}}",
       {"spec: Invalid value: "
        "{\"MinAvailable\":1,\"Selector\":null,\"MaxUnavailable\":1,\"UnhealthyPodEvictionPolicy\":"
        "null}: minAvailable and "
        "maxUnavailable cannot be both set"}},
  };
  for (const Case& c : cases) {
    const ResourceType type = TypeOf(c.gvk);
    Json object = Yaml(c.object);
    ApplyDefaults(type, object);
    EXPECT_EQ(Texts(ValidateObject(type, object, nullptr)), c.expected) << c.object;
  }
}

TEST(ValidateBuiltin, ChecksUpdates) {
  struct Update {
    GroupVersionKind gvk;
    const char *before, *after;
    std::vector<std::string> expected;
  };
  const char* kOnePod = "{spec: {containers: [{name: a, image: i}]}}";
  const char* kDeploy =
      "{spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b, c: d}}, spec: "
      "{containers: [{name: c, image: i}]}}}}";
  const Update cases[] = {
      {kConfigMap,
       "{immutable: true, data: {a: x}}",
       "{immutable: true, data: {a: 'y'}}",
       {"data: Forbidden: field is immutable when `immutable` is set"}},
      {kConfigMap,
       "{immutable: true, data: {a: x}}",
       "{data: {a: x}}",
       {"immutable: Forbidden: field is immutable when `immutable` is set"}},
      {kConfigMap, "{data: {a: x}}", "{data: {a: 'y'}, immutable: true}", {}},
      {kSecret, "{}", "{type: other}", {"type: Invalid value: \"other\": field is immutable"}},
      {kPod,
       kOnePod,
       "{spec: {containers: [{name: a, image: j}], tolerations: [{operator: Exists}]}}",
       {}},
      {kPod,
       "{spec: {containers: [{name: a, image: i}], tolerations: [{key: k, operator: Exists}]}}",
       kOnePod,
       {"spec.tolerations: Forbidden: existing toleration can not be modified except its "
        "tolerationSeconds"}},
      {kPod,
       kOnePod,
       "{spec: {containers: [{name: a, image: i}], schedulingGates: [{name: example.com/g}]}}",
       {"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
        "scheduling "
        "gate 'example.com/g'"}},
      {kPod,
       kOnePod,
       "{spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}",
       {"spec.containers: Forbidden: pod updates may not add or remove containers"}},
      {kPod,
       kOnePod,
       "{spec: {containers: [{name: b, image: i}]}}",
       {"spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing "
        "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
        "previously negative)"}},
      {kDeployment, kDeploy, kDeploy, {}},
      {kDeployment,
       kDeploy,
       "{spec: {selector: {matchLabels: {c: d}}, template: {metadata: {labels: {a: b, c: d}}, "
       "spec: "
       "{containers: [{name: c, image: i}]}}}}",
       {"spec.selector: Invalid value: {\"matchLabels\":{\"c\":\"d\"}}: field is immutable"}},
      {kStatefulSet,
       kDeploy,
       "{spec: {serviceName: s, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: "
       "b, c: d}}, spec: {containers: [{name: c, image: i}]}}}}",
       {"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
        "'ordinals', "
        "'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"}},
      {kBinding,
       "{roleRef: {kind: ClusterRole, name: a}}",
       "{roleRef: {kind: ClusterRole, name: b}}",
       {"roleRef: Invalid value: "
        "{\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":\"b\"}: "
        "cannot change roleRef"}},
      {kPriority,
       "{metadata: {name: a}, value: 1}",
       "{metadata: {name: a}, value: 2}",
       {"value: Forbidden: may not be changed in an update."}},
  };
  for (const Update& c : cases) {
    const ResourceType type = TypeOf(c.gvk);
    Json old = Yaml(c.before), object = Yaml(c.after);
    ApplyDefaults(type, old);
    ApplyDefaults(type, object);
    EXPECT_EQ(Texts(ValidateObject(type, object, &old)), c.expected) << c.after;
  }
}

TEST(ValidateBuiltin, ManyFaultsAreToldInFewBytes) {
  Json data = Json::object();
  for (int i = 0; i < 100'000; ++i) data["a b" + std::to_string(i)] = "";
  EXPECT_EQ(ValidateObject(TypeOf(kConfigMap), {{"data", data}}, nullptr).size(),
            limits::kProblemsTold);

  // Each element is looked at below a name of half a megabyte.
  const Json reviewer = {
      {"spec", {{"extra", {{std::string(500'000, 'k'), Json(200'000, "x")}}}}}};
  const ResourceType request = TypeOf({"authorization.k8s.io", "v1", "SubjectAccessReview"});
  for (const std::string& text : Texts(ValidateObject(request, reviewer, nullptr))) {
    EXPECT_LT(text.size(), 2 * limits::kProblemValueBytes);
  }
}

}  // namespace
}  // namespace mailroom::openapi
