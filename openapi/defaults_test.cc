#include "openapi/defaults.h"

#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "openapi/disabled_fields.h"
#include "openapi/normalize.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

Json Yaml(const std::string& text) { return *ParseYaml(text); }

struct Case {
  const char* name;
  GroupVersionKind gvk;
  const char* given;
  const char* filled;
};

const Case kCases[] = {
    {"Namespace",
     {"", "v1", "Namespace"},
     "{metadata: {name: a}}",
     "{metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}, spec: {}, status: {phase: "
     "Active}}"},
    {"ConfigMap",
     {"", "v1", "ConfigMap"},
     "{metadata: {name: a, labels: {}}, data: {}, binaryData: {}}",
     "{metadata: {name: a}}"},
    {"Secret",
     {"", "v1", "Secret"},
     "{metadata: {name: a}, data: {a: eA==, b: eQ==}, stringData: {b: hello, c: ''}}",
     "{metadata: {name: a}, type: Opaque, data: {a: eA==, b: aGVsbG8=, c: ''}}"},
    {"Pod",
     {"", "v1", "Pod"},
     R"(
metadata: {name: a}
spec:
  hostNetwork: true
  containers:
  - {name: c, image: nginx, ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m, memory: 1Gi}, requests: {cpu: 0.5}}}
  - {name: d, image: 'r.io:5000/x:1.2', livenessProbe: {httpGet: {port: 80}}}
  - {name: e, image: 'a@sha256:00', env: [{name: 'N', valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}
  volumes: [{name: v}, {name: w, configMap: {name: cm}}, {name: x, hostPath: {path: /x}}]
)",
     R"(
metadata: {name: a}
spec:
  hostNetwork: true
  dnsPolicy: ClusterFirst
  restartPolicy: Always
  securityContext: {}
  terminationGracePeriodSeconds: 30
  schedulerName: default-scheduler
  enableServiceLinks: true
  containers:
  - name: c
    image: nginx
    imagePullPolicy: Always
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    ports: [{containerPort: 80, hostPort: 80, protocol: TCP}]
    resources: {limits: {cpu: "1", memory: 1Gi}, requests: {cpu: 500m, memory: 1Gi}}
  - name: d
    image: 'r.io:5000/x:1.2'
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    resources: {}
    livenessProbe: {httpGet: {port: 80, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
  - name: e
    image: 'a@sha256:00'
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    resources: {}
    env: [{name: 'N', valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}]
  volumes: [{name: v, emptyDir: {}}, {name: w, configMap: {name: cm, defaultMode: 420}}, {name: x, hostPath: {path: /x, type: ''}}]
status: {phase: Pending, qosClass: Burstable}
)"},
    {"Deployment",
     {"apps", "v1", "Deployment"},
     R"(
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'nginx:1'}]}}
)",
     R"(
metadata: {name: a}
spec:
  replicas: 1
  revisionHistoryLimit: 10
  progressDeadlineSeconds: 600
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      securityContext: {}
      terminationGracePeriodSeconds: 30
      schedulerName: default-scheduler
      containers:
      - name: c
        image: nginx:1
        imagePullPolicy: IfNotPresent
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        resources: {}
status: {}
)"},
    {"Recreate keeps no rolling update",
     {"apps", "v1", "Deployment"},
     "{spec: {replicas: 0, strategy: {type: Recreate}, selector: {}, template: {spec: {containers: "
     "[]}}}}",
     R"(
metadata: {}
spec:
  replicas: 0
  revisionHistoryLimit: 10
  progressDeadlineSeconds: 600
  strategy: {type: Recreate}
  selector: {}
  template: {metadata: {}, spec: {dnsPolicy: ClusterFirst, restartPolicy: Always, securityContext: {}, terminationGracePeriodSeconds: 30, schedulerName: default-scheduler, containers: null}}
status: {}
)"},
    {"StatefulSet",
     {"apps", "v1", "StatefulSet"},
     "{spec: {selector: {}, serviceName: s, template: {spec: {serviceAccount: a, containers: []}}, "
     "volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce]}}]}}",
     R"(
metadata: {}
spec:
  replicas: 1
  revisionHistoryLimit: 10
  serviceName: s
  podManagementPolicy: OrderedReady
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}
  selector: {}
  template:
    metadata: {}
    spec:
      serviceAccount: a
      serviceAccountName: a
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      securityContext: {}
      terminationGracePeriodSeconds: 30
      schedulerName: default-scheduler
      containers: null
  volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: d}
    spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {}}
    status: {phase: Pending}
