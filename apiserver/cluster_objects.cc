#include "apiserver/cluster_objects.h"

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
  Json spec;
};

Json FlowSpec(const char* level, int precedence, const std::vector<std::string>& groups) {
  Json subjects = Json::array();
  for (const std::string& group : groups) {
    subjects.push_back({{"kind", "Group"}, {"group", {{"name", group}}}});
  }
  const Json all = Json::array({"*"});
  return {{"priorityLevelConfiguration", {{"name", level}}},
          {"matchingPrecedence", precedence},
          {"rules",
           Json::array({{{"subjects", std::move(subjects)},
                         {"resourceRules", Json::array({{{"verbs", all},
                                                         {"apiGroups", all},
                                                         {"resources", all},
                                                         {"clusterScope", true},
                                                         {"namespaces", all}}})},
                         {"nonResourceRules",
                          Json::array({{{"verbs", all}, {"nonResourceURLs", all}}})}}})}};
}

const std::vector<FlowObject>& FlowObjects() {
  static const auto* objects = [] {
    Json everybody =
        FlowSpec("catch-all", 10000, {"system:unauthenticated", "system:authenticated"});
    everybody["distinguisherMethod"] = {{"type", "ByUser"}};
    return new std::vector<FlowObject>{
        {"PriorityLevelConfiguration", "prioritylevelconfigurations", "catch-all",
         {{"type", "Limited"},
          {"limited",
           {{"nominalConcurrencyShares", 5},
            {"lendablePercent", 0},
            {"limitResponse", {{"type", "Reject"}}}}}}},
        {"PriorityLevelConfiguration", "prioritylevelconfigurations", "exempt",
         {{"type", "Exempt"},
          {"exempt", {{"nominalConcurrencyShares", 0}, {"lendablePercent", 0}}}}},
        {"FlowSchema", "flowschemas", "exempt", FlowSpec("exempt", 1, {"system:masters"})},
        {"FlowSchema", "flowschemas", "catch-all", std::move(everybody)}};
  }();
  return *objects;
}

}  // namespace

bool IsClusterObject(const Object& object) {
  const std::string_view kind = object.kind();
  const std::string_view name = object.meta().name;
  if (kind == "ConfigMap") return name == kTrust && object.meta().ns == "kube-system";
  for (const FlowObject& each : FlowObjects()) {
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
  for (const FlowObject& each : FlowObjects()) {
    const std::string group(kFlowGroup);
    const auto type = workspace.catalog->FindShared(group, "v1", each.resource);
    const ObjectPtr there = hub.store.Get({workspace.name, {group, each.resource}, "", each.name});
    if (there == nullptr) {
      TRY(self.Provide(workspace, type, "",
                       {{"apiVersion", group + "/v1"},
                        {"kind", each.kind},
                        {"metadata", {{"name", each.name}, {"annotations", {{kAutoUpdate, "true"}}}}},
                        {"spec", each.spec}}));
      continue;
    }
    const Json now = there->ToJson();
    if (now.value("spec", Json()) == each.spec &&
        StringAt(now, {"metadata", "annotations", kAutoUpdate}) == "true") {
      continue;
    }
    TRY(UnlessGone(self.Change(workspace, type, "", each.name, "", [&](Json& object) {
      Set(object, {"spec"}, each.spec);
      Set(object, {"metadata", "annotations", kAutoUpdate}, "true");
    })));
  }
  return Ok();
}

}  // namespace mailroom::apiserver
