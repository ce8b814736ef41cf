// Security contexts of pods and containers, and how amounts of resources are limited.
#include <algorithm>
#include <array>
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

// User and group ids.
void CheckId(const BuiltinCheck& check, const Json* id, const std::string& path) {
  if (id == nullptr || !id->is_number_integer()) return;
  const auto value = id->get<std::int64_t>();
  if (value < 0 || value > INT32_MAX) {
    check.Invalid(path, *id, "must be between 0 and 2147483647, inclusive");
  }
}

void CheckSeccomp(const BuiltinCheck& check, const Json* profile, const std::string& path) {
  if (profile == nullptr) return;
  const Json* file = Find(*profile, {"localhostProfile"});
  if (StringAt(*profile, {"type"}).empty()) {
    check.Required(path + ".type", "type is required when seccompProfile is set");
  }
  if (StringAt(*profile, {"type"}) != "Localhost") {
    if (file != nullptr) {
      check.Invalid(path + ".localhostProfile", *profile,
                    "can only be set when seccomp type is Localhost");
    }
  } else if (file == nullptr) {
    check.Required(path + ".localhostProfile", "must be set when seccomp type is Localhost");
  } else if (file->is_string()) {
    CheckDescending(check, file->get<std::string>(), path + ".localhostProfile");
  }
}

// Segments of [a-z0-9] with '-' and '_' inside, joined by '.' or '/'.
bool IsSysctlName(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  auto joint = [](char c) { return c == '.' || c == '/'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool edge = i == 0 || i + 1 == text.size() || joint(text[i - 1]) || joint(text[i + 1]);
    if (alnum(c) || (!edge && (c == '-' || c == '_'))) continue;
    if (!joint(c) || i == 0 || i + 1 == text.size() || joint(text[i - 1])) return false;
  }
  return true;
}

void CheckSysctls(const PodCheck& pod, const Json& context, const std::string& path) {
  const Json& list = ArrayAt(context, {"sysctls"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path, i) + ".name";
    const std::string name = StringAt(list[i], {"name"});
    if (name.empty()) continue;  // reported as a required member
    if (!IsSysctlName(name)) {
      pod.check.Invalid(field, name,
                        "must have at most 253 characters and match regex "
                        "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (!names.insert(name).second) {
      pod.check.causes.push_back(DuplicateValue(field, Quoted(name)));
    }
    std::string dotted = name;
    std::replace(dotted.begin(), dotted.end(), '/', '.');
    const bool ipc = dotted.starts_with("kernel.shm") || dotted.starts_with("kernel.msg") ||
                     dotted == "kernel.sem" || dotted.starts_with("fs.mqueue.");
    if (BoolAt(pod.spec, {"hostNetwork"}) && dotted.starts_with("net.")) {
      pod.check.Invalid(field, name, "may not be specified when 'hostNetwork' is true");
    } else if (BoolAt(pod.spec, {"hostIPC"}) && ipc) {
      pod.check.Invalid(field, name, "may not be specified when 'hostIPC' is true");
    }
  }
}

bool IsNative(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

void CheckAmountName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  const Complaints complaints = CheckQualifiedName(name);
  AddInvalid(check.causes, path, name, complaints);
  if (name.find('/') == std::string::npos) {
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name)) return;
    if (complaints.empty()) {
      check.Invalid(path, name, "must be a standard resource type or fully qualified");
    }
    check.Invalid(path, name, "must be a standard resource for containers");
  } else if (!IsNative(name) &&
             (name.starts_with("requests.") || !CheckQualifiedName("requests." + name).empty())) {
    check.Invalid(path, name, "doesn't follow extended resource name standard");
  }
}

void CheckAmount(const BuiltinCheck& check, const std::string& name, const Json& amount,
                 const std::string& path) {
  CheckAmountName(check, name, path);
  const auto millis = QuantityMillis(amount.is_string() ? amount.get<std::string>() : "");
  if (!millis) return;
  if (*millis < 0) check.Invalid(path, amount, "must be greater than or equal to 0");
  if (!IsNative(name) && *millis % 1000 != 0) check.Invalid(path, amount, "must be an integer");
}

}  // namespace