status: {replicas: 0, availableReplicas: 0}
)"},
    {"Service",
     {"", "v1", "Service"},
     "{metadata: {name: a}, spec: {selector: {a: b}, ports: [{port: 80}, {name: x, port: 53, "
     "protocol: UDP, targetPort: dns}]}}",
     R"(
metadata: {name: a}
spec:
  type: ClusterIP
  sessionAffinity: None
  internalTrafficPolicy: Cluster
  selector: {a: b}
  ports: [{port: 80, protocol: TCP, targetPort: 80}, {name: x, port: 53, protocol: UDP, targetPort: dns}]
status: {loadBalancer: {}}
)"},
    {"LoadBalancer",
     {"", "v1", "Service"},
     "{metadata: {name: a}, spec: {type: LoadBalancer, sessionAffinity: ClientIP}}",
     R"(
metadata: {name: a}
spec:
  type: LoadBalancer
  allocateLoadBalancerNodePorts: true
  externalTrafficPolicy: Cluster
  internalTrafficPolicy: Cluster
  sessionAffinity: ClientIP
  sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}
status: {loadBalancer: {}}
)"},
    {"ExternalName",
     {"", "v1", "Service"},
     "{metadata: {name: a}, spec: {type: ExternalName, externalName: x.example}}",
     "{metadata: {name: a}, spec: {type: ExternalName, externalName: x.example, sessionAffinity: "
     "None}, status: {loadBalancer: {}}}"},
    {"Indexed Job",
     {"batch", "v1", "Job"},
     "{metadata: {name: a}, spec: {parallelism: 2, backoffLimitPerIndex: 1, template: {metadata: "
     "{labels: {x: 'y'}}, spec: {restartPolicy: Never, containers: []}}}}",
     R"(
metadata: {name: a, labels: {x: 'y'}}
spec:
  parallelism: 2
  backoffLimitPerIndex: 1
  backoffLimit: 2147483647
  completionMode: NonIndexed
  suspend: false
  manualSelector: false
  podReplacementPolicy: TerminatingOrFailed
  template: {metadata: {labels: {x: 'y'}}, spec: {dnsPolicy: ClusterFirst, restartPolicy: Never, securityContext: {}, terminationGracePeriodSeconds: 30, schedulerName: default-scheduler, containers: null}}
status: {}
)"},
    {"CronJob",
     {"batch", "v1", "CronJob"},
     "{metadata: {name: a}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: "
     "{restartPolicy: Never, containers: []}}}}}}",
     R"(
metadata: {name: a}
spec:
  schedule: '* * * * *'
  concurrencyPolicy: Allow
  suspend: false
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 1
  jobTemplate:
    metadata: {}
    spec:
      template: {metadata: {}, spec: {dnsPolicy: ClusterFirst, restartPolicy: Never, securityContext: {}, terminationGracePeriodSeconds: 30, schedulerName: default-scheduler, containers: null}}
status: {}
)"},
    {"RoleBinding",
     {"rbac.authorization.k8s.io", "v1", "RoleBinding"},
     "{metadata: {name: a}, roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}, "
     "{kind: ServiceAccount, name: s, namespace: 'n'}]}",
     "{metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, "
     "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: u}, {kind: "
     "ServiceAccount, "
     "name: s, namespace: 'n'}]}"},
    {"NetworkPolicy",
     {"networking.k8s.io", "v1", "NetworkPolicy"},
     "{metadata: {name: a}, spec: {podSelector: {}, egress: [{ports: [{port: 53}]}]}}",
     "{metadata: {name: a}, spec: {podSelector: {}, policyTypes: [Ingress, Egress], egress: "
     "[{ports: "
     "[{port: 53, protocol: TCP}]}]}}"},
    {"Webhook",
     {"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"},
     "{metadata: {name: a}, webhooks: [{name: w.e.com, clientConfig: {service: {name: s, "
     "namespace: "
     "'n'}}, sideEffects: None, admissionReviewVersions: [v1], rules: [{operations: [CREATE], "
     "apiGroups: [''], apiVersions: [v1], resources: [pods]}]}]}",
     R"(
metadata: {name: a}
webhooks:
- name: w.e.com
  clientConfig: {service: {name: s, namespace: 'n', port: 443}}
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Fail
  matchPolicy: Equivalent
  namespaceSelector: {}
  objectSelector: {}
  timeoutSeconds: 10
  reinvocationPolicy: Never
  rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods], scope: '*'}]
)"},
    {"FlowSchema counts zero as absent",
     {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"},
     "{metadata: {name: a}, spec: {priorityLevelConfiguration: {name: p}}}",
     "{metadata: {name: a}, spec: {priorityLevelConfiguration: {name: p}, matchingPrecedence: "
     "1000}, status: {}}"},
};

