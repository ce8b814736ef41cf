#include "openapi/validate_storage.h"

#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kVolume = {"", "v1", "PersistentVolume"};
const GroupVersionKind kClaim = {"", "v1", "PersistentVolumeClaim"};

const std::string kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

std::string Volume(const std::string& source) {
  return "{metadata: {name: v}, spec: {capacity: {storage: 1}, accessModes: [ReadWriteOnce], " +
         source + "}}";
}

TEST(ValidateStorage, ChecksVolumes) {
  ExpectFaults({
      {kVolume, Volume("hostPath: {path: /x}").c_str(), {}},
      {kVolume,
       "{spec: {}}",
       {"spec.accessModes: Required value", "spec.capacity: Required value",
        "spec.capacity: Unsupported value: null: supported values: \"storage\"",
        "spec: Required value: must specify a volume type"}},
      {kVolume,
       "{spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce, Foo, ReadWriteOncePod], "
       "hostPath: {path: /x/../y}, nfs: {server: a, path: b}}}",
       {"spec.accessModes: Unsupported value: \"Foo\": supported values: \"ReadOnlyMany\", "
        "\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        "spec.hostPath.path: Invalid value: \"/x/../y\": must not contain '..'",
        "spec.nfs: Forbidden: may not specify more than 1 volume type"}},
      {kVolume,
       "{spec: {capacity: {storage: '-1'}, accessModes: [ReadWriteOnce], hostPath: {path: /a/..}, "
       "persistentVolumeReclaimPolicy: Recycle, volumeAttributesClassName: ''}}",
       {"spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
        "spec.capacity[storage]: Invalid value: \"-1\": must be greater than zero",
        "spec.hostPath.path: Invalid value: \"/a/..\": must not contain '..'",
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount "
        "of '/'",
        "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
        "spec.csi: Required value: has to be specified when using volumeAttributesClassName"}},
      {kVolume, Volume("local: {path: /x}").c_str(),
       {"spec.nodeAffinity: Required value: Local volume requires node affinity"}},
      {kVolume, Volume("local: {path: /x}, nodeAffinity: {required: {}}").c_str(),
       {"spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node "
        "selector term"}},
      {kVolume, Volume("local: {path: ../x}, nodeAffinity: {}").c_str(),
       {"spec.nodeAffinity.required: Required value: must specify required node constraints",
        "spec.local.path: Invalid value: \"../x\": must not contain '..'"}},
  });
}

