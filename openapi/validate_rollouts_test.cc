#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kDeployment = {"apps", "v1", "Deployment"};
const GroupVersionKind kDaemonSet = {"apps", "v1", "DaemonSet"};
const GroupVersionKind kStatefulSet = {"apps", "v1", "StatefulSet"};

std::string Workload(const std::string& more, const std::string& meta = "") {
  return "{spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}" + meta +
         "}, spec: {containers: [{name: c, image: i}]}}" + more + "}}";
}

TEST(ValidateRollouts, ChecksHowPodsAreReplaced) {
  ExpectFaults(std::vector<NewCase>{
      {kDeployment, Workload(", strategy: {rollingUpdate: {maxUnavailable: 101%, maxSurge: 200%}}").c_str(),
       {"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be greater than "
        "100%"}},
      {kDaemonSet, Workload(", updateStrategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}").c_str(),
       {"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
        "maxUnavailable is non-zero"}},
      {kDaemonSet, Workload(", updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 0%}}").c_str(),
       {"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge "
        "is 0"}},
      {kDaemonSet, Workload(", updateStrategy: {type: Foo}").c_str(),
       {"spec.updateStrategy: Unsupported value: {\"Type\":\"Foo\",\"RollingUpdate\":null}: supported "
        "values: \"RollingUpdate\", \"OnDelete\""}},
      {kDeployment, Workload("", ", annotations: {'a b': c}").c_str(),
       {"spec.template.annotations: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
  });
}

TEST(ValidateRollouts, ChecksStatefulSets) {
  ExpectFaults(std::vector<NewCase>{
      {kStatefulSet,
       Workload(", podManagementPolicy: Foo, ordinals: {start: -1}, serviceName: a.b, updateStrategy: "
                "{rollingUpdate: {partition: -1, maxUnavailable: 0}}, "
                "persistentVolumeClaimRetentionPolicy: {whenDeleted: Foo}").c_str(),
       {"spec.podManagementPolicy: Invalid value: \"Foo\": must be 'OrderedReady' or 'Parallel'",
        "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal "
        "to 0",
        "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: \"Foo\": supported "
        "values: \"Retain\", \"Delete\"",
        "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
        "spec.serviceName: Invalid value: \"a.b\": must not contain dots"}},
      {kStatefulSet,
       Workload(", volumeClaimTemplates: [{metadata: {name: d}, spec: {}}]").c_str(),
       {"spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is "
        "required",
        "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"}},
      {kStatefulSet,
       Workload(", updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}").c_str(),
       {"spec.updateStrategy.rollingUpdate: Invalid value: {\"Partition\":1,\"MaxUnavailable\":null}: only allowed for "
        "updateStrategy 'RollingUpdate'"}},
  });
  // What cannot be changed is not looked at again.
  ExpectFaults(std::vector<ChangeCase>{
      {kStatefulSet, Workload(", serviceName: a.b, volumeClaimTemplates: [{metadata: {name: d}}]").c_str(),
       Workload(", replicas: 2, serviceName: a.b, volumeClaimTemplates: [{metadata: {name: d}}]").c_str(),
       {}},
  });
}

std::string Mounting(const std::string& volume, const std::string& more = "") {
  return "{spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: "
         "[{name: c, image: i, volumeMounts: [{name: " + volume + ", mountPath: /x}]}]}}" + more + "}}";
}

TEST(ValidateRollouts, SetsStoredWithFaultsMayChange) {
  const std::string lost = Mounting("v"), none = Workload("");
  const std::string told = "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"v\"";
  EXPECT_EQ(FaultsOf(kStatefulSet, nullptr, lost.c_str()), std::vector<std::string>{told});
  ExpectFaults(std::vector<ChangeCase>{
      {kStatefulSet, none.c_str(), lost.c_str(), {told}},
      {kStatefulSet, lost.c_str(), Mounting("v", ", replicas: 2").c_str(), {}},
      {kStatefulSet, lost.c_str(), Mounting("v", ", replicas: -1").c_str(),
       {"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
      {kDeployment, lost.c_str(), lost.c_str(), {told}},
  });
}

TEST(ValidateRollouts, AStatusIsWrittenWhateverWasStored) {
  const std::string spec = "spec: {replicas: -1, minReadySeconds: -1, parallelism: -1, ports: [{port: 0}], "
                           "jobTemplate: {spec: {parallelism: -1}}}";
  const std::string stored = "{" + spec + "}", written = "{" + spec + ", status: {observedGeneration: 1}}";
  for (const GroupVersionKind& gvk :
       {kDeployment, kDaemonSet, kStatefulSet, GroupVersionKind{"apps", "v1", "ReplicaSet"},
        GroupVersionKind{"batch", "v1", "Job"}, GroupVersionKind{"batch", "v1", "CronJob"},
        GroupVersionKind{"", "v1", "ReplicationController"}, GroupVersionKind{"", "v1", "Service"},
        GroupVersionKind{"", "v1", "PersistentVolume"}, GroupVersionKind{"", "v1", "Pod"}}) {
    EXPECT_NE(FaultsOf(gvk, nullptr, stored.c_str()), std::vector<std::string>()) << gvk.kind;
    EXPECT_EQ(FaultsOf(gvk, stored.c_str(), written.c_str(), "status"), std::vector<std::string>()) << gvk.kind;
  }
}

}  // namespace
}  // namespace mailroom::openapi