TEST(Defaults, RewritesValuesInOneForm) {
  ResourceType type;
  type.schema = BuiltinKind({"", "v1", "Secret"});
  Json secret = Yaml("{metadata: {deletionTimestamp: '2024-01-01T02:00:00.5+02:00'}}");
  secret["data"]["a"] = "aGVs\nbG8=\n";
  ApplyDefaults(type, secret);
  EXPECT_EQ(secret["metadata"]["deletionTimestamp"], "2024-01-01T00:00:00Z");
  EXPECT_EQ(secret["data"]["a"], "aGVsbG8=");
}

TEST(Defaults, ClassesPodsByResources) {
  const std::pair<const char*, const char*> cases[] = {
      {"[{name: a}]", "BestEffort"},
      {"[{name: a, resources: {requests: {cpu: 1}}}]", "Burstable"},
      {"[{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]", "Guaranteed"},
      {"[{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: b}]", "Burstable"},
      {"[{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]", "BestEffort"},
  };
  ResourceType type;
  type.schema = BuiltinKind({"", "v1", "Pod"});
  for (const auto& [containers, expected] : cases) {
    Json pod = {{"spec", {{"containers", Yaml(containers)}}}};
    ApplyDefaults(type, pod);
    EXPECT_EQ(pod["status"]["qosClass"], expected) << containers;
  }
}

TEST(Defaults, RequestsOfAPodComeFromItsContainersOrLimits) {
  struct PodCase {
    const char *spec, *resources, *quality;
  };
  const PodCase cases[] = {
      {"{resources: {limits: {cpu: 1, memory: 1Gi}}, containers: [{name: c}]}",
       "{limits: {cpu: '1', memory: 1Gi}, requests: {cpu: '1', memory: 1Gi}}", "Guaranteed"},
      {"{resources: {limits: {cpu: 1, memory: 1Gi}}, containers: [{name: c, resources: {requests: "
       "{cpu: 100m}}}], initContainers: [{name: d, resources: {requests: {cpu: 300m}}}]}",
       "{limits: {cpu: '1', memory: 1Gi}, requests: {cpu: 300m, memory: 1Gi}}", "Burstable"},
      {"{resources: {limits: {cpu: 1}}, containers: [{name: c, resources: {limits: {cpu: 100m, "
       "hugepages-2Mi: 2Mi}}}]}",
       "{limits: {cpu: '1', hugepages-2Mi: 2Mi}, requests: {cpu: 100m, hugepages-2Mi: 2Mi}}",
       "Burstable"},
      {"{resources: {}, containers: [{name: c, resources: {requests: {cpu: 100m}}}]}", "{}",
       "BestEffort"},
      {"{resources: {requests: {memory: 1Gi}}, containers: [{name: c}]}",
       "{requests: {memory: 1Gi}}", "Burstable"},
  };
  ResourceType type;
  type.schema = BuiltinKind({"", "v1", "Pod"});
  for (const PodCase& c : cases) {
    Json pod = {{"spec", Yaml(c.spec)}};
    ApplyDefaults(type, pod);
    EXPECT_EQ(pod["spec"]["resources"], Yaml(c.resources)) << c.spec;
    EXPECT_EQ(pod["status"]["qosClass"], c.quality) << c.spec;
  }
}

TEST(Defaults, RoundsAmountsUpToThousandths) {
  const std::pair<const char*, const char*> cases[] = {
      {"100u", "1m"}, {"1n", "1m"}, {"1500u", "2m"}, {"0.0015", "2m"}, {"1m", "1m"}, {"2", "2"}};
  ResourceType type;
  type.schema = BuiltinKind({"", "v1", "ResourceQuota"});
  for (const auto& [given, kept] : cases) {
    Json quota = {{"spec", {{"hard", {{"cpu", given}}}}}};
    ApplyDefaults(type, quota);
    EXPECT_EQ(quota["spec"]["hard"]["cpu"], kept) << given;
  }
}

