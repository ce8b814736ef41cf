#include "apiserver/admission/quota_usage.h"

#include <algorithm>
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_builtin.h"
#include "storage/object/clock.h"

namespace mailroom::admission {
namespace {

using openapi::ArrayAt;
using openapi::ResourceType;

constexpr std::string_view kClassSuffix = ".storageclass.storage.k8s.io/";

bool IsCore(const ResourceType& type, std::string_view plural) {
  return type.stored_as.group.empty() && type.stored_as.resource == plural;
}

std::string CountName(const ResourceType& type) {
  return "count/" + Qualified(type.stored_as.resource, type.stored_as.group);
}

// `requests.example.com/dongle`: a resource of somebody's own, outside kubernetes.io.
bool IsExtendedRequest(const std::string& name) {
  if (!name.starts_with("requests.")) return false;
  const std::string rest = name.substr(9);
  return rest.find('/') != std::string::npos && rest.find("kubernetes.io/") == std::string::npos;
}

bool PodCounts(const std::string& name) {
  static const std::set<std::string> kNames = {
      "count/pods",  "cpu",  "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
      "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
      "pods"};
  return kNames.contains(name) || name.starts_with("hugepages-") ||
         name.starts_with("requests.hugepages-") || IsExtendedRequest(name);
}

bool ServiceCounts(const std::string& name) {
  return name == "count/services" || name == "services" || name == "services.nodeports" ||
         name == "services.loadbalancers";
}

bool ClaimCounts(const std::string& name) {
  return name == "count/persistentvolumeclaims" || name == "persistentvolumeclaims" ||
         name == "requests.storage" ||
         name.ends_with(std::string(kClassSuffix) + "persistentvolumeclaims") ||
         name.ends_with(std::string(kClassSuffix) + "requests.storage");
}

bool HasAlias(const ResourceType& type) {
  return IsCore(type, "configmaps") || IsCore(type, "resourcequotas") ||
         IsCore(type, "replicationcontrollers") || IsCore(type, "secrets");
}

bool IsTerminating(const Json& pod) {
  const Json* deadline = Find(pod, {"spec", "activeDeadlineSeconds"});
  return deadline != nullptr && deadline->is_number() && deadline->get<std::int64_t>() >= 0;
}

bool AsksForNothing(const ResourceList& list) {
  auto counts = [](const auto& entry) {
    return (entry.first == "cpu" || entry.first == "memory") &&
           openapi::CompareQuantities(entry.second, "0") > 0;
  };
  return std::none_of(list.begin(), list.end(), counts);
}

bool IsBestEffort(const Json& pod) {
  for (const char* part : {"requests", "limits"}) {
    if (!AsksForNothing(ListAt(pod, {"spec", "resources", part}))) return false;
    for (const char* member : {"containers", "initContainers"}) {
      for (const Json& container : ArrayAt(pod, {"spec", member})) {
        if (!AsksForNothing(ListAt(container, {"resources", part}))) return false;
      }
    }
  }
  return true;
}

bool CrossesNamespaces(const Json& pod) {
  auto crosses = [](const Json& term) {
    const Json* selector = Find(term, {"namespaceSelector"});
    return !ArrayAt(term, {"namespaces"}).empty() || (selector && !selector->is_null());
  };
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    for (const Json& term : ArrayAt(
             pod, {"spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"})) {
      if (crosses(term)) return true;
    }
    for (const Json& term : ArrayAt(
             pod, {"spec", "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution"})) {
      const Json* inner = Find(term, {"podAffinityTerm"});
      if (inner != nullptr && crosses(*inner)) return true;
    }
  }
  return false;
}

bool NameFits(const QuotaScope& scope, const std::string& name) {
  const bool listed =
      std::find(scope.values.begin(), scope.values.end(), name) != scope.values.end();
  if (scope.op == "In") return !name.empty() && listed;
  if (scope.op == "NotIn") return name.empty() || !listed;
  if (scope.op == "DoesNotExist") return name.empty();
  return !name.empty();
}

bool PodInScope(const QuotaScope& scope, const Json& pod) {
  if (scope.name == "Terminating") return IsTerminating(pod);
  if (scope.name == "NotTerminating") return !IsTerminating(pod);
  if (scope.name == "BestEffort") return IsBestEffort(pod);
  if (scope.name == "NotBestEffort") return !IsBestEffort(pod);
  if (scope.name == "PriorityClass") {
    return NameFits(scope, StringAt(pod, {"spec", "priorityClassName"}));
  }
  if (scope.name == "CrossNamespacePodAffinity") return CrossesNamespaces(pod);
  return false;
}

ResourceList ComputeUsage(const ResourceList& requests, const ResourceList& limits) {
  ResourceList out = {{"pods", "1"}};
  for (const auto& [name, value] : requests) {
    const bool plain = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (plain || name.starts_with("hugepages-")) out[name] = value;
    if (plain || name.starts_with("hugepages-") || name.find('/') != std::string::npos) {
      out["requests." + name] = value;
    }
  }
  for (const char* name : {"cpu", "memory", "ephemeral-storage"}) {
    auto it = limits.find(name);
    if (it != limits.end()) out[std::string("limits.") + name] = it->second;
  }
  return out;
}

// A pod that has ended, or should have by now, holds no resources any more.
bool Lives(const Json& pod, std::int64_t now) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  if (phase == "Failed" || phase == "Succeeded") return false;
  const std::string deletion = StringAt(pod, {"metadata", "deletionTimestamp"});
  const Json* grace = Find(pod, {"metadata", "deletionGracePeriodSeconds"});
  if (deletion.empty() || grace == nullptr) return true;
  return now <= ParseTime(deletion) + IntAt(pod, {"metadata", "deletionGracePeriodSeconds"});
}

