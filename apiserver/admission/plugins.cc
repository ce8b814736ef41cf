#include "apiserver/admission/plugins.h"

#include "apiserver/admission/pod_security.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

struct Plugin {
  const char* name;
  GroupResource resource;
  Result<void> (*mutate)(const PluginCall& call, Json& object) = nullptr;
  Result<void> (*validate)(const PluginCall& call, const Json& object) = nullptr;
  const char* subresource = "";
};

const std::vector<Plugin>& Plugins() {
  static const std::vector<Plugin> plugins = {
      {"ServiceAccount", {"", "pods"}, GiveServiceAccount, CheckServiceAccount},
      {"ServiceAccount", {"", "pods"}, nullptr, CheckLaterContainers, "ephemeralcontainers"},
      {"TaintNodesByCondition", {"", "nodes"}, TaintNode},
      {"Priority", {"", "pods"}, SetPriority},
      {"Priority", {"scheduling.k8s.io", "priorityclasses"}, nullptr, CheckPriorityClass},
      {"DefaultTolerationSeconds", {"", "pods"}, AddTolerations},
      {"DefaultStorageClass", {"", "persistentvolumeclaims"}, SetStorageClass},
      {"PersistentVolumeClaimResize", {"", "persistentvolumeclaims"}, nullptr, CheckResize},
      {"RuntimeClass", {"", "pods"}, ApplyRuntimeClass, CheckOverhead},
      {"CertificateSubjectRestriction",
       {"certificates.k8s.io", "certificatesigningrequests"},
       nullptr,
       CheckCertificateSubject},
      {"DefaultIngressClass", {"networking.k8s.io", "ingresses"}, SetIngressClass},
      {"PodTopologyLabels", {"", "pods"}, LabelPod},
      {"PodTopologyLabels", {"", "pods"}, LabelBinding, nullptr, "binding"},
      {"NodeDeclaredFeatureValidator", {"", "pods"}, nullptr, CheckNodeFeatures, "resize"},
      {"PodResizeValidator", {"", "pods"}, nullptr, CheckPodResize, "resize"},
  };
  return plugins;
}

bool Looks(const Plugin& plugin, const openapi::ResourceType& type,
           const DisabledPlugins& disabled) {
  return plugin.resource == type.stored_as && !disabled.contains(plugin.name);
}

bool Looks(const Plugin& plugin, const Attributes& attributes, const DisabledPlugins& disabled) {
  return plugin.subresource == attributes.subresource && Looks(plugin, *attributes.type, disabled);
}

}  // namespace

const std::vector<std::string>& PluginNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out = {kPodSecurity};
    for (const Plugin& plugin : Plugins()) {
      if (out.empty() || out.back() != plugin.name) out.emplace_back(plugin.name);
    }
    return out;
  }();
  return names;
}

Json PluginCall::Find(const GroupResource& resource, const std::string& name) const {
  const ObjectPtr object = store.Get({attributes.workspace, resource, "", name});
  return object == nullptr ? Json() : object->ToJson();
}

Json PluginCall::FindHere(const GroupResource& resource, const std::string& name) const {
  const ObjectPtr object = store.Get({attributes.workspace, resource, attributes.ns, name});
  return object == nullptr ? Json() : object->ToJson();
}

std::vector<Json> PluginCall::List(const GroupResource& resource) const {
  std::vector<Json> out;
  if (store.LastChange(attributes.workspace, resource) == Revision()) return out;
  const auto list = store.List({.scope = {attributes.workspace, resource, ""}});
  if (!list.ok()) return out;
  for (const storage::Entry& entry : list->entries) out.push_back(entry.object->ToJson());
  return out;
}

bool PluginsConcern(const openapi::ResourceType& type, const DisabledPlugins& disabled) {
  for (const Plugin& plugin : Plugins()) {
    if (Looks(plugin, type, disabled)) return true;
  }
  return false;
}

bool PluginsSee(const Attributes& attributes, const DisabledPlugins& disabled) {
  for (const Plugin& plugin : Plugins()) {
    if (Looks(plugin, attributes, disabled)) return true;
  }
  return false;
}

Result<void> MutateByPlugins(const PluginCall& call, const DisabledPlugins& disabled,
                             Json& object) {
  for (const Plugin& plugin : Plugins()) {
    if (plugin.mutate == nullptr || !Looks(plugin, call.attributes, disabled)) continue;
    TRY(plugin.mutate(call, object));
  }
  return Ok();
}

Result<void> ValidateByPlugins(const PluginCall& call, const DisabledPlugins& disabled,
                               const Json& object) {
  for (const Plugin& plugin : Plugins()) {
    if (plugin.validate == nullptr || !Looks(plugin, call.attributes, disabled)) continue;
    TRY(plugin.validate(call, object));
  }
  return Ok();
}

}  // namespace mailroom::admission
