// Amounts of resources: what containers, pods and their overhead ask for, and claims on devices.
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/pod_resources.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_shown.h"

namespace mailroom::openapi {
namespace {

using NameCheck = void (*)(const BuiltinCheck&, const std::string&, const std::string&);

const Json& AmountsAt(const Json& requirements, std::string_view list) {
  const Json* found = Find(requirements, {list});
  return found != nullptr && found->is_object() ? *found : PodCheck::kNoSpec;
}

std::string AmountText(const Json& amount) {
  return CanonicalQuantity(amount.is_string() ? amount.get<std::string>() : DumpJson(amount));
}

// Whole pages, of the size that the name tells.
bool IsWholePages(const std::string& name, const std::string& amount) {
  const auto size = QuantityMillis(std::string_view(name).substr(name.find('-') + 1));
  const auto millis = QuantityMillis(amount);
  if (!size || *size <= 0 || *size % 1000 != 0) return false;
  return !millis || (*millis / 1000 + (*millis % 1000 > 0 ? 1 : 0)) % (*size / 1000) == 0;
}

bool HasPartPages(const Json& requirements) {
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, amount] : AmountsAt(requirements, list).items()) {
      if (IsHugePages(name) && !IsWholePages(name, AmountText(amount))) return true;
    }
  }
  return false;
}

// Pods of before may have pages in parts.
bool HadPartPages(const Json& spec) {
  const Json* overhead = Find(spec, {"overhead"});
  bool found = overhead != nullptr && HasPartPages({{"limits", *overhead}});
  ForEachContainer(spec, "", [&](const Json& container, const std::string&) {
    const Json* resources = Find(container, {"resources"});
    found |= resources != nullptr && HasPartPages(*resources);
  });
  return found;
}

struct Amounts {
  const PodCheck& pod;
  const Json& requirements;
  const std::string& path;
  NameCheck check_name;
  bool compute = false, huge = false;

  void Look(const std::string& name, const std::string& amount, const std::string& field) {
    const BuiltinCheck& check = pod.check;
    check_name(check, name, field);
    if (CompareQuantities(amount, "0") < 0) {
      check.Invalid(field, amount, "must be greater than or equal to 0");
    }
    const auto millis = QuantityMillis(amount);
    if (IsWholeAmount(name) && millis && *millis % 1000 != 0) {
      check.Invalid(field, amount, "must be an integer");
    }
    compute |= name == "cpu" || name == "memory";
    huge |= IsHugePages(name);
  }

  void LookAtPages(const std::string& name, const std::string& amount, const std::string& field) {
    if (!IsHugePages(name) || pod.check.causes.full()) return;
    if (IsWholePages(name, amount) || HadPartPages(pod.before)) return;
    pod.check.Invalid(field, amount, amount + " is not positive integer multiple of " + name);
  }

  void Compare(const std::string& name, const std::string& amount) {
    const BuiltinCheck& check = pod.check;
    const bool overcommit = IsNativeAmount(name) && !IsHugePages(name);
    const Json* limit = Find(requirements, {"limits", name});
    if (limit == nullptr) {
      if (overcommit) return;
      return check.Required(path + ".limits", "Limit must be set for non overcommitable resources");
    }
    const std::string most = AmountText(*limit);
    const int difference = CompareQuantities(amount, most);
    if (difference != 0 && !overcommit) {
      check.Invalid(path + ".requests", amount, "must be equal to " + name + " limit of " + most);
    } else if (difference > 0) {
      check.Invalid(path + ".requests", amount,
                    "must be less than or equal to " + name + " limit of " + most);
    }
  }

  void Run() {
    for (const auto& [name, value] : AmountsAt(requirements, "limits").items()) {
      const std::string field = EntryPath(path + ".limits", name), amount = AmountText(value);
      Look(name, amount, field);
      LookAtPages(name, amount, field);
    }
    for (const auto& [name, value] : AmountsAt(requirements, "requests").items()) {
      const std::string field = EntryPath(path + ".requests", name), amount = AmountText(value);
      Look(name, amount, field);
      Compare(name, amount);
      LookAtPages(name, amount, field);
    }
    if (huge && !compute) pod.check.Forbidden(path, "HugePages require cpu or memory");
  }
};

void CheckClaimName(const PodCheck& pod, const std::string& name, const std::string& path) {
  if (pod.claims.contains(name)) return;
  std::string names;
  for (const std::string& known : pod.claims) names += (names.empty() ? ": " : ", ") + known;
  pod.check.causes.push_back(
      {"FieldValueNotFound",
       "Not found: " + Quoted(name) + ": must be one of the names in pod.spec.resourceClaims" +
           (names.empty() ? " which is empty" : names),
       path});
}

// A claim is named once, or some of its requests are.
void CheckClaimsOf(const PodCheck& pod, const Json& claims, const std::string& path) {
  std::set<std::string> known;
  const auto duplicate = [&](const std::string& field, const std::string& key) {
    pod.check.causes.push_back(DuplicateValue(field, Quoted(key)));
  };
  for (std::size_t i = 0; i < claims.size() && !pod.check.causes.full(); ++i) {
    const std::string field = Indexed(path, i);
    const std::string name = StringAt(claims[i], {"name"}), part = StringAt(claims[i], {"request"});
    if (name.empty()) {
      pod.check.Required(field);
      continue;
    }
    if (known.contains(name)) {
      duplicate(field, name);
    } else {
      const std::string key = part.empty() ? name : name + "/" + part;
      if (!part.empty()) AddInvalid(pod.check.causes, field + ".request", part, CheckLabel(part));
      if (known.contains(key)) duplicate(field, key);
      if (part.empty()) {
        const std::string parts = name + "/";
        for (auto at = known.lower_bound(parts); at != known.end() && at->starts_with(parts); ++at) {
          duplicate(field, name);
        }
      }
      known.insert(key);
    }
    CheckClaimName(pod, name, field);
  }
}

