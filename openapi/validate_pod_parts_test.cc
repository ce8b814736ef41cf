// Pods: what is said of their parts, in which order, and which faults of before may stay.
#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kPod = {"", "v1", "Pod"};
const GroupVersionKind kTemplate = {"", "v1", "PodTemplate"};

struct PodCase {
  std::string spec, container;  // members beside the usual ones
  std::vector<std::string> expected;
};

std::string PodText(const PodCase& c) {
  return "{metadata: {name: p}, spec: {containers: [{name: c, image: i" +
         (c.container.empty() ? "" : ", " + c.container) + "}]" +
         (c.spec.empty() ? "" : ", " + c.spec) + "}}";
}

void Expect(const std::vector<PodCase>& cases) {
  for (const PodCase& c : cases) {
    const std::string text = PodText(c);
    EXPECT_EQ(FaultsOf(kPod, nullptr, text.c_str()), c.expected) << text;
  }
}

TEST(ValidatePodParts, RestartPolicies) {
  const std::string needed = "restartPolicy: Required value: must specify restartPolicy when restart rules are used";
  const std::string rule = "restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]";
  Expect({
      {"", "restartPolicy: Always", {}},
      {"", "restartPolicy: Never, " + rule, {}},
      {"", rule, {"spec.containers[0]." + needed}},
      {"", "restartPolicy: Sometimes",
       {"spec.containers[0].restartPolicy: Unsupported value: \"Sometimes\": supported values: "
        "\"Always\", \"Never\", \"OnFailure\""}},
      {"", "restartPolicy: Never, restartPolicyRules: [{action: Stop}, {action: Restart, exitCodes: {operator: Is}}]",
       {"spec.containers[0].restartPolicyRules[0].action: Unsupported value: \"Stop\": supported "
        "values: \"Restart\", \"RestartAllContainers\"",
        "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified",
        "spec.containers[0].restartPolicyRules[1].exitCodes.operator: Unsupported value: \"Is\": "
        "supported values: \"In\", \"NotIn\""}},
      {"initContainers: [{name: d, image: i, restartPolicyRules: [{action: Stop}]}]", "",
       {"spec.initContainers[0]." + needed}},
      {"initContainers: [{name: d, image: i, lifecycle: {}, resizePolicy: [{resourceName: cpu, "
       "restartPolicy: RestartContainer}]}]", "",
       {"spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without "
        "restartPolicy=Always",
        "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": "
        "must not be set to 'RestartContainer' for non-sidecar initContainers"}},
      {"restartPolicy: Never", "resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}, "
       "{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: disk, restartPolicy: ''}]",
       {"spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be "
        "'NotRequired' when pod `restartPolicy` is 'Never'",
        "spec.containers[0].resizePolicy[1]: Duplicate value: \"cpu\"",
        "spec.containers[0].resizePolicy: Unsupported value: \"disk\": supported values: \"cpu\", "
        "\"memory\"",
        "spec.containers[0].resizePolicy: Required value",
        "spec.containers[0].resizePolicy: Invalid value: \"\": must be 'NotRequired' when pod "
        "`restartPolicy` is 'Never'"}},
  });
}

