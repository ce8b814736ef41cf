// Classes of devices, claims on devices, and templates of such claims.
#include "openapi/validate.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_devices.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kRequests = 32;
constexpr std::size_t kAlternatives = 8;
constexpr std::size_t kConstraints = 32;
constexpr std::size_t kConfigs = 32;

const Json& Part(const Json& object, Path path) {
  static const Json kEmpty = Json::object();
  const Json* part = Find(object, path);
  return part != nullptr ? *part : kEmpty;
}

void CheckAlternative(const BuiltinCheck& check, const Json& request, const std::string& path) {
  const std::string name = StringAt(request, {"deviceClassName"});
  const std::string field = path + ".deviceClassName";
  if (name.empty()) {
    check.Required(field);
  } else {
    AddInvalid(check.causes, field, name, CheckSubdomain(name));
  }
  CheckDeviceSelectors(check, request, path);
  const std::string mode = StringAt(request, {"allocationMode"});
  const std::int64_t count = IntAt(request, {"count"});
  if (mode == "All") {
    if (count != 0) {
      check.Invalid(path + ".count", count, "must not be specified when allocationMode is 'All'");
    }
  } else if (mode == "ExactCount") {
    if (count <= 0) check.Invalid(path + ".count", count, "must be greater than zero");
  } else {
    check.causes.push_back(NotSupported(path + ".allocationMode", mode, {"All", "ExactCount"}));
  }
  CheckDeviceTolerations(check, request, path);
}

void CheckRequest(const BuiltinCheck& check, const Json& request, const std::string& path) {
  AddInvalid(check.causes, path + ".name", NameOf(request), CheckLabel(NameOf(request)));
  const Json* exactly = Find(request, {"exactly"});
  const Json& first = ArrayAt(request, {"firstAvailable"});
  const std::string rule = "exactly one of `exactly` or `firstAvailable` is required";
  if (exactly == nullptr && first.empty()) return check.Required(path, rule);
  if (exactly != nullptr && !first.empty()) {
    return check.Invalid(path, Json(), rule + ", but multiple fields are set");
  }
  if (exactly != nullptr) return CheckAlternative(check, *exactly, path + ".exactly");
  const std::string list = path + ".firstAvailable";
  if (!FitsIn(check, first, kAlternatives, list)) return;
  for (std::size_t i = 0; i < first.size() && !check.causes.full(); ++i) {
    const std::string field = ElementPath(list, i);
    AddInvalid(check.causes, field + ".name", NameOf(first[i]), CheckLabel(NameOf(first[i])));
    CheckAlternative(check, first[i], field);
  }
  CheckUnique(check, first, list, NameOf);
}

void CheckConstraint(const BuiltinCheck& check, const Json& constraint, const RequestNames& names,
                     const std::string& path) {
  names.CheckRefs(check, constraint, path);
  for (const char* member : {"matchAttribute", "distinctAttribute"}) {
    if (Find(constraint, {member}) == nullptr) continue;
    const std::string name = StringAt(constraint, {member}), field = path + "." + member;
    CheckAttributeName(check, name, field);
    if (name.find('/') == std::string::npos) {
      check.Invalid(field, name,
                    "a fully qualified name must be a domain and a name separated by a slash");
    }
    return;
  }
  check.Required(path, "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but "
                       "multiple fields are set");
}

void CheckClaimSpec(const BuiltinCheck& check, const Json& devices, const std::string& path) {
  const RequestNames names(devices);
  const Json& requests = ArrayAt(devices, {"requests"});
  const std::string list = path + ".requests";
  if (FitsIn(check, requests, kRequests, list)) {
    for (std::size_t i = 0; i < requests.size() && !check.causes.full(); ++i) {
      CheckRequest(check, requests[i], ElementPath(list, i));
    }
    CheckUnique(check, requests, list, NameOf);
  }
  const Json& constraints = ArrayAt(devices, {"constraints"});
  if (FitsIn(check, constraints, kConstraints, path + ".constraints")) {
    for (std::size_t i = 0; i < constraints.size() && !check.causes.full(); ++i) {
      CheckConstraint(check, constraints[i], names, ElementPath(path + ".constraints", i));
    }
  }
  const Json& configs = ArrayAt(devices, {"config"});
  if (!FitsIn(check, configs, kConfigs, path + ".config")) return;
  for (std::size_t i = 0; i < configs.size() && !check.causes.full(); ++i) {
    const std::string field = ElementPath(path + ".config", i);
    names.CheckRefs(check, configs[i], field);
    CheckDeviceConfig(check, configs[i], field, Size::kBounded);
  }
}

// Members of metadata that a template may not have.
constexpr const char* kForeign[] = {
    "name",          "generateName",      "namespace",         "selfLink",
    "uid",           "resourceVersion",   "generation",        "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers",
    "managedFields"};

}  // namespace

void CheckDeviceClass(const BuiltinCheck& check) {
  const Json& spec = Part(check.object, {"spec"});
  CheckDeviceSelectors(check, spec, "spec");
  const Json& configs = ArrayAt(spec, {"config"});
  const bool stored =
      check.old != nullptr && configs == ArrayAt(*check.old, {"spec", "config"});
  if (FitsIn(check, configs, kConfigs, "spec.config")) {
    for (std::size_t i = 0; i < configs.size() && !check.causes.full(); ++i) {
      CheckDeviceConfig(check, configs[i], ElementPath("spec.config", i),
                        stored ? Size::kAny : Size::kBounded);
    }
  }
  const std::string name = StringAt(spec, {"extendedResourceName"});
  if (Find(spec, {"extendedResourceName"}) == nullptr || IsExtendedAmount(name)) return;
  check.Invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
}

void CheckDeviceClaim(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckClaimStatus(check);
  if (check.old != nullptr) return CheckInternalImmutable(check, {"spec"}, "resource/v1.ResourceClaimSpec");
  CheckClaimSpec(check, Part(check.object, {"spec", "devices"}), "spec.devices");
}

void CheckDeviceClaimTemplate(const BuiltinCheck& check) {
  const Json& metadata = Part(check.object, {"spec", "metadata"});
  const std::string path = "spec.metadata";
  check.causes.Add(ValidateAnnotations(Find(metadata, {"annotations"}), path + ".annotations"));
  check.causes.Add(ValidateLabels(Find(metadata, {"labels"}), path + ".labels"));
  for (const char* member : kForeign) {
    if (Find(metadata, {member}) != nullptr) check.Forbidden(path + "." + member, "cannot be set");
  }
  CheckClaimSpec(check, Part(check.object, {"spec", "spec", "devices"}), "spec.spec.devices");
  CheckInternalImmutable(check, {"spec"}, "resource/v1.ResourceClaimTemplateSpec");
}

}  // namespace mailroom::openapi
