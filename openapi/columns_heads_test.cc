// The heads of the tables of all built-in kinds, as kube-apiserver prints them.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "openapi/builtin.h"
#include "openapi/columns.h"

namespace mailroom::openapi {
namespace {

// `Name:type`, where the type is not string; an asterisk marks what only wide tables show.
const std::map<std::string, std::string, std::less<>> kHeads = {
    {"APIService", "Name | Service | Available | Age"},
    {"CSIDriver",
     "Name | AttachRequired:boolean | PodInfoOnMount:boolean | StorageCapacity:boolean | "
     "TokenRequests | RequiresRepublish:boolean | Modes | Age"},
    {"CSINode", "Name | Drivers:integer | Age"},
    {"CertificateSigningRequest",
     "Name | Age | SignerName | "
     "Requestor | RequestedDuration | Condition"},
    {"ClusterRoleBinding", "Name | Role | Age | Users* | Groups* | ServiceAccounts*"},
    {"ComponentStatus", "Name | Status | Message | Error"},
    {"ConfigMap", "Name | Data | Age"},
    {"ControllerRevision", "Name | Controller | Revision | Age"},
    {"CronJob",
     "Name | Schedule | Timezone | Suspend:boolean | Active:integer | "
     "Last Schedule | Age | Containers* | Images* | Selector*"},
    {"DaemonSet",
     "Name | Desired:integer | Current:integer | Ready:integer | Up-to-date:integer | "
     "Available:integer | Node Selector | Age | Containers* | Images* | Selector*"},
    {"Deployment",
     "Name | Ready | Up-to-date | Available | "
     "Age | Containers* | Images* | Selector*"},
    {"DeviceClass", "Name | Age"},
    {"EndpointSlice", "Name | AddressType | Ports | Endpoints | Age"},
    {"Endpoints", "Name | Endpoints | Age"},
    {"Event",
     "Last Seen | Type | Reason | Object | Subobject* | "
     "Source* | Message | First Seen* | Count* | Name*"},
    {"FlowSchema",
     "Name | PriorityLevel | MatchingPrecedence | "
     "DistinguisherMethod | Age | MissingPL"},
    {"HorizontalPodAutoscaler", "Name | Reference | Targets | MinPods | MaxPods | Replicas | Age"},
    {"IPAddress", "Name | ParentRef"},
    {"Ingress", "Name | Class | Hosts | Address | Ports | Age"},
    {"IngressClass", "Name | Controller | Parameters | Age"},
    {"Job", "Name | Status | Completions | Duration | Age | Containers* | Images* | Selector*"},
    {"Lease", "Name | Holder | Age"},
    {"MutatingAdmissionPolicy", "Name | Mutations:integer | ParamKind | Age"},
    {"MutatingAdmissionPolicyBinding", "Name | PolicyName | ParamRef | Age"},
    {"MutatingWebhookConfiguration", "Name | Webhooks:integer | Age"},
    {"Namespace", "Name | Status | Age"},
    {"NetworkPolicy", "Name | Pod-Selector | Age"},
    {"Node",
     "Name | Status | Roles | Age | Version | "
     "Internal-IP* | External-IP* | OS-Image* | Kernel-Version* | Container-Runtime*"},
    {"PersistentVolume",
     "Name | Capacity | Access Modes | Reclaim Policy | Status | "
     "Claim | StorageClass | VolumeAttributesClass | Reason | Age | VolumeMode*"},
    {"PersistentVolumeClaim",
     "Name | Status | Volume | Capacity | "
     "Access Modes | StorageClass | VolumeAttributesClass | Age | VolumeMode*"},
    {"Pod",
     "Name | Ready | Status | Restarts | "
     "Age | IP* | Node* | Nominated Node* | Readiness Gates*"},
    {"PodDisruptionBudget",
     "Name | Min Available | "
     "Max Unavailable | Allowed Disruptions:integer | Age"},
    {"PodTemplate", "Name | Containers | Images | Pod Labels"},
    {"PriorityClass", "Name | Value:integer | Global-Default:boolean | Age | PreemptionPolicy"},
    {"PriorityLevelConfiguration",
     "Name | Type | NominalConcurrencyShares | "
     "Queues | HandSize | QueueLengthLimit | Age"},
    {"ReplicaSet",
     "Name | Desired:integer | Current:integer | Ready:integer | "
     "Age | Containers* | Images* | Selector*"},
    {"ReplicationController",
     "Name | Desired:integer | Current:integer | Ready:integer | "
     "Age | Containers* | Images* | Selector*"},
    {"ResourceClaim", "Name | State | Age"},
    {"ResourceClaimTemplate", "Name | Age"},
    {"ResourceQuota", "Name | Request | Limit | Age"},
    {"ResourceSlice", "Name | Node | Driver | Pool | Age"},
    {"RoleBinding", "Name | Role | Age | Users* | Groups* | ServiceAccounts*"},
    {"RuntimeClass", "Name | Handler | Age"},
    {"Secret", "Name | Type | Data | Age"},
    {"Service", "Name | Type | Cluster-IP | External-IP | Port(s) | Age | Selector*"},
    {"ServiceAccount", "Name | Age"},
    {"ServiceCIDR", "Name | CIDRs | Age"},
    {"StatefulSet", "Name | Ready | Age | Containers* | Images*"},
    {"StorageClass",
     "Name | Provisioner | ReclaimPolicy | "
     "VolumeBindingMode | AllowVolumeExpansion | Age"},
    {"ValidatingAdmissionPolicy", "Name | Validations:integer | ParamKind | Age"},
    {"ValidatingAdmissionPolicyBinding", "Name | PolicyName | ParamRef | Age"},
    {"ValidatingWebhookConfiguration", "Name | Webhooks:integer | Age"},
    {"VolumeAttachment", "Name | Attacher | PV | Node | Attached:boolean | Age"},
    {"VolumeAttributesClass", "Name | DriverName | Age"},
};
// Of all others: definitions, reviews, and CSIStorageCapacity, whose printer is never asked.
constexpr const char* kOtherHead = "Name | Created At:date";

std::string HeadOf(const GroupVersionKind& kind) {
  std::string out;
  for (const Column& column : BuiltinColumns(kind)) {
    if (!out.empty()) out += " | ";
    out += column.name;
    if (column.type != "string") out += ":" + column.type;
    if (column.priority > 0) out += "*";
  }
  return out;
}

TEST(TableHeads, OfEveryKind) {
  std::size_t found = 0;
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    const auto at = kHeads.find(type->gvk.kind);
    found += at != kHeads.end();
    EXPECT_EQ(HeadOf(type->gvk), at != kHeads.end() ? at->second : kOtherHead)
        << type->gvk.ApiVersion() << " " << type->gvk.kind;
  }
  EXPECT_GE(found, kHeads.size()) << "a kind of the table is not served";
}

}  // namespace
}  // namespace mailroom::openapi
