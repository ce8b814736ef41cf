#include "openapi/warn_builtin.h"

#include <algorithm>
#include <map>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

struct Subject {
  const Json& object;
  const Json* old;  // null on create
  Warnings& warnings;

  bool created() const { return old == nullptr; }
  // On create, and when what is wanted changes.
  bool respecified() const {
    return created() || IntAt(*old, {"metadata", "generation"}) !=
                            IntAt(object, {"metadata", "generation"});
  }
  void Warn(std::string text) const { warnings.push_back(std::move(text)); }
  void Annotation(const char* key, const char* why) const {
    if (Find(object, {"metadata", "annotations", key}) == nullptr) return;
    Warn("metadata.annotations[" + std::string(key) + "]: " + why);
  }
};

// As Go prints a list.
std::string Listed(const Complaints& complaints) {
  std::string text = "[";
  for (const std::string& complaint : complaints) {
    if (text.size() > 1) text += ' ';
    text += complaint;
  }
  return text + "]";
}

void WarnAboutName(const Subject& subject, const char* use) {
  if (!subject.created()) return;
  const Complaints complaints = CheckLabel(StringAt(subject.object, {"metadata", "name"}));
  if (complaints.empty()) return;
  subject.Warn("metadata.name: this is used in " + std::string(use) +
               ", which can result in surprising behavior; a DNS label is recommended: " +
               Listed(complaints));
}

constexpr const char* kPodNames = "Pod names and hostnames";

void WarnAboutTemplate(const Subject& subject, Path at) {
  const Json* pod = Find(subject.object, at);
  if (pod != nullptr && subject.respecified()) WarnAboutPod(*pod, DottedPath(at), subject.warnings);
}

void OfPod(const Subject& subject) {
  if (!subject.created()) return;
  WarnAboutName(subject, "the Pod's hostname");
  WarnAboutPod(subject.object, "", subject.warnings);
}

void OfPodTemplate(const Subject& subject) { WarnAboutTemplate(subject, {"template"}); }

void OfReplicas(const Subject& subject) {
  WarnAboutName(subject, kPodNames);
  WarnAboutTemplate(subject, {"spec", "template"});
}

void OfDaemonSet(const Subject& subject) {
  const Json* pod = Find(subject.object, {"spec", "template"});
  const Json* before = subject.created() ? nullptr : Find(*subject.old, {"spec", "template"});
  if (pod == nullptr || (before != nullptr && *before == *pod)) return;
  WarnAboutPod(*pod, "spec.template", subject.warnings);
}

void OfStatefulSet(const Subject& subject) {
  WarnAboutTemplate(subject, {"spec", "template"});
  const Json& claims = ArrayAt(subject.object, {"spec", "volumeClaimTemplates"});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Json* spec = Find(claims[i], {"spec"});
    if (spec == nullptr) continue;
    WarnAboutClaimSpec(*spec, Indexed("spec.volumeClaimTemplates", i) +
                                  (subject.created() ? "" : ".Spec"), subject.warnings);
  }
  if (IntAt(subject.object, {"spec", "revisionHistoryLimit"}) < 0) {
    subject.Warn("spec.revisionHistoryLimit: a negative value retains all historical revisions; a "
                 "value >= 0 is recommended");
  }
}

void WarnAboutJobSpec(const Subject& subject, Path at) {
  const Json* spec = Find(subject.object, at);
  if (spec == nullptr || !subject.respecified()) return;
  if (StringAt(*spec, {"completionMode"}) == "Indexed" && IntAt(*spec, {"completions"}) > 100'000 &&
      IntAt(*spec, {"parallelism"}) > 10'000) {
    subject.Warn(DottedPath(at) +
                 ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism "
                 "higher than 10^4, Kubernetes might not be able to track completedIndexes when a "
                 "big number of indexes fail");
  }
  if (const Json* pod = Find(*spec, {"template"})) {
    WarnAboutPod(*pod, DottedPath(at) + ".template", subject.warnings);
  }
}

void OfJob(const Subject& subject) {
  WarnAboutName(subject, kPodNames);
  WarnAboutJobSpec(subject, {"spec"});
}