TEST(ValidatePodParts, AmountsAndClaims) {
  Expect({
      {"overhead: {cpu: -1, foo: 1, example.com/gpu: 1500m}", "",
       {"spec.overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
        "spec.overhead.limits[example.com/gpu]: Invalid value: \"1500m\": must be an integer",
        "spec.overhead.limits[foo]: Invalid value: \"foo\": must be a standard resource type or "
        "fully qualified",
        "spec.overhead.limits[foo]: Invalid value: \"foo\": must be a standard resource for "
        "containers"}},
      {"", "resources: {limits: {hugepages-2Mi: 3Mi, cpu: 1}}",
       {"spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not "
        "positive integer multiple of hugepages-2Mi",
        "spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not "
        "positive integer multiple of hugepages-2Mi"}},
      {"resourceClaims: [{name: a, resourceClaimName: x}, {name: a, resourceClaimName: x}, {name: b}]",
       "resources: {claims: [{name: a, request: r}, {name: a}, {name: z}, {name: ''}]}",
       {"spec.resourceClaims[1].name: Duplicate value: \"a\"",
        "spec.resourceClaims[2]: Invalid value: {\"Name\":\"b\",\"ResourceClaimName\":null,"
        "\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, "
        "`resourceClaimTemplateName`",
        "spec.containers[0].resources.claims[1]: Duplicate value: \"a\"",
        "spec.containers[0].resources.claims[2]: Not found: \"z\": must be one of the names in "
        "pod.spec.resourceClaims: a, b",
        "spec.containers[0].resources.claims[3]: Required value"}},
      {"", "resources: {claims: [{name: a}]}",
       {"spec.containers[0].resources.claims[0]: Not found: \"a\": must be one of the names in "
        "pod.spec.resourceClaims which is empty"}},
      {"resources: {requests: {cpu: 1, disk: 1}, limits: {cpu: 1500m, storage: 1}}",
       "resources: {requests: {cpu: 2}, limits: {cpu: 2}}",
       {"spec.resources.limits[storage]: Unsupported value: \"storage\": supported values: \"cpu\", "
        "\"hugepages-\", \"memory\"",
        "spec.resources.requests[disk]: Invalid value: \"disk\": must be a standard resource type or "
        "fully qualified",
        "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to "
        "aggregate container requests of 2",
        "spec.resources.containers[0][cpu].limits: Invalid value: \"2\": must be less than or equal "
        "to pod limits of 1500m"}},
      {"os: {name: windows}, resources: {limits: {cpu: 1}}", "",
       {"spec.resources: Forbidden: may not be set for a windows pod"}},
  });
}

TEST(ValidatePodParts, VolumesAndMounts) {
  Expect({
      {"serviceAccountName: s, volumes: [{name: v, projected: {sources: [{secret: {name: a, items: [{key: k, path: p}]}, "
       "configMap: {name: b, items: [{key: k, path: p}]}}, {downwardAPI: {items: [{path: p, fieldRef: "
       "{fieldPath: metadata.name}}]}}, {serviceAccountToken: {path: '', expirationSeconds: 1}}]}}]", "",
       {"spec.volumes[0].projected: Invalid value: \"b\": conflicting duplicate paths",
        "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type "
        "per source",
        "spec.volumes[0].projected: Invalid value: \"p\": conflicting duplicate paths",
        "spec.volumes[0].projected.sources[2].serviceAccountToken.expirationSeconds: Invalid value: "
        "1: may not specify a duration less than 10 minutes",
        "spec.volumes[0].projected.path: Required value"}},
      {"volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]", "",
       {"spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified "
        "when serviceAccountName is not set"}},
      {"volumes: [{name: v, emptyDir: {}, cephfs: {monitors: [a]}, downwardAPI: {}}]", "",
       {"spec.volumes[0].cephFS: Forbidden: may not specify more than 1 volume type",
        "spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type"}},
      {"volumes: [{name: v, gcePersistentDisk: {partition: 300}}, {name: w, iscsi: {targetPortal: a, "
       "iqn: b, lun: 0}}, {name: x, image: {}}]", "",
       {"spec.volumes[0].persistentDisk.pdName: Required value",
        "spec.volumes[0].persistentDisk.partition: Invalid value: 300: must be between 1 and 255, "
        "inclusive",
        "spec.volumes[1].iscsi.iqn: Invalid value: \"b\": must be valid format starting with iqn, "
        "eui, or naa",
        "spec.volumes[2].image.reference: Required value"}},
      {"volumes: [{name: e, ephemeral: {volumeClaimTemplate: {metadata: {name: 'n'}, spec: {accessModes: "
       "[ReadWriteOnce], resources: {requests: {storage: 1}}}}}}, {name: f, persistentVolumeClaim: "
       "{claimName: p-e}}]", "",
       {"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
        "spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: \"p-e\": must not reference "
        "a PVC that gets created for an ephemeral volume"}},
      {"volumes: [{name: v, emptyDir: {}}]",
       "volumeMounts: [{name: v, mountPath: /a, recursiveReadOnly: Enabled, mountPropagation: "
       "HostToContainer}, {name: v, mountPath: /b, recursiveReadOnly: Odd}]",
       {"spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when "
        "readOnly is true",
        "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when "
        "mountPropagation is None or not specified",
        "spec.containers[0].volumeMounts.recursiveReadOnly: Unsupported value: \"Odd\": supported "
        "values: \"Disabled\", \"Enabled\", \"IfPossible\""}},
      {"volumes: [{name: v, persistentVolumeClaim: {claimName: c}}, {name: w, emptyDir: {}}]",
       "volumeMounts: [{name: w, mountPath: /d}], volumeDevices: [{name: v, devicePath: /d}]",
       {"spec.containers[0].volumeMounts[0].mountPath: Invalid value: \"/d\": must not already exist "
        "as a path in volumeDevices",
        "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/d\": must not already "
        "exist as a path in volumeMounts"}},
      {"volumes: [{name: v, configMap: {name: c}}]",
       "env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: a/../b, key: K}}}, {name: B, "
       "valueFrom: {}}, {name: C, valueFrom: {resourceFieldRef: {resource: limits.hugepages-2Mi, "
       "divisor: 3}}}]",
       {"spec.containers[0].env[0].valueFrom.fileKeyRef.path: Invalid value: \"a/../b\": must not "
        "contain '..'",
        "spec.containers[0].env[1].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, "
        "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        "spec.containers[0].env[2].valueFrom.resourceFieldRef.divisor: Invalid value: "
        "\"limits.hugepages-2Mi\": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, "
        "1Ti, 1Pi, 1Ei are supported with the hugepages resource",
        "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: \"v\": referenced "
        "volume must be of type emptyDir"}},
  });
}

