#include <algorithm>
#include <array>
#include <set>

#include "openapi/go_json.h"
#include "openapi/validate.h"
#include "openapi/validate_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

using NameCheck = Complaints (*)(std::string_view);

struct NameRule {
  std::string_view group, kind;
  NameCheck check;
};

Complaints CheckAddressName(std::string_view name) {
  if (IsIpAddress(name)) return {};
  return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
}

// Kinds whose names are not DNS-1123 subdomains.
constexpr std::array<NameRule, 12> kNameRules = {{
    {"", "Namespace", CheckLabel},
    {"", "Service", CheckLabel},
    {"", "Event", CheckPathSegment},
    {"apps", "StatefulSet", CheckLabel},
    {"apiregistration.k8s.io", "APIService", CheckPathSegment},
    {"rbac.authorization.k8s.io", "Role", CheckPathSegment},
    {"rbac.authorization.k8s.io", "RoleBinding", CheckPathSegment},
    {"rbac.authorization.k8s.io", "ClusterRole", CheckPathSegment},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", CheckPathSegment},
    {"networking.k8s.io", "IPAddress", CheckAddressName},
    {"certificates.k8s.io", "CertificateSigningRequest", CheckPathSegment},
    {"policy", "PodDisruptionBudget", CheckPathSegment},
}};

NameCheck CheckFor(const ResourceType& type) {
  for (const NameRule& rule : kNameRules) {
    if (rule.group == type.gvk.group && rule.kind == type.gvk.kind) return rule.check;
  }
  return CheckSubdomain;
}

// Rules by which a name follows from the object.
Complaints KindComplaints(const ResourceType& type, const Json& object, const std::string& name) {
  const std::string& kind = type.gvk.kind;
  if (!type.builtin) return {};
  if (kind == "CustomResourceDefinition" && name != StringAt(object, {"spec", "names", "plural"}) +
                                                        "." + StringAt(object, {"spec", "group"})) {
    return {"must be spec.names.plural+\".\"+spec.group"};
  }
  if (kind == "APIService") {
    const std::string wanted =
        StringAt(object, {"spec", "version"}) + "." + StringAt(object, {"spec", "group"});
    if (name != wanted) return {"must be `spec.version+\".\"+spec.group`: " + Quoted(wanted)};
  }
  if (kind == "CronJob" && name.size() > 52) return {"must be no more than 52 characters"};
  return {};
}

void CheckPrefix(NameCheck check, const Json& object, Causes& causes) {
  if (std::string prefix = StringAt(object, {"metadata", "generateName"}); !prefix.empty()) {
    // A suffix follows, so a dash may stand at the end.
    std::string masked = prefix;
    if (masked.size() > 1 && masked.ends_with('-')) masked.replace(masked.size() - 2, 2, "a");
    AddInvalid(causes, "metadata.generateName", prefix, check(masked));
  }
}

void CheckName(const ResourceType& type, const Json& object, Causes& causes) {
  const NameCheck check = CheckFor(type);
  CheckPrefix(check, object, causes);
  const std::string name = StringAt(object, {"metadata", "name"});
  if (name.empty()) {
    causes.push_back(RequiredValue("metadata.name", "name or generateName is required"));
    return;
  }
  AddInvalid(causes, "metadata.name", name, check(name));
  AddInvalid(causes, "metadata.name", name, KindComplaints(type, object, name));
}

