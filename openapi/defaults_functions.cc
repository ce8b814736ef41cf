// The defaults that are not constants, by the names builtin/defaults.yaml uses.
#include <array>
#include <chrono>
#include <utility>

#include "openapi/base64.h"
#include "openapi/crd.h"
#include "openapi/defaults.h"
#include "openapi/image_name.h"
#include "openapi/normalize_quantity.h"
#include "openapi/pod_resources.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

// The array at `path`, or an empty one that nobody sees.
Json& ItemsAt(Json& object, Path path) {
  static thread_local Json none;
  Json* items = Find(object, path);
  if (items != nullptr && items->is_array()) return *items;
  none = Json::array();
  return none;
}

void CopyMissing(const Json& from, Json& to) {
  if (!from.is_object()) return;
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) to[key] = value;
  }
}

bool Has(const Json& object, std::string_view member) {
  const Json* found = Find(object, {member});
  return found != nullptr && !(found->is_object() && found->empty());
}

void NamespaceNameLabel(Json& object) {
  const std::string name = StringAt(object, {"metadata", "name"});
  if (!name.empty()) Set(object, {"metadata", "labels", "kubernetes.io/metadata.name"}, name);
}

void RequestsFromLimits(Json& pod) {
  for (const char* list : {"containers", "initContainers"}) {
    for (Json& container : ItemsAt(pod, {"spec", list})) {
      const Json* limits = Find(container, {"resources", "limits"});
      if (limits == nullptr || !limits->is_object()) continue;
      const Json wanted = *limits;
      Json* requests = Find(container, {"resources", "requests"});
      if (requests == nullptr || !requests->is_object()) {
        requests = &Set(container, {"resources", "requests"}, Json::object());
      }
      CopyMissing(wanted, *requests);
    }
  }
}

void HostNetworkPorts(Json& pod) {
  if (!BoolAt(pod, {"spec", "hostNetwork"})) return;
  for (const char* list : {"containers", "initContainers"}) {
    for (Json& container : ItemsAt(pod, {"spec", list})) {
      for (Json& port : ItemsAt(container, {"ports"})) {
        if (IntAt(port, {"hostPort"}) == 0) {
          Set(port, {"hostPort"}, IntAt(port, {"containerPort"}));
        }
      }
    }
  }
}

// The positive amounts of cpu and memory in a list of resources, by name.
Json ComputeAmounts(const Json& owner, std::string_view list) {
  Json amounts = Json::object();
  for (const char* name : {"cpu", "memory"}) {
    const std::string text = StringAt(owner, {"resources", list, name});
    if (QuantityMillis(text).value_or(0) > 0) amounts[name] = CanonicalQuantity(text);
  }
  return amounts;
}

void NegativeGrace(Json& pod) {
  if (IntAt(pod, {"spec", "terminationGracePeriodSeconds"}) >= 0) return;
  Set(pod, {"spec", "terminationGracePeriodSeconds"}, 1);
}

void QosClass(Json& pod) {
  if (!StringAt(pod, {"status", "qosClass"}).empty()) return;
  Set(pod, {"status", "qosClass"}, QosClassOf(pod));
}

const char* PolicyFor(const std::string& image) {
  return ImageTag(image) == "latest" ? "Always" : "IfNotPresent";
}

void PullPolicy(Json& container) {
  if (!StringAt(container, {"imagePullPolicy"}).empty()) return;
  Set(container, {"imagePullPolicy"}, PolicyFor(StringAt(container, {"image"})));
}

void VolumeSource(Json& volume) {
  bool has_source = false;
  for (const auto& [name, source] : volume.items()) has_source |= name != "name";
  if (!has_source) Set(volume, {"emptyDir"}, Json::object());
  if (Json* image = Find(volume, {"image"}); image && StringAt(*image, {"pullPolicy"}).empty()) {
    Set(*image, {"pullPolicy"}, PolicyFor(StringAt(*image, {"reference"})));
  }
}

// serviceAccount is an old name of serviceAccountName; both are shown.
void ServiceAccountAlias(Json& spec) {
  std::string name = StringAt(spec, {"serviceAccountName"});
  if (name.empty()) name = StringAt(spec, {"serviceAccount"});
  if (name.empty()) return;
  Set(spec, {"serviceAccountName"}, name);
  Set(spec, {"serviceAccount"}, name);
}

void ClaimTemplateKinds(Json& spec) {
  for (Json& claim : ItemsAt(spec, {"volumeClaimTemplates"})) {
    Set(claim, {"apiVersion"}, "v1");
    Set(claim, {"kind"}, "PersistentVolumeClaim");
  }
}

void ReplicationControllerLabels(Json& object) {
  const Json* found = Find(object, {"spec", "template", "metadata", "labels"});
  if (found == nullptr) return;
  const Json labels = *found;
  if (const Json* spec = Find(object, {"spec"}); spec && !Has(*spec, "selector")) {
    Set(object, {"spec", "selector"}, labels);
  }
  if (const Json* meta = Find(object, {"metadata"}); meta && !Has(*meta, "labels")) {
    Set(object, {"metadata", "labels"}, labels);
  }
}

void JobLabels(Json& job) {
  const Json* found = Find(job, {"spec", "template", "metadata", "labels"});
  const Json* meta = Find(job, {"metadata"});
  if (found == nullptr || meta == nullptr || Has(*meta, "labels")) return;
  const Json labels = *found;
  Set(job, {"metadata", "labels"}, labels);
}

