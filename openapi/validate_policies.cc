// Kinds with a few rules each: namespaces, leases, classes, APIServices.
#include <map>

#include "openapi/base64.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {

namespace {

// Why a class of that name is none of the system's own; "" when it is.
std::string SystemClassFault(const std::string& name, std::int64_t value, bool usual) {
  static const std::map<std::string, std::int64_t> kClasses = {
      {"system-cluster-critical", 2'000'000'000}, {"system-node-critical", 2'000'001'000}};
  const auto known = kClasses.find(name);
  if (known == kClasses.end()) return name + " is not a known system priority class";
  if (value != known->second) {
    return "value of " + name + " PriorityClass must be " + std::to_string(known->second);
  }
  return usual ? "globalDefault of " + name + " PriorityClass must be false" : "";
}

void CheckServiceStatus(const BuiltinCheck& check) {
  const Json& conditions = ArrayAt(check.object, {"status", "conditions"});
  for (std::size_t i = 0; i < conditions.size() && !check.causes.full(); ++i) {
    const std::string status = StringAt(conditions[i], {"status"});
    if (status == "True" || status == "False" || status == "Unknown") continue;
    check.causes.push_back(NotSupported(ElementPath("status.conditions", i) + ".status", status,
                                        {"True", "False", "Unknown"}));
  }
}

// The phase of a namespace follows from its deletion.
void CheckPhase(const BuiltinCheck& check) {
  const std::string phase = StringAt(check.object, {"status", "phase"});
  const bool deleted = !StringAt(check.object, {"metadata", "deletionTimestamp"}).empty();
  if (phase == (deleted ? "Terminating" : "Active")) return;
  check.Invalid("status.Phase", phase,
                deleted ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                        : "may only be 'Active' if `deletionTimestamp` is empty");
}

}  // namespace

void CheckNamespaceObject(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckPhase(check);
  const auto finalizers = StringsAt(check.object, {"spec", "finalizers"});
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string field =
        check.subresource == "finalize" ? ElementPath("spec.finalizers", i) : "spec.finalizers";
    const std::string& name = finalizers[i];
    AddInvalid(check.causes, field, name, CheckQualifiedName(name));
    if (name.find('/') == std::string::npos && name != "kubernetes" && name != "orphan" &&
        name != "foregroundDeletion") {
      check.Invalid(field, name,
                    "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void CheckLease(const BuiltinCheck& check) {
  const Json* duration = Find(check.object, {"spec", "leaseDurationSeconds"});
  if (duration != nullptr && IntAt(check.object, {"spec", "leaseDurationSeconds"}) <= 0) {
    check.Invalid("spec.leaseDurationSeconds", *duration, "must be greater than 0");
  }
  check.NonNegative({"spec", "leaseTransitions"});
  if (!StringAt(check.object, {"spec", "preferredHolder"}).empty() &&
      StringAt(check.object, {"spec", "strategy"}).empty()) {
    check.Forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined");
  }
}

void CheckPriorityClass(const BuiltinCheck& check) {
  constexpr std::int64_t kHighestUser = 1'000'000'000;
  const std::string name = StringAt(check.object, {"metadata", "name"});
  const std::int64_t value = IntAt(check.object, {"value"});
  if (check.old != nullptr) {
    if (value != IntAt(*check.old, {"value"})) {
      check.Forbidden("value", "may not be changed in an update.");
    }
    return check.Immutable({"preemptionPolicy"});
  }
  if (name.starts_with("system-")) {
    const std::string fault = SystemClassFault(name, value, BoolAt(check.object, {"globalDefault"}));
    if (!fault.empty()) {
      check.Forbidden("metadata.name",
                      "priority class names with 'system-' prefix are reserved for system use "
                      "only. error: " + fault);
    }
  } else if (value > kHighestUser) {
    check.Forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  }
  const Json* policy = Find(check.object, {"preemptionPolicy"});
  if (policy == nullptr || *policy == "PreemptLowerPriority" || *policy == "Never") return;
  if (*policy == "") return check.Required("preemptionPolicy");
  check.causes.push_back(
      NotSupported("preemptionPolicy", *policy, {"PreemptLowerPriority", "Never"}));
}

void CheckApiService(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckServiceStatus(check);
  const std::string group = StringAt(check.object, {"spec", "group"});
  const std::string version = StringAt(check.object, {"spec", "version"});
  if (group.empty() && version != "v1") {
    check.Required("spec.group", "only v1 may have an empty group and it better be legacy kube");
  }
  if (!group.empty()) AddInvalid(check.causes, "spec.group", group, CheckSubdomain(group));
  AddInvalid(check.causes, "spec.version", version, Check1035Label(version));
  const std::int64_t group_priority = IntAt(check.object, {"spec", "groupPriorityMinimum"});
  if (group_priority <= 0 || group_priority > 20000) {
    check.Invalid("spec.groupPriorityMinimum", group_priority,
                  "must be positive and less than 20000");
  }
  const std::int64_t priority = IntAt(check.object, {"spec", "versionPriority"});
  if (priority <= 0 || priority > 1000) {
    check.Invalid("spec.versionPriority", priority, "must be positive and less than 1000");
  }
  const Json* service = Find(check.object, {"spec", "service"});
  const bool insecure = BoolAt(check.object, {"spec", "insecureSkipTLSVerify"});
  const std::string text = StringAt(check.object, {"spec", "caBundle"});
  const std::size_t bundle = DecodeBase64(text).value_or(text).size();
  if (service == nullptr) {
    if (bundle > 0) {
      check.Invalid("spec.caBundle", std::to_string(bundle) + " bytes",
                    "local APIServices may not have a caBundle");
    }
    if (insecure) {
      check.Invalid("spec.insecureSkipTLSVerify", true,
                    "local APIServices may not have insecureSkipTLSVerify");
    }
    return;
  }
  for (const char* member : {"namespace", "name"}) {
    if (StringAt(*service, {member}).empty()) {
      check.Required(std::string("spec.service.") + member);
    }
  }
  const std::int64_t port = IntAt(*service, {"port"});
  for (const std::string& why : CheckPort(port)) {
    check.Invalid("spec.service.port", port, "port is not valid: " + why);
  }
  if (insecure && bundle > 0) {
    check.Invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present");
  }
}

}  // namespace mailroom::openapi