ResourceList PodUsage(const Json& pod, std::int64_t now) {
  ResourceList out = {{"count/pods", "1"}};
  if (!Lives(pod, now)) return out;
  Add(out, ComputeUsage(PodTotal(pod, "requests", Overhead::kCounted),
                        PodTotal(pod, "limits", Overhead::kCounted)));
  return out;
}

ResourceList ServiceUsage(const Json& service) {
  const Json& ports = ArrayAt(service, {"spec", "ports"});
  const std::string type = StringAt(service, {"spec", "type"});
  std::size_t node_ports = 0;
  if (type == "NodePort" || type == "LoadBalancer") node_ports = ports.size();
  if (type == "LoadBalancer" && !BoolAt(service, {"spec", "allocateLoadBalancerNodePorts"}, true)) {
    node_ports = static_cast<std::size_t>(
        std::count_if(ports.begin(), ports.end(),
                      [](const Json& port) { return IntAt(port, {"nodePort"}) != 0; }));
  }
  return {{"count/services", "1"},
          {"services", "1"},
          {"services.nodeports", openapi::CanonicalQuantity(std::to_string(node_ports))},
          {"services.loadbalancers", type == "LoadBalancer" ? "1" : "0"}};
}

ResourceList ClaimUsage(const Json& claim) {
  ResourceList out = {{"persistentvolumeclaims", "1"}, {"count/persistentvolumeclaims", "1"}};
  const Json* legacy =
      Find(claim, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  const std::string of_class = legacy != nullptr && legacy->is_string()
                                   ? legacy->get<std::string>()
                                   : StringAt(claim, {"spec", "storageClassName"});
  const std::string prefix = of_class + std::string(kClassSuffix);
  if (!of_class.empty()) out[prefix + "persistentvolumeclaims"] = "1";
  const ResourceList requests = ListAt(claim, {"spec", "resources", "requests"});
  auto storage = requests.find("storage");
  if (storage == requests.end()) return out;
  std::string amount = openapi::WholeQuantity(storage->second);
  const ResourceList allocated = ListAt(claim, {"status", "allocatedResources"});
  if (auto it = allocated.find("storage");
      it != allocated.end() && openapi::CompareQuantities(it->second, amount) > 0) {
    amount = openapi::WholeQuantity(it->second);
  }
  out["requests.storage"] = amount;
  if (!of_class.empty()) out[prefix + "requests.storage"] = amount;
  return out;
}

}  // namespace

