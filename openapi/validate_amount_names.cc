#include "openapi/validate_amount_names.h"

#include <algorithm>
#include <array>

#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

// Counted in whole numbers.
constexpr std::array<std::string_view, 9> kObjects = {"pods",
                                                      "resourcequotas",
                                                      "services",
                                                      "replicationcontrollers",
                                                      "secrets",
                                                      "configmaps",
                                                      "persistentvolumeclaims",
                                                      "services.nodeports",
                                                      "services.loadbalancers"};
constexpr std::array<std::string_view, 3> kCompute = {"cpu", "memory", "ephemeral-storage"};

template <std::size_t N>
bool Holds(const std::array<std::string_view, N>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool IsQualified(std::string_view name) { return name.find('/') != std::string_view::npos; }

std::string_view Without(std::string_view name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

bool IsStandard(std::string_view name) { return name == "storage" || IsQuotaAmount(name); }

}  // namespace

bool IsNativeAmount(std::string_view name) {
  return !IsQualified(name) || name.find("kubernetes.io/") != std::string_view::npos;
}

bool IsExtendedAmount(std::string_view name) {
  return !IsNativeAmount(name) && !name.starts_with("requests.") &&
         CheckQualifiedName("requests." + std::string(name)).empty();
}

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsQuotaAmount(std::string_view name) {
  return Holds(kObjects, name) || Holds(kCompute, Without(name, "limits.")) ||
         Holds(kCompute, Without(name, "requests.")) || name == "requests.storage" ||
         IsHugePages(Without(name, "requests."));
}

bool IsWholeAmount(std::string_view name) {
  return Holds(kObjects, name) || IsExtendedAmount(name);
}

void CheckAmountName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  const Complaints complaints = CheckQualifiedName(name);
  AddInvalid(check.causes, path, name, complaints);
  if (complaints.empty() && !IsQualified(name) && !IsStandard(name)) {
    check.Invalid(path, name, "must be a standard resource type or fully qualified");
  }
}

void CheckContainerAmountName(const BuiltinCheck& check, const std::string& name,
                              const std::string& path) {
  CheckAmountName(check, name, path);
  if (!IsQualified(name)) {
    if (Holds(kCompute, name) || IsHugePages(name)) return;
    check.Invalid(path, name, "must be a standard resource for containers");
  } else if (!IsNativeAmount(name) && !IsExtendedAmount(name)) {
    check.Invalid(path, name, "doesn't follow extended resource name standard");
  }
}

}  // namespace mailroom::openapi
