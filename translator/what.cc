#include "translator/what.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace mailroom::translator {
namespace {

bool AnyOrListed(const std::vector<std::string>& list, std::string_view value) {
  return list.empty() || std::any_of(list.begin(), list.end(), [value](const std::string& entry) {
           return entry == "*" || entry == value;
         });
}

// `widgets` or `widgets.example.com`; a plural never has a dot.
bool ResourceListed(const std::vector<std::string>& list, const GroupResource& resource) {
  return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& entry) {
           if (entry == "*" || entry == resource.resource) return true;
           const std::size_t dot = entry.find('.');
           return dot != std::string::npos &&
                  std::string_view(entry).substr(0, dot) == resource.resource &&
                  std::string_view(entry).substr(dot + 1) == resource.group;
         });
}

bool AnyOf(const std::vector<LabelSelector>& selectors, const LabelViews& labels) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [&labels](const LabelSelector& s) { return s.Matches(labels); });
}

bool NamespacePasses(const Clause& clause, const Subject& subject) {
  if (clause.namespace_selectors.empty()) return true;
  static const LabelViews kNoLabels;
  if (subject.id.ns.empty()) return AnyOf(clause.namespace_selectors, kNoLabels);
  return subject.namespace_labels != nullptr &&
         AnyOf(clause.namespace_selectors, *subject.namespace_labels);
}

bool HasLabel(const Object& object, std::string_view key) {
  const auto& labels = object.meta().labels;
  return std::any_of(labels.begin(), labels.end(), [key](const auto& l) { return l.first == key; });
}

// Groups whose objects steer the hub itself, or are questions rather than objects.
constexpr std::array<std::string_view, 6> kHubGroups = {
    "edge.kubestellar.io",  "control.kubestellar.io", "mailbox.kubestellar.io",
    "authorization.k8s.io", "authentication.k8s.io",  "cluster.open-cluster-management.io",
};

const std::set<GroupResource>& ClusterOwned() {
  static const std::set<GroupResource> resources = {
      {"", "bindings"},
      {"", "componentstatuses"},
      {"", "events"},
      {"", "nodes"},
      {"apps", "controllerrevisions"},
      {"certificates.k8s.io", "certificatesigningrequests"},
      {"coordination.k8s.io", "leases"},
      {"events.k8s.io", "events"},
      {"storage.k8s.io", "csinodes"},
      {"storage.k8s.io", "csistoragecapacities"},
      {"storage.k8s.io", "volumeattachments"},
  };
  return resources;
}

}  // namespace

bool Matches(const Clause& clause, const Subject& subject) {
  const ObjectId& id = subject.id;
  if (clause.api_group.has_value() && *clause.api_group != id.resource.group) return false;
  if (!ResourceListed(clause.resources, id.resource)) return false;
  if (!AnyOrListed(clause.namespaces, id.ns)) return false;
  if (!AnyOrListed(clause.object_names, id.name)) return false;
  if (!clause.object_selectors.empty() && !AnyOf(clause.object_selectors, subject.labels)) {
    return false;
  }
  return NamespacePasses(clause, subject);
}

bool GoesToEdge(const GroupResource& resource) {
  if (std::find(kHubGroups.begin(), kHubGroups.end(), resource.group) != kHubGroups.end()) {
    return false;
  }
  return !ClusterOwned().contains(resource);
}

bool IsSystemNamespace(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public" ||
         name == "kube-node-lease";
}

bool IsSystemObject(const ObjectId& id, const Object& object) {
  const std::string& resource = id.resource.resource;
  if (id.resource.group.empty()) {
    if (resource == "namespaces") return IsSystemNamespace(id.name);
    if (resource == "configmaps") return id.name == "kube-root-ca.crt";
    if (resource == "serviceaccounts") return id.name == "default";
    if (resource == "services") return id.ns == "default" && id.name == "kubernetes";
    if (resource == "secrets") {
      const std::string type = object.ScalarAt("type");
      return type == "kubernetes.io/service-account-token" ||
             type == "bootstrap.kubernetes.io/token";
    }
    return false;
  }
  if (id.resource.group == "scheduling.k8s.io") return id.name.starts_with("system-");
  return HasLabel(object, "kubernetes.io/bootstrapping") ||
         HasLabel(object, "kube-aggregator.kubernetes.io/automanaged");
}

std::vector<ObjectId> Dependencies(const ObjectId& id,
                                   const std::function<bool(const GroupResource&)>& is_builtin) {
  std::vector<ObjectId> out;
  if (!id.ns.empty() && !IsSystemNamespace(id.ns)) out.push_back(NamespaceId(id.ns));
  if (!is_builtin(id.resource)) out.push_back(CrdId(id.resource));
  return out;
}

}  // namespace mailroom::translator
