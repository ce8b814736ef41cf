#include "openapi/validate_shown.h"

#include <initializer_list>
#include <utility>

#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

using Entries = std::initializer_list<std::pair<const char*, std::string>>;

std::string Braced(Entries entries) {
  std::string out = "{";
  for (const auto& [name, value] : entries) {
    if (out.size() > 1) out += ',';
    out += '"';
    out += name;
    out += "\":" + value;
  }
  return out + "}";
}

// The member's value, or null.
std::string Value(const Json& object, std::string_view member) {
  const Json* found = Find(object, {member});
  return found == nullptr ? "null" : DumpJson(*found);
}

// A text that is always there.
std::string Text(const Json& object, std::string_view member) {
  return DumpJson(StringAt(object, {member}));
}

std::string ShownCapabilities(const Json* set) {
  if (set == nullptr) return "null";
  return Braced({{"Add", Value(*set, "add")}, {"Drop", Value(*set, "drop")}});
}

std::string ShownLabel(const Json* options) {
  if (options == nullptr) return "null";
  return Braced({{"User", Text(*options, "user")},
                 {"Role", Text(*options, "role")},
                 {"Type", Text(*options, "type")},
                 {"Level", Text(*options, "level")}});
}

std::string ShownWindows(const Json* options) {
  if (options == nullptr) return "null";
  return Braced({{"GMSACredentialSpecName", Value(*options, "gmsaCredentialSpecName")},
                 {"GMSACredentialSpec", Value(*options, "gmsaCredentialSpec")},
                 {"RunAsUserName", Value(*options, "runAsUserName")},
                 {"HostProcess", Value(*options, "hostProcess")}});
}

// A list of what `shown` makes of each element; an empty one is null.
template <typename Show>
std::string ShownList(const Json* list, Show shown) {
  if (list == nullptr || list->empty()) return "null";
  std::string out = "[";
  for (const Json& each : *list) out += (out.size() > 1 ? "," : "") + shown(each);
  return out + "]";
}

std::string ShownRequirement(const Json& requirement) {
  return Braced({{"Key", Text(requirement, "key")},
                 {"Operator", Text(requirement, "operator")},
                 {"Values", Value(requirement, "values")}});
}

}  // namespace

std::string ShownTerm(const Json& term) {
  return Braced({{"MatchExpressions", ShownList(Find(term, {"matchExpressions"}), ShownRequirement)},
                 {"MatchFields", ShownList(Find(term, {"matchFields"}), ShownRequirement)}});
}

std::string ShownTerms(const Json& terms) { return ShownList(&terms, ShownTerm); }

std::string ShownProfile(const Json* profile) {
  if (profile == nullptr) return "null";
  return Braced({{"Type", Text(*profile, "type")},
                 {"LocalhostProfile", Value(*profile, "localhostProfile")}});
}

std::string ShownSecurityContext(const Json& context) {
  return Braced({{"Capabilities", ShownCapabilities(Find(context, {"capabilities"}))},
                 {"Privileged", Value(context, "privileged")},
                 {"SELinuxOptions", ShownLabel(Find(context, {"seLinuxOptions"}))},
                 {"WindowsOptions", ShownWindows(Find(context, {"windowsOptions"}))},
                 {"RunAsUser", Value(context, "runAsUser")},
                 {"RunAsGroup", Value(context, "runAsGroup")},
                 {"RunAsNonRoot", Value(context, "runAsNonRoot")},
                 {"ReadOnlyRootFilesystem", Value(context, "readOnlyRootFilesystem")},
                 {"AllowPrivilegeEscalation", Value(context, "allowPrivilegeEscalation")},
                 {"ProcMount", Value(context, "procMount")},
                 {"SeccompProfile", ShownProfile(Find(context, {"seccompProfile"}))},
                 {"AppArmorProfile", ShownProfile(Find(context, {"appArmorProfile"}))}});
}

std::string ShownClaim(const Json& claim) {
  return Braced({{"Name", Text(claim, "name")},
                 {"ResourceClaimName", Value(claim, "resourceClaimName")},
                 {"ResourceClaimTemplateName", Value(claim, "resourceClaimTemplateName")}});
}

std::string ShownTaint(const Json& taint) {
  return Braced({{"Key", Text(taint, "key")},
                 {"Value", Text(taint, "value")},
                 {"Effect", Text(taint, "effect")},
                 {"TimeAdded", Value(taint, "timeAdded")}});
}

std::string ShownAddress(const Json& address) {
  return Braced({{"Type", Text(address, "type")}, {"Address", Text(address, "address")}});
}

std::string ShownReference(const Json* reference) {
  if (reference == nullptr) return "null";
  return Braced({{"Kind", Text(*reference, "kind")},
                 {"Namespace", Text(*reference, "namespace")},
                 {"Name", Text(*reference, "name")},
                 {"UID", Text(*reference, "uid")},
                 {"APIVersion", Text(*reference, "apiVersion")},
                 {"ResourceVersion", Text(*reference, "resourceVersion")},
                 {"FieldPath", Text(*reference, "fieldPath")}});
}

}  // namespace mailroom::openapi