void OfCronJob(const Subject& subject) {
  WarnAboutName(subject, kPodNames);
  WarnAboutJobSpec(subject, {"spec", "jobTemplate", "spec"});
  if (!subject.created() &&
      StringAt(subject.object, {"spec", "schedule"}).find("TZ") != std::string::npos) {
    subject.Warn("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
                 "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more "
                 "details");
  }
}

void WarnAboutIps(const Subject& subject, Path at) {
  const Json& list = ArrayAt(subject.object, at);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) continue;
    WarnAboutIp(Indexed(DottedPath(at), i), list[i].get<std::string>(), subject.warnings);
  }
}

void WarnAboutRanges(const Json& list, const std::string& path, Warnings& warnings) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string()) WarnAboutCidr(Indexed(path, i), list[i].get<std::string>(), warnings);
  }
}

void OfService(const Subject& subject) {
  const Json& object = subject.object;
  if (Find(object, {"metadata", "annotations", "service.kubernetes.io/topology-aware-hints"})) {
    subject.Warn("annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
                 "service.kubernetes.io/topology-mode instead");
  }
  const std::string type = StringAt(object, {"spec", "type"});
  const std::string ip = StringAt(object, {"spec", "clusterIP"});
  const bool headless = type == "ClusterIP" && ip == "None";
  const bool external_ips = !ArrayAt(object, {"spec", "externalIPs"}).empty();
  const std::string balancer = StringAt(object, {"spec", "loadBalancerIP"});
  if (!ip.empty() && ip != "None") WarnAboutIps(subject, {"spec", "clusterIPs"});
  if (headless) {
    if (!balancer.empty()) subject.Warn("spec.loadBalancerIP is ignored for headless services");
    if (external_ips) subject.Warn("spec.externalIPs is ignored for headless services");
    if (StringAt(object, {"spec", "sessionAffinity"}) != "None") {
      subject.Warn("spec.SessionAffinity is ignored for headless services");
    }
  }
  WarnAboutIps(subject, {"spec", "externalIPs"});
  if (external_ips && !headless && type != "ExternalName") {
    subject.Warn("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  if (!balancer.empty()) WarnAboutIp("spec.loadBalancerIP", balancer, subject.warnings);
  WarnAboutRanges(ArrayAt(object, {"spec", "loadBalancerSourceRanges"}),
                  "spec.loadBalancerSourceRanges", subject.warnings);
  if (type == "ExternalName" && external_ips) {
    subject.Warn("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  }
  if (type != "ExternalName" && !StringAt(object, {"spec", "externalName"}).empty()) {
    subject.Warn("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  }
  if (StringAt(object, {"spec", "trafficDistribution"}) == "PreferClose") {
    subject.Warn("spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                 "\"PreferSameZone\"");
  }
}

void OfVolumeClaim(const Subject& subject) {
  subject.Annotation("volume.beta.kubernetes.io/storage-class",
                     "deprecated since v1.8; use \"storageClassName\" attribute instead");
  if (const Json* spec = Find(subject.object, {"spec"})) {
    WarnAboutClaimSpec(*spec, "spec", subject.warnings);
  }
}

void OfVolume(const Subject& subject) {
  subject.Annotation("volume.beta.kubernetes.io/storage-class",
                     "deprecated since v1.8; use \"storageClassName\" attribute instead");
  subject.Annotation("volume.beta.kubernetes.io/mount-options",
                     "deprecated since v1.31; use \"mountOptions\" attribute instead");
  if (StringAt(subject.object, {"spec", "persistentVolumeReclaimPolicy"}) == "Recycle") {
    subject.Warn("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
                 "Instead, the recommended approach is to use dynamic provisioning.");
  }
  const Json& terms =
      ArrayAt(subject.object, {"spec", "nodeAffinity", "required", "nodeSelectorTerms"});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    WarnAboutNodeTerm(terms[i], false,
                      Indexed("spec.nodeAffinity.required.nodeSelectorTerms", i), subject.warnings);
  }
  static const std::map<std::string, std::string> kDead = {
      {"cephfs", "cephfs: deprecated in v1.28, non-functional in v1.31+"},
      {"photonPersistentDisk", "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"},
      {"scaleIO", "scaleIO: deprecated in v1.16, non-functional in v1.22+"},
      {"storageos", "storageOS: deprecated in v1.22, non-functional in v1.25+"},
      {"glusterfs", "glusterfs: deprecated in v1.25, non-functional in v1.26+"},
      {"rbd", "rbd: deprecated in v1.28, non-functional in v1.31+"}};
  for (const auto& [member, text] : kDead) {
    if (Find(subject.object, {"spec", member.c_str()}) != nullptr) subject.Warn("spec." + text);
  }
}

void OfIngress(const Subject& subject) {
  if (subject.created() && Find(subject.object, {"spec", "ingressClassName"}) == nullptr &&
      Find(subject.object, {"metadata", "annotations", "kubernetes.io/ingress.class"}) != nullptr) {
    subject.Warn("annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                 "'spec.ingressClassName' instead");
  }
}

void OfNode(const Subject& subject) {
  if (Find(subject.object, {"spec", "configSource"}) != nullptr) {
    subject.Warn("spec.configSource: the feature is removed");
  }
  if (!StringAt(subject.object, {"spec", "externalID"}).empty()) {
    subject.Warn("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  }
  WarnAboutRanges(ArrayAt(subject.object, {"spec", "podCIDRs"}), "spec.podCIDRs", subject.warnings);
}

void OfServiceAccount(const Subject& subject) {
  constexpr const char* kKey = "kubernetes.io/enforce-mountable-secrets";
  if (!subject.created() && Find(*subject.old, {"metadata", "annotations", kKey}) != nullptr) return;
  subject.Annotation(kKey, "deprecated in v1.32+; prefer separate namespaces to isolate access to "
                           "mounted secrets");
}

void OfNetworkPolicy(const Subject& subject) {
  const auto blocks = [&](const char* direction, const char* peers) {
    const Json& rules = ArrayAt(subject.object, {"spec", direction});
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Json& list = ArrayAt(rules[i], {peers});
      for (std::size_t k = 0; k < list.size(); ++k) {
        const Json* block = Find(list[k], {"ipBlock"});
        if (block == nullptr) continue;
        const std::string at =
            Indexed(Indexed("spec." + std::string(direction), i) + "." + peers, k) + ".ipBlock";
        WarnAboutCidr(at + ".cidr", StringAt(*block, {"cidr"}), subject.warnings);
        WarnAboutRanges(ArrayAt(*block, {"except"}), at + ".except", subject.warnings);
      }
    }
  };
  blocks("ingress", "from");
  blocks("egress", "to");
}

void OfRuntimeClass(const Subject& subject) {
  const Json* labels = Find(subject.object, {"scheduling", "nodeSelector"});
  if (labels == nullptr || !labels->is_object()) return;
  for (const auto& [label, value] : labels->items()) {
    const std::string why = NodeLabelProblem(label);
    if (!why.empty()) subject.Warn("scheduling.nodeSelector: " + why);
  }
}

void OfStorageClass(const Subject& subject) {
  const Json& terms = ArrayAt(subject.object, {"allowedTopologies"});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Json& expressions = ArrayAt(terms[i], {"matchLabelExpressions"});
    for (std::size_t k = 0; k < expressions.size(); ++k) {
      const std::string why = NodeLabelProblem(StringAt(expressions[k], {"key"}));
      if (why.empty()) continue;
      subject.Warn(Indexed(Indexed("allowedTopologies", i) + ".matchLabelExpressions", k) +
                   ".key: " + why);
    }
  }
}

void OfSecret(const Subject& subject) { WarnAboutKeyPair(subject.object, subject.warnings); }

std::string Managed(const Subject& subject, const char* label) {
  return StringAt(subject.object, {"metadata", "labels", label});
}

// The member `ip` of each element of a list.
void WarnAboutListed(const Json& list, const std::string& path, const char* member,
                     Warnings& warnings) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string ip = StringAt(list[i], {"ip"});
    if (!ip.empty()) WarnAboutIp(Indexed(path, i) + member, ip, warnings);
  }
}

void OfEndpoints(const Subject& subject) {
  if (Managed(subject, "endpoints.kubernetes.io/managed-by") == "endpoint-controller") return;
  const Json& subsets = ArrayAt(subject.object, {"subsets"});
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      WarnAboutListed(ArrayAt(subsets[i], {list}), Indexed("subsets", i) + "." + list, ".ip",
                      subject.warnings);
    }
  }
}

// What may be asked for should not be more than what may be used.
void OfQuota(const Subject& subject) {
  if (!subject.created()) return;
  for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
    const std::string limits = "limits." + name;
    std::string requests = "requests." + name;
    const bool plain = name == "cpu" || name == "memory";
    if (plain && Find(subject.object, {"spec", "hard", requests}) == nullptr) requests = name;
    const std::string asked = StringAt(subject.object, {"spec", "hard", requests});
    const std::string used = StringAt(subject.object, {"spec", "hard", limits});
    const auto more = QuantityMillis(asked), most = QuantityMillis(used);
    if (asked.empty() || used.empty() || !more || !most || *more <= *most) continue;
    subject.Warn("ResourceQuota " + requests + " (" + asked + ") should be less than " + limits +
                 " (" + used + ")");
  }
}

void OfDriver(const Subject& subject) {
  const Json& asked = ArrayAt(subject.object, {"spec", "tokenRequests"});
  if (asked.empty() || Find(subject.object, {"spec", "serviceAccountTokenInSecrets"}) != nullptr)
    return;
  if (!subject.created() && ArrayAt(*subject.old, {"spec", "tokenRequests"}) == asked) return;
  subject.Warn(
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
      "true to prevent possible logging of tokens in volume attributes");
}

void OfStorageCapacity(const Subject& subject) {
  const Json& expressions = ArrayAt(subject.object, {"nodeTopology", "matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string key = StringAt(expressions[i], {"key"}), why = NodeLabelProblem(key);
    if (why.empty()) continue;
    subject.Warn(Indexed("nodeTopology.matchExpressions", i) + ".key: " + key + " is " + why);
  }
  const Json* labels = Find(subject.object, {"nodeTopology", "matchLabels"});
  if (labels == nullptr || !labels->is_object()) return;
  for (const auto& [label, value] : labels->items()) {
    const std::string why = NodeLabelProblem(label);
    if (!why.empty()) subject.Warn("nodeTopology.matchLabels." + label + ": " + why);
  }
}

void OfDeviceSlice(const Subject& subject) {
  const std::string driver = StringAt(subject.object, {"spec", "driver"});
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (std::none_of(driver.begin(), driver.end(), is_upper)) return;
  subject.Warn("spec.driver: driver names should be lowercase; " + Quoted(driver) +
               " contains uppercase characters");
}

void OfAdmission(const Subject& subject) {
  if (!StringAt(subject.object, {"metadata", "name"}).ends_with(".static.k8s.io")) return;
  subject.Warn("metadata.name: names ending with \".static.k8s.io\" are reserved for static "
               "manifest-based configurations and cannot be managed via the API");
}

void OfSlice(const Subject& subject) {
  if (subject.created() && StringAt(subject.object, {"addressType"}) == "FQDN") {
    subject.Warn("spec.addressType: FQDN endpoints are deprecated");
  }
  // These write no odd addresses.
  const std::string by = Managed(subject, "endpointslice.kubernetes.io/managed-by");
  if (by == "endpointslice-controller.k8s.io" || by == "endpointslicemirroring-controller.k8s.io") {
    return;
  }
  const Json& endpoints = ArrayAt(subject.object, {"endpoints"});
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const Json& addresses = ArrayAt(endpoints[i], {"addresses"});
    for (std::size_t k = 0; k < addresses.size(); ++k) {
      if (!addresses[k].is_string()) continue;
      WarnAboutIp(Indexed(Indexed("endpoints", i) + ".addresses", k),
                  addresses[k].get<std::string>(), subject.warnings);
    }
  }
}

}  // namespace