std::vector<QuotaScope> ScopesOf(const Json& quota) {
  std::vector<QuotaScope> out;
  for (const std::string& name : StringsAt(quota, {"spec", "scopes"})) {
    out.push_back({name, "Exists", {}});
  }
  for (const Json& item : ArrayAt(quota, {"spec", "scopeSelector", "matchExpressions"})) {
    out.push_back({StringAt(item, {"scopeName"}), StringAt(item, {"operator"}),
                   StringsAt(item, {"values"})});
  }
  return out;
}

bool IsCounted(const ResourceType& type) {
  return type.namespaced && type.stored && !IsCore(type, "events");
}

bool IsCountedByNumber(const ResourceType& type) {
  return !IsCore(type, "pods") && !IsCore(type, "services") &&
         !IsCore(type, "persistentvolumeclaims");
}

std::vector<std::string> CountedAs(const ResourceType& type, const ResourceList& hard) {
  std::vector<std::string> out;
  const std::string count = CountName(type);
  for (const auto& [name, value] : hard) {
    bool counted = name == count || (HasAlias(type) && name == type.stored_as.resource);
    if (IsCore(type, "pods")) counted = PodCounts(name);
    if (IsCore(type, "services")) counted = ServiceCounts(name);
    if (IsCore(type, "persistentvolumeclaims")) counted = ClaimCounts(name);
    if (counted) out.push_back(name);
  }
  return out;
}

bool InScopes(const ResourceType& type, const std::vector<QuotaScope>& scopes,
              const Json& object) {
  return std::all_of(scopes.begin(), scopes.end(), [&](const QuotaScope& scope) {
    if (IsCore(type, "persistentvolumeclaims") && scope.name == "VolumeAttributesClass") {
      return NameFits(scope, StringAt(object, {"spec", "volumeAttributesClassName"}));
    }
    return IsCore(type, "pods") && PodInScope(scope, object);
  });
}

ResourceList UsageOf(const ResourceType& type, const Json& object, std::int64_t now) {
  if (IsCore(type, "pods")) return PodUsage(object, now);
  if (IsCore(type, "services")) return ServiceUsage(object);
  if (IsCore(type, "persistentvolumeclaims")) return ClaimUsage(object);
  ResourceList out = {{CountName(type), "1"}};
  if (HasAlias(type)) out[type.stored_as.resource] = "1";
  return out;
}

bool MayCharge(const Attributes& attributes, const Json& object) {
  const ResourceType& type = *attributes.type;
  if (!IsCounted(type) || attributes.operation == Operation::kDelete) return false;
  const bool claim = IsCore(type, "persistentvolumeclaims");
  if (IsCore(type, "pods") && attributes.subresource == "resize") return true;
  if (!attributes.subresource.empty() && !(claim && attributes.subresource == "status")) {
    return false;
  }
  if (attributes.operation == Operation::kCreate) return true;
  if (IsCore(type, "pods")) {
    return attributes.old != nullptr && IsTerminating(*attributes.old) != IsTerminating(object);
  }
  return claim || IsCore(type, "services");
}

std::string MissingRequirements(const ResourceType& type, const std::vector<std::string>& counted,
                                const Json& object) {
  if (!IsCore(type, "pods")) return "";
  if (const Json* whole = Find(object, {"spec", "resources"}); whole && !whole->empty()) return "";
  static const std::set<std::string> kDemanded = {"cpu",         "memory",       "requests.cpu",
                                                  "requests.memory", "limits.cpu", "limits.memory"};
  std::map<std::string, std::set<std::string>> missing;  // resource, containers without it
  for (const char* member : {"containers", "initContainers"}) {
    for (const Json& container : ArrayAt(object, {"spec", member})) {
      const ResourceList has = ComputeUsage(ListAt(container, {"resources", "requests"}),
                                            ListAt(container, {"resources", "limits"}));
      for (const std::string& name : counted) {
        if (kDemanded.contains(name) && !has.contains(name)) {
          missing[name].insert(StringAt(container, {"name"}));
        }
      }
    }
  }
  std::string out;
  for (const auto& [name, containers] : missing) {
    out += (out.empty() ? "must specify " : "; ") + name + " for: ";
    bool first = true;
    for (const std::string& container : containers) {
      out += (first ? "" : ",") + container;
      first = false;
    }
  }
  return out;
}

}  // namespace mailroom::admission