TEST(ValidatePodParts, SecurityAndSystems) {
  Expect({
      {"hostPID: true, shareProcessNamespace: true, securityContext: {sysctls: [{name: kernel/shmmax}], "
       "supplementalGroupsPolicy: Odd, appArmorProfile: {type: Localhost, localhostProfile: ' a'}}, hostIPC: true",
       "",
       {"spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and "
        "HostPID cannot both be enabled",
        "spec.securityContext.sysctls[0].name: Invalid value: \"kernel/shmmax\": may not be specified "
        "when 'hostIPC' is true",
        "spec.securityContext.appArmorProfile.localhostProfile: Invalid value: \" a\": must not be "
        "padded with whitespace",
        "spec.securityContext.supplementalGroupsPolicy: Unsupported value: \"Odd\": supported "
        "values: \"Merge\", \"Strict\""}},
      {"hostUsers: false, hostPID: true, hostIPC: true", "volumeDevices: []",
       {"spec.HostPID: Forbidden: when `hostUsers` is false",
        "spec.HostIPC: Forbidden: when `hostUsers` is false"}},
      {"", "securityContext: {allowPrivilegeEscalation: false, privileged: true, procMount: Odd, "
       "seccompProfile: {type: Unconfined, localhostProfile: a}}",
       {"spec.containers[0].securityContext.procMount: Unsupported value: \"Odd\": supported values: "
        "\"Default\", \"Unmasked\"",
        "spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: "
        "{\"Type\":\"Unconfined\",\"LocalhostProfile\":\"a\"}: can only be set when seccomp type is "
        "Localhost",
        "spec.containers[0].securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":"
        "true,\"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":null,\"RunAsGroup\":null,"
        "\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":false,"
        "\"ProcMount\":\"Odd\",\"SeccompProfile\":{\"Type\":\"Unconfined\",\"LocalhostProfile\":"
        "\"a\"},\"AppArmorProfile\":null}: cannot set `allowPrivilegeEscalation` to false and "
        "`privileged` to true"}},
      {"securityContext: {windowsOptions: {hostProcess: true, runAsUserName: 'a\\b\\c', "
       "gmsaCredentialSpec: ''}}",
       "securityContext: {windowsOptions: {hostProcess: false, runAsUserName: '-\\..'}}",
       {"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: \"-\\\\..\": "
        "runAsUserName's User cannot contain only periods or spaces",
        "spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: \"\": "
        "gmsaCredentialSpec cannot be an empty string",
        "spec.securityContext.windowsOptions.runAsUserName: Invalid value: \"a\\\\b\\\\c\": "
        "runAsUserName cannot contain more than one backslash",
        "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod "
        "hostProcess value must be identical if both are specified, was true"}},
      {"securityContext: {windowsOptions: {hostProcess: true}}", "",
       {"spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
        "hostProcess containers"}},
      {"", "lifecycle: {stopSignal: SIGTERM}",
       {"spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty "
        "`spec.os.name`"}},
      {"os: {name: linux}", "lifecycle: {stopSignal: SIGRTMIN+15}", {}},
      {"os: {name: windows}", "lifecycle: {stopSignal: SIGHUP}",
       {"spec.containers[0].lifecycle.stopSignal: Unsupported value: \"SIGHUP\": supported values: "
        "\"SIGKILL\", \"SIGTERM\""}},
      {"terminationGracePeriodSeconds: 5", "lifecycle: {preStop: {sleep: {seconds: 6}}}",
       {"spec.containers[0].lifecycle.preStop.sleep: Invalid value: 6: must be non-negative and less "
        "than terminationGracePeriodSeconds (5)"}},
      {"os: {name: ''}", "", {"spec.os.name: Required value"}},
  });
}

