// The built-in admission plugins that mean something without a kubelet, in kube-apiserver's order:
// what they fill into pods, volume claims and ingresses, and what they refuse. One row each, one
// function per phase; pure but for looking up objects of the workspace.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apiserver/admission/attributes.h"
#include "storage/cached_store.h"

namespace mailroom::admission {

// One write as a plugin sees it.
struct PluginCall {
  const storage::CachedStore& store;
  const Attributes& attributes;

  bool creates() const { return attributes.operation == Operation::kCreate; }
  bool updates() const { return attributes.operation == Operation::kUpdate; }
  // An object of the workspace, or null; cluster-scoped, or in the namespace of the write.
  Json Find(const GroupResource& resource, const std::string& name) const;
  Json FindHere(const GroupResource& resource, const std::string& name) const;
  std::vector<Json> List(const GroupResource& resource) const;
};

using DisabledPlugins = std::set<std::string>;  // by name

// Whether any plugin looks at objects of the type, or of a subresource of it.
bool PluginsConcern(const openapi::ResourceType& type, const DisabledPlugins& disabled);
// Whether any plugin looks at this very write.
bool PluginsSee(const Attributes& attributes, const DisabledPlugins& disabled);
// REQUIRES for both: not a delete.
Result<void> MutateByPlugins(const PluginCall& call, const DisabledPlugins& disabled,
                             Json& object);
Result<void> ValidateByPlugins(const PluginCall& call, const DisabledPlugins& disabled,
                               const Json& object);
// The names that may be disabled.
const std::vector<std::string>& PluginNames();

// ServiceAccount: the account a pod runs as, and the volume with its token; the Secrets it may use,
// also in containers added later.
Result<void> GiveServiceAccount(const PluginCall& call, Json& pod);
Result<void> CheckServiceAccount(const PluginCall& call, const Json& pod);
Result<void> CheckLaterContainers(const PluginCall& call, const Json& pod);
// TaintNodesByCondition: a new node is not ready, until somebody says otherwise.
Result<void> TaintNode(const PluginCall& call, Json& node);
// Priority: the number behind priorityClassName; at most one class is the default.
Result<void> SetPriority(const PluginCall& call, Json& pod);
Result<void> CheckPriorityClass(const PluginCall& call, const Json& object);
// DefaultTolerationSeconds: for how long a pod stays on a node that is not ready.
Result<void> AddTolerations(const PluginCall& call, Json& pod);
// RuntimeClass: overhead, node selector and tolerations of the class.
Result<void> ApplyRuntimeClass(const PluginCall& call, Json& pod);
Result<void> CheckOverhead(const PluginCall& call, const Json& pod);
// DefaultStorageClass and DefaultIngressClass: the class that is marked as the default.
Result<void> SetStorageClass(const PluginCall& call, Json& claim);
Result<void> SetIngressClass(const PluginCall& call, Json& ingress);
// PersistentVolumeClaimResize: only claims of a class that says so can grow.
Result<void> CheckResize(const PluginCall& call, const Json& claim);
// CertificateSubjectRestriction: nobody asks for a certificate that makes a master.
Result<void> CheckCertificateSubject(const PluginCall& call, const Json& request);
// PodTopologyLabels: the zone and region of the node a pod is made for, or bound to.
Result<void> LabelPod(const PluginCall& call, Json& pod);
Result<void> LabelBinding(const PluginCall& call, Json& binding);
// NodeDeclaredFeatureValidator: what is asked of a running pod, its node must know how to do.
Result<void> CheckNodeFeatures(const PluginCall& call, const Json& pod);
// PodResizeValidator: a running pod grows within what its node has.
Result<void> CheckPodResize(const PluginCall& call, const Json& pod);

}  // namespace mailroom::admission