void SessionAffinityConfig(Json& spec) {
  const std::string affinity = StringAt(spec, {"sessionAffinity"});
  if (affinity == "None") Erase(spec, {"sessionAffinityConfig"});
  if (affinity != "ClientIP") return;
  if (Find(spec, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"}) != nullptr) return;
  Set(spec, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"}, 10800);
}

void ServicePorts(Json& spec) {
  for (Json& port : ItemsAt(spec, {"ports"})) {
    if (StringAt(port, {"protocol"}).empty()) Set(port, {"protocol"}, "TCP");
    const Json* target = Find(port, {"targetPort"});
    if (target == nullptr || *target == 0 || *target == "") {
      Set(port, {"targetPort"}, IntAt(port, {"port"}));
    }
  }
}

void ExternalTrafficPolicy(Json& spec) {
  const std::string type = StringAt(spec, {"type"});
  const bool external = type == "NodePort" || type == "LoadBalancer" ||
                        (type == "ClusterIP" && !ItemsAt(spec, {"externalIPs"}).empty());
  if (external && StringAt(spec, {"externalTrafficPolicy"}).empty()) {
    Set(spec, {"externalTrafficPolicy"}, "Cluster");
  }
}

// stringData is write-only: it overrides data and is never shown.
void MergeStringData(Json& secret) {
  const Json* plain = Find(secret, {"stringData"});
  if (plain == nullptr) return;
  const Json entries = *plain;
  Erase(secret, {"stringData"});
  if (!entries.is_object()) return;
  for (const auto& [key, value] : entries.items()) {
    if (value.is_string()) Set(secret, {"data", key}, EncodeBase64(value.get<std::string>()));
  }
}

void AllocatableFromCapacity(Json& status) {
  const Json* capacity = Find(status, {"capacity"});
  if (capacity == nullptr || Find(status, {"allocatable"}) != nullptr) return;
  const Json copy = *capacity;
  Set(status, {"allocatable"}, copy);
}

void LimitRangeDefaults(Json& item) {
  if (StringAt(item, {"type"}) != "Container") return;
  static constexpr std::pair<const char*, const char*> kCopies[] = {
      {"max", "default"}, {"default", "defaultRequest"}, {"min", "defaultRequest"}};
  for (const auto& [from, to] : kCopies) {
    const Json* source = Find(item, {from});
    if (source == nullptr || !source->is_object() || source->empty()) continue;
    const Json copy = *source;
    if (Find(item, {to}) == nullptr) Set(item, {to}, Json::object());
    CopyMissing(copy, *Find(item, {to}));
  }
}

void StatefulSetPartition(Json& spec) {
  if (StringAt(spec, {"updateStrategy", "type"}) != "RollingUpdate") return;
  Json* rolling = Find(spec, {"updateStrategy", "rollingUpdate"});
  if (rolling == nullptr) return;
  if (Find(*rolling, {"partition"}) == nullptr) Set(*rolling, {"partition"}, 0);
}

void TaintTime(Json& taint) {
  const std::string now = FormatTime(std::chrono::system_clock::now());
  if (Find(taint, {"timeAdded"}) == nullptr) Set(taint, {"timeAdded"}, now);
}

void PolicyTypes(Json& spec) {
  if (!ItemsAt(spec, {"policyTypes"}).empty()) return;
  Json types = {"Ingress"};
  if (!ItemsAt(spec, {"egress"}).empty()) types.push_back("Egress");
  Set(spec, {"policyTypes"}, types);
}

constexpr std::array<std::pair<std::string_view, DefaultFunction>, 22> kFunctions = {{
    {"namespaceNameLabel", NamespaceNameLabel},
    {"requestsFromLimits", RequestsFromLimits},
    {"podAmounts", DefaultPodAmounts},
    {"hostNetworkPorts", HostNetworkPorts},
    {"negativeGrace", NegativeGrace},
    {"qosClass", QosClass},
    {"serviceAccountAlias", ServiceAccountAlias},
    {"claimTemplateKinds", ClaimTemplateKinds},
    {"pullPolicy", PullPolicy},
    {"volumeSource", VolumeSource},
    {"replicationControllerLabels", ReplicationControllerLabels},
    {"jobLabels", JobLabels},
    {"sessionAffinityConfig", SessionAffinityConfig},
    {"servicePorts", ServicePorts},
    {"externalTrafficPolicy", ExternalTrafficPolicy},
    {"mergeStringData", MergeStringData},
    {"allocatableFromCapacity", AllocatableFromCapacity},
    {"limitRangeDefaults", LimitRangeDefaults},
    {"statefulSetPartition", StatefulSetPartition},
    {"policyTypes", PolicyTypes},
    {"taintTime", TaintTime},
    {"definition", DefaultCrd},
}};

}  // namespace

std::string QosClassOf(const Json& pod) {
  bool any = false, guaranteed = true;
  auto count = [&](const Json& owner) {
    const Json requests = ComputeAmounts(owner, "requests"),
               limits = ComputeAmounts(owner, "limits");
    any |= !requests.empty() || !limits.empty();
    guaranteed &= limits.size() == 2 && requests == limits;
  };
  const Json* own = Find(pod, {"spec", "resources"});
  if (own != nullptr && own->is_object()) {
    count(*Find(pod, {"spec"}));
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      const Json* containers = Find(pod, {"spec", list});
      if (containers == nullptr || !containers->is_array()) continue;
      for (const Json& container : *containers) count(container);
    }
  }
  return !any ? "BestEffort" : (guaranteed ? "Guaranteed" : "Burstable");
}

DefaultFunction FindDefaultFunction(std::string_view name) {
  for (const auto& [known, function] : kFunctions) {
    if (known == name) return function;
  }
  return nullptr;
}

}  // namespace mailroom::openapi