void CheckPodAmountName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  const std::size_t told = check.causes.size();
  CheckAmountName(check, name, path);
  if (check.causes.size() > told || name == "cpu" || name == "memory" || IsHugePages(name)) return;
  check.causes.push_back(NotSupported(path, name, {"cpu", "hugepages-", "memory"}));
}

// A pod asks for no less than its containers together, and none of them may have more.
void CheckAgainstContainers(const PodCheck& pod, const Json& whole, const std::string& path) {
  const BuiltinCheck& check = pod.check;
  for (const std::string list : {"requests", "limits"}) {
    const Json together = ContainerAmounts(pod.spec, list);
    for (const auto& [name, value] : together.items()) {
      const Json* own = Find(whole, {list, name});
      if (own == nullptr || (list == "limits" && !IsHugePages(name))) continue;
      const std::string amount = AmountText(*own), sum = AmountText(value);
      if (CompareQuantities(sum, amount) <= 0) continue;
      check.Invalid(EntryPath(path + "." + list, name), amount,
                    "must be greater than or equal to aggregate container " + list + " of " + sum);
    }
  }
  const Json& containers = ArrayAt(pod.spec, {"containers"});
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json* limits = Find(containers[i], {"resources", "limits"});
    if (limits == nullptr || !limits->is_object()) continue;
    for (const auto& [name, value] : limits->items()) {
      const Json* own = Find(whole, {"limits", name});
      if (own == nullptr) continue;
      const std::string amount = AmountText(value), most = AmountText(*own);
      if (CompareQuantities(amount, most) <= 0) continue;
      check.Invalid(EntryPath(Indexed(path + ".containers", i), name) + ".limits", amount,
                    "must be less than or equal to pod limits of " + most);
    }
  }
}

void CheckClaim(const PodCheck& pod, const Json& claim, const std::string& path,
                std::set<std::string>& names) {
  const BuiltinCheck& check = pod.check;
  const std::string name = StringAt(claim, {"name"});
  if (name.empty()) {
    check.Required(path + ".name");
  } else if (names.contains(name)) {
    check.causes.push_back(DuplicateValue(path + ".name", Quoted(name)));
  } else {
    AddInvalid(check.causes, path + ".name", name, CheckLabel(name));
    names.insert(name);
  }
  const bool by_name = Find(claim, {"resourceClaimName"}) != nullptr;
  const bool by_template = Find(claim, {"resourceClaimTemplateName"}) != nullptr;
  if (by_name == by_template) {
    check.causes.push_back(InvalidValue(
        path, ShownClaim(claim),
        by_name ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
  }
  for (const char* member : {"resourceClaimName", "resourceClaimTemplateName"}) {
    if (Find(claim, {member}) == nullptr) continue;
    const std::string text = StringAt(claim, {member});
    AddInvalid(check.causes, path + "." + member, text, CheckSubdomain(text));
  }
}

}  // namespace

void CheckPodClaims(PodCheck& pod) {
  const Json& list = ArrayAt(pod.spec, {"resourceClaims"});
  std::set<std::string> names;
  const bool mirror = pod.IsPod() && Find(pod.check.object, {"metadata", "annotations",
                                                             "kubernetes.io/config.mirror"}) != nullptr;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (mirror) {
      pod.check.Forbidden(kWholeObject, "static pods do not support resource claims");
      continue;
    }
    CheckClaim(pod, list[i], Indexed(pod.path + ".resourceClaims", i), names);
  }
  for (const Json& claim : list) {
    const std::string name = StringAt(claim, {"name"});
    if (!name.empty()) pod.claims.insert(name);
  }
}

void CheckAmounts(const PodCheck& pod, const Json& requirements, const std::string& path) {
  Amounts{pod, requirements, path, CheckContainerAmountName}.Run();
  CheckClaimsOf(pod, ArrayAt(requirements, {"claims"}), path + ".claims");
}

void CheckOverhead(const PodCheck& pod) {
  const Json* overhead = Find(pod.spec, {"overhead"});
  if (overhead == nullptr) return;
  const Json limits = {{"limits", *overhead}};
  const std::string path = pod.path + ".overhead";
  Amounts{pod, limits, path, CheckContainerAmountName}.Run();
}

void CheckPodAmounts(const PodCheck& pod) {
  const Json* whole = Find(pod.spec, {"resources"});
  if (whole == nullptr) return;
  const std::string path = pod.path + ".resources";
  if (StringAt(pod.spec, {"os", "name"}) == "windows") {
    return pod.check.Forbidden(path, "may not be set for a windows pod");
  }
  if (Find(*whole, {"claims"}) != nullptr) {
    pod.check.Forbidden(path + ".claims", "claims may not be set for Resources at pod-level");
  }
  Amounts{pod, *whole, path, CheckPodAmountName}.Run();
  CheckClaimsOf(pod, ArrayAt(*whole, {"claims"}), path + ".claims");
  CheckAgainstContainers(pod, *whole, path);
}

}  // namespace mailroom::openapi