void CheckPodSecurity(const PodCheck& pod) {
  const std::string path = pod.path + ".securityContext";
  if (BoolAt(pod.spec, {"hostPID"}) && BoolAt(pod.spec, {"shareProcessNamespace"})) {
    pod.check.Invalid(pod.path + ".shareProcessNamespace", true,
                      "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  const Json* context = Find(pod.spec, {"securityContext"});
  if (context == nullptr) return;
  for (const char* member : {"fsGroup", "runAsUser", "runAsGroup"}) {
    CheckId(pod.check, Find(*context, {member}), path + "." + member);
  }
  const Json& groups = ArrayAt(*context, {"supplementalGroups"});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CheckId(pod.check, &groups[i], Indexed(path + ".supplementalGroups", i));
  }
  CheckSysctls(pod, *context, path + ".sysctls");
  CheckSeccomp(pod.check, Find(*context, {"seccompProfile"}), path + ".seccompProfile");
}

void CheckContainerSecurity(const BuiltinCheck& check, const Json& container,
                            const std::string& container_path, bool host_users) {
  const Json* context = Find(container, {"securityContext"});
  if (context == nullptr) return;
  const std::string path = container_path + ".securityContext";
  for (const char* member : {"runAsUser", "runAsGroup"}) {
    CheckId(check, Find(*context, {member}), path + "." + member);
  }
  if (host_users && StringAt(*context, {"procMount"}) == "Unmasked") {
    check.Invalid(path + ".procMount", "Unmasked", "`hostUsers` must be false to use `Unmasked`");
  }
  CheckSeccomp(check, Find(*context, {"seccompProfile"}), path + ".seccompProfile");
  if (BoolAt(*context, {"allowPrivilegeEscalation"}, true)) return;
  if (BoolAt(*context, {"privileged"})) {
    check.Invalid(path, *context,
                  "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  for (const Json& capability : ArrayAt(*context, {"capabilities", "add"})) {
    if (capability == "CAP_SYS_ADMIN") {
      check.Invalid(path, *context,
                    "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                    "CAP_SYS_ADMIN");
    }
  }
}

void CheckAmounts(const BuiltinCheck& check, const Json& container, const std::string& path) {
  static const Json kNone = Json::object();
  auto amounts = [&](const char* member) -> const Json& {
    const Json* found = Find(container, {"resources", member});
    return found != nullptr && found->is_object() ? *found : kNone;
  };
  const Json& most = amounts("limits");
  const Json& wanted = amounts("requests");
  bool compute = false, huge = false;
  auto look = [&](const std::string& name, const Json& amount, const char* member) {
    CheckAmount(check, name, amount, path + "." + member + "[" + name + "]");
    compute |= name == "cpu" || name == "memory";
    huge |= IsHugePages(name);
  };
  for (const auto& [name, amount] : most.items()) look(name, amount, "limits");
  for (const auto& [name, amount] : wanted.items()) {
    look(name, amount, "requests");
    const bool overcommit = IsNative(name) && !IsHugePages(name);
    auto limit = most.find(name);
    if (limit == most.end()) {
      if (!overcommit) {
        check.Required(path + ".limits", "Limit must be set for non overcommitable resources");
      }
      continue;
    }
    if (!limit->is_string() || !amount.is_string()) continue;
    const std::string text = limit->get<std::string>();
    const auto a = QuantityMillis(amount.get<std::string>()), b = QuantityMillis(text);
    if (!a || !b) continue;
    if (*a != *b && !overcommit) {
      check.Invalid(path + ".requests", amount, "must be equal to " + name + " limit of " + text);
    } else if (*a > *b) {
      check.Invalid(path + ".requests", amount,
                    "must be less than or equal to " + name + " limit of " + text);
    }
  }
  if (huge && !compute) check.Forbidden(path, "HugePages require cpu or memory");
}

}  // namespace mailroom::openapi