TEST(ValidateStorage, ChecksSourcesOfVolumes) {
  ExpectFaults({
      {kVolume,
       Volume("csi: {driver: A_b, volumeHandle: x, controllerPublishSecretRef: {}, "
              "nodePublishSecretRef: {name: A_, namespace: N_}}")
           .c_str(),
       {"spec.csi.driver: Invalid value: \"A_b\": " + kSubdomain,
        "spec.csi.controllerPublishSecretRef.name: Required value",
        "spec.csi.controllerPublishSecretRef.namespace: Required value",
        "spec.csi.nodePublishSecretRef.name: Invalid value: \"A_\": " + kSubdomain,
        "spec.csi.nodePublishSecretRef.namespace: Invalid value: \"N_\": " + kLabel}},
      {kVolume, Volume("nfs: {server: a, path: x}").c_str(),
       {"spec.nfs.path: Invalid value: \"x\": must be an absolute path"}},
      {kVolume, Volume("gcePersistentDisk: {partition: 256}").c_str(),
       {"spec.persistentDisk.pdName: Required value",
        "spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive"}},
      {kVolume, Volume("glusterfs: {endpoints: a, path: b, endpointsNamespace: ''}").c_str(),
       {"spec.glusterfs.endpointsNamespace: Invalid value: \"\": if the endpointnamespace is set, it "
        "must be a valid namespace name"}},
      {kVolume, Volume("flocker: {datasetName: a/b, datasetUUID: x}").c_str(),
       {"spec.flocker: Invalid value: \"resource\": datasetName and datasetUUID can not be specified "
        "simultaneously",
        "spec.flocker.datasetName: Invalid value: \"a/b\": must not contain '/'"}},
      {kVolume, Volume("rbd: {image: i}").c_str(), {"spec.rbd.monitors: Required value"}},
      {kVolume, Volume("quobyte: {registry: '', volume: x}").c_str(),
       {"spec.quobyte.registry: Required value: must be a host:port pair or multiple pairs separated "
        "by commas"}},
      {kVolume, Volume("quobyte: {registry: 'a,b:1', volume: x}").c_str(),
       {"spec.quobyte.registry: Invalid value: \"a,b:1\": must be a host:port pair or multiple pairs "
        "separated by commas"}},
      {kVolume,
       Volume("iscsi: {targetPortal: a, initiatorName: foo, chapAuthSession: true, iqn: bar, lun: 300}")
           .c_str(),
       {"spec.iscsi.iqn: Invalid value: \"bar\": must be valid format",
        "spec.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive",
        "spec.iscsi.secretRef: Required value",
        "spec.iscsi.initiatorname: Invalid value: \"foo\": must be valid format"}},
      {kVolume, Volume("cinder: {volumeID: v, secretRef: {}}").c_str(),
       {"spec.cinder.secretRef.name: Required value", "spec.cinder.secretRef.namespace: Required value"}},
      {kVolume, Volume("fc: {targetWWNs: [a], wwids: [b]}").c_str(),
       {"spec.fc.targetWWNs: Invalid value: [\"a\"]: targetWWNs and wwids can not be specified "
        "simultaneously",
        "spec.fc.lun: Required value: lun is required if targetWWNs is specified"}},
      {kVolume, Volume("flexVolume: {driver: d, options: {X.k8s.io/a: b, a: b}}").c_str(),
       {"spec.flexVolume.options[X.k8s.io/a]: Invalid value: \"X.k8s.io/a\": kubernetes.io and k8s.io "
        "namespaces are reserved"}},
      {kVolume, Volume("azureFile: {secretName: a, shareName: b}").c_str(), {}},
      {kVolume, Volume("azureFile: {secretName: a, shareName: b, secretNamespace: ''}").c_str(),
       {"spec.azureFile.secretNamespace: Required value"}},
      {kVolume, Volume("azureDisk: {kind: Managed, diskName: a, diskURI: b}").c_str(),
       {"spec.azureDisk.diskURI: Unsupported value: \"b\": supported values: "
        "\"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
        "{disk-id}\""}},
      {kVolume, Volume("storageos: {secretRef: {name: a}}").c_str(),
       {"spec.storageos.volumeName: Required value",
        "spec.storageos.secretRef.namespace: Required value"}},
  });
}

TEST(ValidateStorage, KeepsTheSourceOfAVolume) {
  const std::string host = Volume("hostPath: {path: /x}"), other = Volume("hostPath: {path: /y}");
  const auto pinned = [](const std::string& key) {
    return Volume("hostPath: {path: /x}, nodeAffinity: {required: {nodeSelectorTerms: "
                  "[{matchExpressions: [{key: " + key + ", operator: Exists}]}]}}");
  };
  const auto driver = [](const std::string& more) {
    return Volume("csi: {driver: d, volumeHandle: h" + more + "}");
  };
  ExpectFaults({
      {kVolume, host.c_str(), other.c_str(),
       {"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
        "creation"}},
      {kVolume, host.c_str(), Volume("hostPath: {path: /x}, volumeMode: Block").c_str(),
       {"volumeMode: Invalid value: \"Block\": field is immutable"}},
      {kVolume, host.c_str(), pinned("a").c_str(), {}},
      {kVolume, pinned("beta.kubernetes.io/arch").c_str(), pinned("kubernetes.io/arch").c_str(), {}},
      {kVolume, pinned("kubernetes.io/arch").c_str(), pinned("beta.kubernetes.io/arch").c_str(),
       {"nodeAffinity: Invalid value: {\"Required\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":"
        "[{\"Key\":\"beta.kubernetes.io/arch\",\"Operator\":\"Exists\",\"Values\":null}],"
        "\"MatchFields\":null}]}}: field is immutable, except for updating from beta label to GA"}},
      {kVolume, driver("").c_str(),
       driver(", controllerExpandSecretRef: {name: a, namespace: b}").c_str(), {}},
      {kVolume, driver(", controllerExpandSecretRef: {name: a, namespace: b}").c_str(),
       driver(", controllerExpandSecretRef: {name: c, namespace: b}").c_str(),
       {"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
        "creation"}},
  });
}