std::string Below(const std::string& path, const std::string& member) {
  return path.empty() ? member : path + "." + member;
}

std::string NodeLabelProblem(const std::string& label) {
  static const std::map<std::string, std::string> kOld = {
      {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
      {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
      {"failure-domain.beta.kubernetes.io/region",
       "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
      {"failure-domain.beta.kubernetes.io/zone",
       "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
      {"beta.kubernetes.io/instance-type",
       "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
      {"app.kubernetes.io/created-by", "deprecated since v1.9"},
      {"scheduler.alpha.kubernetes.io/preferAvoidPods",
       "deprecated since v1.22; use Taints and Tolerations instead"},
      {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"}};
  auto it = kOld.find(label);
  return it == kOld.end() ? "" : it->second;
}

void WarnAboutNodeTerm(const Json& term, bool values, const std::string& path, Warnings& warnings) {
  const Json& expressions = ArrayAt(term, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string at = Indexed(path + ".matchExpressions", i);
    const std::string key = StringAt(expressions[i], {"key"});
    const std::string why = NodeLabelProblem(key);
    if (!why.empty()) warnings.push_back(at + ".key: " + key + " is " + why);
    if (!values) continue;
    const Json& given = ArrayAt(expressions[i], {"values"});
    for (std::size_t k = 0; k < given.size(); ++k) {
      const std::string value = given[k].is_string() ? given[k].get<std::string>() : "";
      const std::string complaint = CheckLabelValue(value);
      if (complaint.empty()) continue;
      warnings.push_back(Indexed(at + ".values", k) + ": " + value + " is invalid, " + complaint);
    }
  }
}

void WarnAboutFraction(const Json& amounts, const char* name, const std::string& path,
                       Warnings& warnings) {
  auto it = amounts.find(name);
  if (it == amounts.end() || !it->is_string()) return;
  const std::string text = it->get<std::string>();
  const auto millis = QuantityMillis(text);
  if (!millis || *millis % 1000 == 0) return;
  warnings.push_back(path + "[" + name + "]: fractional byte value " +
                     Quoted(CanonicalQuantity(text)) + " is invalid, must be an integer");
}

void WarnAboutClaimSpec(const Json& spec, const std::string& path, Warnings& warnings) {
  for (const char* list : {"requests", "limits"}) {
    if (const Json* amounts = Find(spec, {"resources", list})) {
      WarnAboutFraction(*amounts, "storage", path + ".resources." + list, warnings);
    }
  }
}

void WarnAboutStatus(const ResourceType& type, const Json& object, Warnings& warnings) {
  if (type.stored_as == GroupResource{"", "pods"}) {
    for (const char* list : {"podIPs", "hostIPs"}) {
      WarnAboutListed(ArrayAt(object, {"status", list}), std::string("status.") + list, ".ip",
                      warnings);
    }
  } else if (type.stored_as == GroupResource{"", "services"}) {
    WarnAboutListed(ArrayAt(object, {"status", "loadBalancer", "ingress"}),
                    "status.loadBalancer.ingress", "", warnings);
  }
}

void WarnAboutBuiltin(const ResourceType& type, const Json& object, const Json* old,
                      Warnings& warnings) {
  static const std::map<GroupResource, void (*)(const Subject&)> kKinds = {
      {{"", "pods"}, OfPod},
      {{"", "podtemplates"}, OfPodTemplate},
      {{"", "replicationcontrollers"}, OfReplicas},
      {{"apps", "deployments"}, OfReplicas},
      {{"apps", "replicasets"}, OfReplicas},
      {{"apps", "daemonsets"}, OfDaemonSet},
      {{"apps", "statefulsets"}, OfStatefulSet},
      {{"batch", "jobs"}, OfJob},
      {{"batch", "cronjobs"}, OfCronJob},
      {{"", "services"}, OfService},
      {{"", "persistentvolumeclaims"}, OfVolumeClaim},
      {{"", "persistentvolumes"}, OfVolume},
      {{"", "nodes"}, OfNode},
      {{"", "serviceaccounts"}, OfServiceAccount},
      {{"networking.k8s.io", "ingresses"}, OfIngress},
      {{"networking.k8s.io", "networkpolicies"}, OfNetworkPolicy},
      {{"node.k8s.io", "runtimeclasses"}, OfRuntimeClass},
      {{"storage.k8s.io", "storageclasses"}, OfStorageClass},
      {{"discovery.k8s.io", "endpointslices"}, OfSlice},
      {{"", "endpoints"}, OfEndpoints},
      {{"", "resourcequotas"}, OfQuota},
      {{"", "secrets"}, OfSecret},
      {{"storage.k8s.io", "csidrivers"}, OfDriver},
      {{"storage.k8s.io", "csistoragecapacities"}, OfStorageCapacity},
      {{"resource.k8s.io", "resourceslices"}, OfDeviceSlice},
  };
  if (type.stored_as.group == "admissionregistration.k8s.io") return OfAdmission({object, old, warnings});
  auto it = kKinds.find(type.stored_as);
  if (it != kKinds.end()) it->second({object, old, warnings});
}

}  // namespace mailroom::openapi