TEST(Defaults, PullsAgainWhatIsLatest) {
  const std::string digest = "@sha256:" + std::string(64, '0');
  const std::pair<std::string, bool> cases[] = {
      {"x", true},          {"x:latest", true},        {"x:v", false},
      {"UP/x", true},       {"localhost:5000/x", true}, {"[::1]:5000/a/b__c", true},
      {"Bad_Name!", false}, {"a:b:c", false},          {"a b", false},
      {"Foo", false},       {"foo/Bar:latest", false}, {":latest", false},
      {"x:latest!", false}, {"-x:latest", false},      {"x@sha256:00", false},
      {"x" + digest, false}, {"x:latest" + digest, true}, {"a..b", false},
      {"a//b", false},      {std::string(64, 'a'), false}, {std::string(300, 'a'), false},
  };
  ResourceType type;
  type.schema = BuiltinKind({"", "v1", "Pod"});
  for (const auto& [image, always] : cases) {
    Json pod = {{"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
    ApplyDefaults(type, pod);
    EXPECT_EQ(pod["spec"]["containers"][0]["imagePullPolicy"], always ? "Always" : "IfNotPresent")
        << image;
  }
}

TEST(Defaults, FillsBuiltinObjects) {
  for (const Case& c : kCases) {
    ResourceType type;
    type.gvk = c.gvk;
    type.schema = BuiltinKind(c.gvk);
    ASSERT_NE(type.schema, nullptr) << c.name;
    Json object = Yaml(c.given);
    ApplyDefaults(type, object);
    EXPECT_EQ(DumpJsonPretty(object), DumpJsonPretty(Yaml(c.filled))) << c.name;
    Json again = object;
    ApplyDefaults(type, again);
    EXPECT_EQ(again, object) << c.name;
  }
}

TEST(ApplyDefaults, NotesWhenATaintWasAdded) {
  ResourceType type;
  type.gvk = {"resource.k8s.io", "v1", "ResourceSlice"};
  type.schema = BuiltinKind(type.gvk);
  Json slice = Yaml(
      "{spec: {devices: [{name: a, taints: [{key: a, effect: None}, {key: b, effect: None, timeAdded: "
      "'2020-01-01T00:00:00Z'}]}]}}");
  ApplyDefaults(type, slice);
  const Json& taints = slice["spec"]["devices"][0]["taints"];
  EXPECT_EQ(taints[0].value("timeAdded", "").size(), std::string("2020-01-01T00:00:00Z").size());
  EXPECT_EQ(taints[1].value("timeAdded", ""), "2020-01-01T00:00:00Z");
}

TEST(DropDisabled, LooksIntoListsAndMaps) {
  const auto dropped = [](const GroupVersionKind& gvk, const std::string& text, const Json* live) {
    ResourceType type;
    type.gvk = gvk;
    type.schema = BuiltinKind(gvk);
    Json object = Yaml(text);
    DropDisabled(type, object, live);
    return object;
  };
  const GroupVersionKind slices = {"resource.k8s.io", "v1", "ResourceSlice"};
  const std::string slice =
      "{spec: {devices: [{name: a, attributes: {x: {ints: [1], int: 2}, z: {bools: [true]}, v: {strings: [a]}, "
      "w: {versions: [1.0.0]}}, nodeAllocatableResourceMappings: {cpu: {capacityKey: c}}}]}}";
  EXPECT_EQ(dropped(slices, slice, nullptr),
            Yaml("{spec: {devices: [{name: a, attributes: {x: {int: 2}, z: {}, v: {}, w: {}}}]}}"));
  // What was there may stay.
  const Json live = Yaml(slice);
  EXPECT_EQ(dropped(slices, slice, &live), live);
  EXPECT_EQ(dropped({"storage.k8s.io", "v1", "CSIDriver"},
                    "{spec: {preventPodSchedulingIfMissing: true, seLinuxMount: true}}", nullptr),
            Yaml("{spec: {seLinuxMount: true}}"));
}

}  // namespace
}  // namespace mailroom::openapi