void CheckNamespace(const ResourceType& type, const Json& object, Causes& causes) {
  const std::string ns = StringAt(object, {"metadata", "namespace"});
  if (!type.namespaced) {
    if (!ns.empty()) {
      causes.push_back(ForbiddenValue("metadata.namespace", "not allowed on this type"));
    }
  } else if (ns.empty()) {
    causes.push_back(RequiredValue("metadata.namespace"));
  } else {
    AddInvalid(causes, "metadata.namespace", ns, CheckLabel(ns));
  }
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// With its members in the original's order.
std::string ShownOwner(const Json& owner) {
  std::string shown = "{";
  for (const char* member : {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}) {
    const Json* value = Find(owner, {member});
    if (value == nullptr || value->is_null()) continue;
    if (shown.size() > 1) shown += ',';
    shown += GoJsonQuote(member) + ":" + GoJson(*value);
  }
  return shown + "}";
}

std::string ShownOwners(const Json& owners) {
  std::string shown = "[";
  for (const Json& owner : owners) {
    if (shown.size() > 1) shown += ',';
    shown += ShownOwner(owner);
    if (shown.size() > limits::kProblemValueBytes) break;  // it is cut there
  }
  return CutText(shown + "]", limits::kProblemValueBytes);
}

void CheckOwners(const Json& object, Causes& causes) {
  const std::string field = "metadata.ownerReferences";
  const Json* owners = Find(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  std::string controller, shown;
  for (const Json& owner : *owners) {
    if (causes.full()) return;
    const std::string api_version = StringAt(owner, {"apiVersion"});
    const std::string kind = StringAt(owner, {"kind"});
    const std::string name = StringAt(owner, {"name"});
    // What cannot be taken apart has no version, either.
    if (api_version.empty() || api_version.ends_with('/') ||
        api_version.find('/') != api_version.rfind('/')) {
      causes.push_back(
          InvalidValue(field + ".apiVersion", Quoted(api_version), "version must not be empty"));
    }
    if (kind.empty()) causes.push_back(InvalidValue(field + ".kind", "\"\"", "must not be empty"));
    if (name.empty()) causes.push_back(InvalidValue(field + ".name", "\"\"", "must not be empty"));
    if (StringAt(owner, {"uid"}).empty()) {
      causes.push_back(InvalidValue(field + ".uid", "\"\"", "must not be empty"));
    }
    if (api_version == "v1" && kind == "Event") {
      causes.push_back(InvalidValue(field, ShownOwner(owner),
                                    "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (!BoolAt(owner, {"controller"})) continue;
    if (!controller.empty()) {
      if (shown.empty()) shown = ShownOwners(*owners);
      causes.push_back(InvalidValue(field, shown,
                                    "Only one reference can have Controller set to true. Found "
                                    "\"true\" in references for " +
                                        controller + " and " + kind + "/" + name));
    } else {
      controller = kind + "/" + name;
    }
  }
}

// The kinds whose finalizers must be standard or qualified: those of Kubernetes proper.
bool WantsKubeFinalizers(const ResourceType& type) {
  const std::string& group = type.gvk.group;
  if (group.empty() && type.gvk.kind == "Event") return false;  // nobody looks at them
  return type.builtin && group != "apiextensions.k8s.io" && group != "apiregistration.k8s.io" &&
         group != "admissionregistration.k8s.io" &&
         (group.find('.') == std::string::npos || group.ends_with(".k8s.io"));
}

void CheckFinalizers(const ResourceType& type, const Json& object, const Json* old,
                     Causes& causes) {
  const std::string field = "metadata.finalizers";
  const auto finalizers = StringsAt(object, {"metadata", "finalizers"});
  bool orphan = false, foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string& name = finalizers[i];
    if (old == nullptr) AddInvalid(causes, field, name, CheckQualifiedName(name));
    orphan |= name == "orphan";
    foreground |= name == "foregroundDeletion";
    if (WantsKubeFinalizers(type) && name.find('/') == std::string::npos && name != "orphan" &&
        name != "foregroundDeletion" && name != "kubernetes") {
      causes.push_back(
          InvalidValue(field + "[" + std::to_string(i) + "]", Quoted(name),
                       "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  if (orphan && foreground && old == nullptr) {
    causes.push_back(InvalidValue(field, Rendered(finalizers),
                                  "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  if (old == nullptr || StringAt(*old, {"metadata", "deletionTimestamp"}).empty()) return;
  const auto before = StringsAt(*old, {"metadata", "finalizers"});
  std::set<std::string> extra(finalizers.begin(), finalizers.end());
  for (const std::string& name : before) extra.erase(name);
  if (extra.empty()) return;
  std::string list;
  for (const std::string& name : extra) list += (list.empty() ? "" : ", ") + Quoted(name);
  causes.push_back(
      ForbiddenValue(field,
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{" +
                         list + "}"));
}

void CheckUnchanged(const Json& object, const Json& old, Causes& causes) {
  for (const char* member : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                             "deletionGracePeriodSeconds"}) {
    CheckImmutable(causes, std::string("metadata.") + member, Find(object, {"metadata", member}),
                   Find(old, {"metadata", member}));
  }
}

void CheckGeneration(const Json& object, Causes& causes) {
  const std::int64_t generation = IntAt(object, {"metadata", "generation"});
  if (generation >= 0) return;
  causes.push_back(InvalidValue("metadata.generation", std::to_string(generation),
                                "must be greater than or equal to 0"));
}

void CheckDetails(const ResourceType& type, const Json& object, const Json* old, Causes& causes) {
  causes.Add(ValidateLabels(Find(object, {"metadata", "labels"}), "metadata.labels"));
  causes.Add(ValidateAnnotations(Find(object, {"metadata", "annotations"}), "metadata.annotations"));
  CheckOwners(object, causes);
  CheckFinalizers(type, object, old, causes);
}

}  // namespace

Causes ValidateLabels(const Json* labels, const std::string& field) {
  Causes causes;
  if (labels == nullptr || !labels->is_object()) return causes;
  for (const auto& [key, value] : labels->items()) {
    if (causes.full()) break;
    AddInvalid(causes, field, key, CheckQualifiedName(key));
    if (!value.is_string()) continue;
    if (std::string why = CheckLabelValue(value.get<std::string>()); !why.empty()) {
      causes.push_back(InvalidValue(field, Rendered(value), why));
    }
  }
  return causes;
}

Causes ValidateAnnotations(const Json* annotations, const std::string& field) {
  Causes causes;
  if (annotations == nullptr || !annotations->is_object()) return causes;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations->items()) {
    AddInvalid(causes, field, key, CheckQualifiedName(LowerCase(key)));
    bytes += key.size();
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  if (bytes > limits::kAnnotationBytes) {
    causes.push_back(TooLong(field, limits::kAnnotationBytes));
  }
  return causes;
}

Causes ValidateEmbeddedMetadata(const Json& resource, const std::string& path) {
  Causes causes;
  const ResourceType custom;
  CheckPrefix(CheckPathSegment, resource, causes);
  if (const std::string name = StringAt(resource, {"metadata", "name"}); !name.empty()) {
    AddInvalid(causes, "metadata.name", name, CheckPathSegment(name));
  }
  if (const std::string ns = StringAt(resource, {"metadata", "namespace"}); !ns.empty()) {
    AddInvalid(causes, "metadata.namespace", ns, CheckLabel(ns));
  }
  CheckGeneration(resource, causes);
  CheckDetails(custom, resource, nullptr, causes);
  for (Cause& cause : causes) cause.field = MemberPath(path, cause.field);
  return causes;
}

Causes ValidateMetadata(const ResourceType& type, const Json& object, const Json* old) {
  Causes causes;
  if (!type.builtin) {
    // Nothing below may meet a label that is not text.
    if (auto fault = CheckBuiltinTypes(type, object)) {
      const Json* metadata = Find(object, {"metadata"});
      return {TypeInvalid("metadata", metadata == nullptr ? "null" : Rendered(*metadata), *fault)};
    }
  }
  if (old == nullptr) {
    CheckName(type, object, causes);
    CheckNamespace(type, object, causes);
    CheckGeneration(object, causes);
  } else {
    CheckUnchanged(object, *old, causes);
  }
  CheckDetails(type, object, old, causes);
  return causes;
}

}  // namespace mailroom::openapi