const char* kClaimHead = "{metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], ";

std::string Claim(const std::string& more, const std::string& size = "2Gi") {
  return kClaimHead + ("resources: {requests: {storage: " + size + "}}" + more) + "}";
}

TEST(ValidateStorage, ChecksClaims) {
  ExpectFaults({
      {kClaim, (Claim("") + "}").c_str(), {}},
      {kClaim,
       "{spec: {accessModes: [ReadWriteMany, ReadWriteOncePod, X, ''], resources: {requests: {storage: "
       "'0'}}, storageClassName: A_, volumeMode: ''}}",
       {"spec.accessModes: Unsupported value: \"X\": supported values: \"ReadOnlyMany\", "
        "\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        "spec.accessModes: Unsupported value: \"\": supported values: \"ReadOnlyMany\", "
        "\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        "spec.resources[storage]: Invalid value: \"0\": must be greater than zero",
        "spec.storageClassName: Invalid value: \"A_\": " + kSubdomain,
        "spec.volumeMode: Unsupported value: \"\": supported values: \"Block\", \"Filesystem\""}},
      {kClaim, (Claim(", selector: {matchExpressions: [{key: b, operator: Foo}]}") + "}").c_str(),
       {"spec.selector.matchExpressions[0].operator: Invalid value: \"Foo\": not a valid selector "
        "operator"}},
      // Dropped, not refused.
      {kClaim, (Claim(", dataSource: {}") + "}").c_str(), {}},
      {kClaim, (Claim(", dataSource: {name: a, kind: Foo}") + "}").c_str(), {}},
      {kClaim, (Claim(", dataSourceRef: {name: a, kind: Foo}") + "}").c_str(),
       {"spec.dataSourceRef: Invalid value: \"Foo\": must be 'PersistentVolumeClaim' when referencing "
        "the default apiGroup"}},
      {kClaim,
       (Claim(", dataSourceRef: {name: a, kind: Foo, apiGroup: b}, dataSource: {name: b, kind: "
              "PersistentVolumeClaim}") + "}").c_str(),
       {"spec: Invalid value: {}: must match dataSourceRef"}},
  });
}

TEST(ValidateStorage, KeepsClaims) {
  const std::string spec =
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims";
  const std::string bound = ", status: {phase: Bound, capacity: {storage: 1Gi}}}";
  const std::string applied =
      ", status: {phase: Bound, currentVolumeAttributesClassName: a}}";
  ExpectFaults({
      {kClaim, (Claim("") + "}").c_str(), (Claim("", "1Gi") + "}").c_str(), {spec}},
      {kClaim, (Claim("") + "}").c_str(), (Claim(", storageClassName: a, volumeName: b") + "}").c_str(), {}},
      {kClaim, (Claim(", storageClassName: a") + "}").c_str(),
       (Claim(", storageClassName: b, volumeMode: Block") + "}").c_str(),
       {spec, "volumeMode: Invalid value: \"Block\": field is immutable"}},
      {kClaim, (Claim("") + bound).c_str(), (Claim("", "1500Mi") + bound).c_str(), {}},
      {kClaim, (Claim("") + bound).c_str(), (Claim("", "1Gi") + bound).c_str(),
       {"spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"}},
      {kClaim, (Claim(", volumeAttributesClassName: a") + applied).c_str(), (Claim("") + applied).c_str(),
       {"spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when "
        "status.currentVolumeAttributesClassName is not nil"}},
      {kClaim,
       "{metadata: {annotations: {volume.beta.kubernetes.io/storage-class: a}}, spec: {accessModes: "
       "[ReadWriteOnce], resources: {requests: {storage: 1}}}}",
       "{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}, storageClassName: b}}",
       {"metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: \"\": field is "
        "immutable",
        spec}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
