#include "apiserver/cluster_objects.h"

#include "openapi/validate_flow_control.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kFlowGroup = "flowcontrol.apiserver.k8s.io";
constexpr const char* kTrust = "extension-apiserver-authentication";
constexpr const char* kAutoUpdate = "apf.kubernetes.io/autoupdate-spec";

struct FlowObject {
  const char* kind;
  const char* resource;
  const char* name;
};

constexpr const char* kLevel = "PriorityLevelConfiguration";
constexpr FlowObject kFlowObjects[] = {
    {kLevel, "prioritylevelconfigurations", "catch-all"},
    {kLevel, "prioritylevelconfigurations", "exempt"},
    {"FlowSchema", "flowschemas", "exempt"},
    {"FlowSchema", "flowschemas", "catch-all"},
};

// What the object's spec should be; what `exempt` grants is up to those who run the cluster.
Json WantedSpec(const FlowObject& each, const Json& now) {
  Json wanted = openapi::MandatoryFlowSpec(each.kind, each.name);
  const Json* granted = Find(now, {"spec", "exempt"});
  if (granted != nullptr && wanted.contains("exempt")) wanted["exempt"] = *granted;
  return wanted;
}

}  // namespace

bool IsClusterObject(const Object& object) {
  const std::string_view kind = object.kind();
  const std::string_view name = object.meta().name;
  if (kind == "ConfigMap") return name == kTrust && object.meta().ns == "kube-system";
  for (const FlowObject& each : kFlowObjects) {
    if (kind == each.kind && name == each.name) return true;
  }
  return false;
}

Result<void> ProvideTrust(const SelfWriter& self, const WorkspaceView& workspace, const Hub& hub,
                          const FrontProxy& front_proxy) {
  const std::string ns = "kube-system";
  const auto type = workspace.catalog->FindShared("", "v1", "configmaps");
  const Json wanted = front_proxy.TrustOf(workspace.name);
  if (const ObjectPtr there = hub.store.Get({workspace.name, {"", "configmaps"}, ns, kTrust})) {
    if (there->ToJson().value("data", Json()) == wanted) return Ok();
    return UnlessGone(self.Change(workspace, type, ns, kTrust, "",
                                  [&](Json& object) { Set(object, {"data"}, wanted); }));
  }
  return self.Provide(workspace, type, ns,
                      {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", kTrust}, {"namespace", ns}}},
                       {"data", wanted}});
}

Result<void> ProvideFlowControl(const SelfWriter& self, const WorkspaceView& workspace,
                                const Hub& hub) {
  for (const FlowObject& each : kFlowObjects) {
    const std::string group(kFlowGroup);
    const auto type = workspace.catalog->FindShared(group, "v1", each.resource);
    const ObjectPtr there = hub.store.Get({workspace.name, {group, each.resource}, "", each.name});
    if (there == nullptr) {
      TRY(self.Provide(workspace, type, "",
                       {{"apiVersion", group + "/v1"},
                        {"kind", each.kind},
                        {"metadata", {{"name", each.name}, {"annotations", {{kAutoUpdate, "true"}}}}},
                        {"spec", WantedSpec(each, Json())}}));
      continue;
    }
    const Json now = there->ToJson();
    const Json wanted = WantedSpec(each, now);
    if (now.value("spec", Json()) == wanted &&
        StringAt(now, {"metadata", "annotations", kAutoUpdate}) == "true") {
      continue;
    }
    TRY(UnlessGone(self.Change(workspace, type, "", each.name, "", [&](Json& object) {
      Set(object, {"spec"}, wanted);
      Set(object, {"metadata", "annotations", kAutoUpdate}, "true");
    })));
  }
  return Ok();
}

}  // namespace mailroom::apiserver