TEST(ValidatePodParts, WhereItRuns) {
  Expect({
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, "
       "matchLabelKeys: [a], nodeTaintsPolicy: Odd}]", "",
       {"spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"Odd\": supported "
        "values: \"Honor\", \"Ignore\"",
        "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when "
        "labelSelector is not set"}},
      {"topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: Odd, "
       "labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [c]}]}, "
       "matchLabelKeys: [x, a]}]", "",
       {"spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
        "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Odd\": supported "
        "values: \"DoNotSchedule\", \"ScheduleAnyway\"",
        "spec.topologySpreadConstraints[0][1]: Invalid value: \"a\": exists in both matchLabelKeys and "
        "labelSelector"}},
      {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, "
       "labelSelector: {}, matchLabelKeys: [a], mismatchLabelKeys: [a, 'b c']}]}}", "",
       {"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
        "mismatchLabelKeys[1]: Invalid value: \"b c\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
        "matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and "
        "mismatchLabelKeys"}},
      {"nodeName: 'n', schedulingGates: [{name: g}]", "",
       {"spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"}},
      {"tolerations: [{key: k, operator: Exists, effect: Odd}], hostAliases: [{ip: 01.2.3.4}], "
       "runtimeClassName: '', preemptionPolicy: Odd", "",
       {"spec.tolerations[0].effect: Unsupported value: \"Odd\": supported values: \"NoSchedule\", "
        "\"PreferNoSchedule\", \"NoExecute\"",
        "spec.hostAliases[0].ip: Invalid value: \"01.2.3.4\": must not have leading 0s",
        "spec.runtimeClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.preemptionPolicy: Unsupported value: \"Odd\": supported values: "
        "\"PreemptLowerPriority\", \"Never\""}},
  });
}

