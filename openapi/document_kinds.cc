#include "openapi/document_kinds.h"

#include <algorithm>

#include "openapi/builtin.h"

namespace mailroom::openapi {
namespace {

struct Versions {
  std::string_view group;
  std::string_view versions;  // space separated
  bool servers = false;       // known to servers only
};

// What the original knows of, served or not.
constexpr Versions kKnown[] = {
    {"", "v1"},
    {"admission.k8s.io", "v1 v1beta1", true},
    {"admissionregistration.k8s.io", "v1 v1alpha1 v1beta1"},
    {"apiextensions.k8s.io", "v1 v1beta1", true},
    {"apiregistration.k8s.io", "v1 v1beta1", true},
    {"apps", "v1 v1beta1 v1beta2"},
    {"authentication.k8s.io", "v1 v1alpha1 v1beta1"},
    {"authorization.k8s.io", "v1 v1beta1"},
    {"autoscaling", "v1 v2"},
    {"batch", "v1 v1beta1"},
    {"certificates.k8s.io", "v1 v1alpha1 v1beta1"},
    {"coordination.k8s.io", "v1 v1alpha2 v1beta1"},
    {"discovery.k8s.io", "v1 v1beta1"},
    {"events.k8s.io", "v1 v1beta1"},
    {"extensions", "v1beta1"},
    {"flowcontrol.apiserver.k8s.io", "v1 v1beta1 v1beta2 v1beta3"},
    {"imagepolicy.k8s.io", "v1alpha1", true},
    {"internal.apiserver.k8s.io", "v1alpha1"},
    {"networking.k8s.io", "v1 v1beta1"},
    {"node.k8s.io", "v1 v1alpha1 v1beta1"},
    {"policy", "v1 v1beta1"},
    {"rbac.authorization.k8s.io", "v1 v1alpha1 v1beta1"},
    {"resource.k8s.io", "v1 v1alpha3 v1beta1 v1beta2"},
    {"scheduling.k8s.io", "v1 v1alpha2 v1beta1"},
    {"storage.k8s.io", "v1 v1alpha1 v1beta1"},
    {"storagemigration.k8s.io", "v1beta1"},
};

// Whether its members begin with those that say what it is.
bool IsKind(const Schema& type) {
  const auto is = [&](std::size_t at, std::string_view name) {
    return type.properties[at].name == name && type.properties[at].number == 0;
  };
  return type.properties.size() >= 2 && is(0, "apiVersion") && is(1, "kind");
}

}  // namespace

Json KindJson(const GroupVersionKind& gvk) {
  return {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}};
}

KindLists KindLists::OfDefinitions() {
  KindLists lists;
  lists.clients_ = true;
  return lists;
}

Json KindLists::Of(const Schema& type) const {
  const std::size_t dot = type.name.find('.');
  const std::string home = type.name.substr(0, dot), kind = type.name.substr(dot + 1);
  Json out = Json::array();
  if (type.name != "meta/v1.DeleteOptions" && type.name != "meta/v1.WatchEvent") {
    if (!IsKind(type)) return out;
    for (const BuiltinPackage& package : BuiltinPackages()) {
      if (package.home != home) continue;
      out.push_back(KindJson({home == "meta/v1" ? "" : package.group, package.version, kind}));
    }
    return out;
  }
  for (const Versions& known : kKnown) {
    if (clients_ && known.servers) continue;
    std::string_view left = known.versions;
    while (!left.empty()) {
      const std::string version(left.substr(0, left.find(' ')));
      left.remove_prefix(std::min(version.size() + 1, left.size()));
      const bool own = version_.empty() || known.group.empty() ||
                       (known.group == group_ && version == version_);
      if (own) out.push_back(KindJson({std::string(known.group), version, kind}));
    }
  }
  return out;
}

Json VersionInfoModel(Dialect dialect) {
  struct Member {
    const char* name;
    const char* description;
    bool always;
  };
  static constexpr Member kMembers[] = {
      {"major", "Major version of the API.", true},
      {"minor", "Minor version of the API.", true},
      {"gitVersion", "The version in full.", true},
      {"gitCommit", "Commit that was built.", true},
      {"gitTreeState", "Whether the commit was built as it is.", true},
      {"buildDate", "When it was built.", true},
      {"goVersion", "What it was compiled by.", true},
      {"compiler", "Kind of the compiler.", true},
      {"platform", "What it was built for.", true},
      {"emulationMajor", "Major version of the API that it acts as.", false},
      {"emulationMinor", "Minor version of the API that it acts as.", false},
      {"minCompatibilityMajor", "Major version of the oldest API it goes together with.", false},
      {"minCompatibilityMinor", "Minor version of the oldest API it goes together with.", false},
  };
  Json properties = Json::object(), required = Json::array();
  for (const Member& member : kMembers) {
    properties[member.name] = {{"type", "string"}, {"description", member.description}};
    if (!member.always) continue;
    if (dialect == Dialect::kV3) properties[member.name]["default"] = "";
    required.push_back(member.name);
  }
  return {{"type", "object"},
          {"description", "What is known about the build of the server."},
          {"properties", std::move(properties)},
          {"required", std::move(required)}};
}

}  // namespace mailroom::openapi