TEST(ValidatePodParts, Annotations) {
  ExpectFaults(std::vector<NewCase>{
      {kPod,
       "{metadata: {annotations: {kubernetes.io/config.mirror: m, "
       "controller.kubernetes.io/pod-deletion-cost: '+1', seccomp.security.alpha.kubernetes.io/pod: x, "
       "container.apparmor.security.beta.kubernetes.io/d: odd}}, spec: {securityContext: {seccompProfile: "
       "{type: Unconfined}}, resourceClaims: [{name: a}], containers: [{name: c, image: i}]}}",
       {"metadata.annotations[kubernetes.io/config.mirror]: Invalid value: \"m\": must set "
        "spec.nodeName if mirror pod annotation is set",
        "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"+1\": must "
        "be a 32bit integer",
        "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"x\": must be a "
        "valid seccomp profile",
        "metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: \"d\": "
        "container not found",
        "metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: \"odd\": "
        "invalid AppArmor profile name: \"odd\"",
        "[]: Forbidden: static pods do not support resource claims",
        "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must "
        "match"}},
      {kTemplate,
       "{template: {metadata: {labels: {a: '-'}}, spec: {hostNetwork: true, containers: [{name: c, image: ' i', ports: "
       "[{containerPort: 1}]}], ephemeralContainers: [{name: c, image: i, targetContainerName: z, "
       "restartPolicy: Always, ports: [{containerPort: 1}], livenessProbe: {}}]}}}",
       {"template.labels: Invalid value: \"-\": a valid label must be an empty string or consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "template.spec.ephemeralContainers[0].name: Duplicate value: \"c\"",
        "template.spec.ephemeralContainers[0].targetContainerName: Not found: \"z\"",
        "template.spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral "
        "Container",
        "template.spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral "
        "Container",
        "template.spec.ephemeralContainers[0].livenessProbe: Forbidden: cannot be set for an Ephemeral "
        "Container",
        "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod "
        "template"}},
  });
}

TEST(ValidatePodParts, Changes) {
  const char* kGated =
      "{spec: {schedulingGates: [{name: g}], nodeSelector: {a: b}, affinity: {nodeAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "
      "k, operator: Exists}]}]}}}, containers: [{name: c, image: i}]}}";
  const char* kPlain = "{spec: {activeDeadlineSeconds: 5, containers: [{name: c, image: i}]}}";
  const char* kShared =
      "{spec: {hostIPC: true, securityContext: {sysctls: [{name: kernel.sem}], seLinuxChangePolicy: "
      "MountOption}, containers: [{name: c, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: "
      "3Mi}}}], tolerations: [{key: a, operator: Gt, value: '1'}]}}";
  const std::string terms =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  ExpectFaults(std::vector<ChangeCase>{
      {kPod, kGated,
       "{spec: {nodeSelector: {a: b, c: d}, affinity: {nodeAffinity: "
       "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "
       "k, operator: Exists}, {key: l, operator: Exists}]}]}}}, containers: [{name: c, image: i}]}}",
       {}},
      {kPod, kGated,
       "{spec: {nodeSelector: {a: x}, affinity: {nodeAffinity: "
       "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "
       "l, operator: Exists}]}]}}}, containers: [{name: c, image: i}]}}",
       {"spec.nodeSelector: Invalid value: {\"a\":\"x\"}: only additions to spec.nodeSelector are "
        "allowed (no mutations or deletions)",
        terms + "[0]: Invalid value: {\"MatchExpressions\":[{\"Key\":\"l\",\"Operator\":\"Exists\",\"Values\":null}],"
                "\"MatchFields\":null}: only additions are allowed (no mutations or deletions)"}},
      {kPod, kGated, "{spec: {nodeSelector: {a: b}, containers: [{name: c, image: i}]}}",
       {terms + ": Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are "
                "allowed"}},
      {kPod, kPlain, "{spec: {activeDeadlineSeconds: 6, containers: [{name: c, image: ' i'}]}}",
       {"spec.containers[0].image: Invalid value: \" i\": must not have leading or trailing whitespace",
        "spec.containers[0].image: Invalid value: \" i\": must not have leading or trailing whitespace",
        "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"}},
      {kPod, kShared, kShared, {}},
      {kPod, "{spec: {containers: [{name: c, image: i}]}}",
       "{metadata: {annotations: {kubernetes.io/config.mirror: m}}, spec: {nodeName: 'n', containers: "
       "[{name: c, image: i}]}}",
       {"metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod "
        "annotation",
        "spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing "
        "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
        "previously negative)"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
