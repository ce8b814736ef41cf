// ResourceQuotas: what they count, and of which pods and claims.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

// What pods and claims with a scope can be counted by.
enum class Counts { kPods, kPodsAndCompute, kClaims };

struct Scope {
  std::string_view name;
  Counts counts;
  bool selected = false;  // has values to select by
};

constexpr std::array<Scope, 7> kScopes = {{
    {"Terminating", Counts::kPodsAndCompute},
    {"NotTerminating", Counts::kPodsAndCompute},
    {"BestEffort", Counts::kPods},
    {"NotBestEffort", Counts::kPodsAndCompute},
    {"PriorityClass", Counts::kPodsAndCompute, true},
    {"CrossNamespacePodAffinity", Counts::kPodsAndCompute},
    {"VolumeAttributesClass", Counts::kClaims, true},
}};

const Scope* FindScope(std::string_view name) {
  const auto* at = std::find_if(kScopes.begin(), kScopes.end(),
                                [&](const Scope& scope) { return scope.name == name; });
  return at == kScopes.end() ? nullptr : at;
}

bool Fits(Counts counts, std::string_view amount) {
  if (counts == Counts::kClaims) {
    return amount == "persistentvolumeclaims" || amount == "requests.storage";
  }
  if (amount == "pods") return true;
  if (counts == Counts::kPods) return false;
  for (std::string_view prefix : {"limits.", "requests."}) {
    if (!amount.starts_with(prefix)) continue;
    amount.remove_prefix(prefix.size());
    break;
  }
  return amount == "cpu" || amount == "memory";
}

void CheckAmounts(const BuiltinCheck& check, Path path) {
  const Json* amounts = Find(check.object, path);
  if (amounts == nullptr || !amounts->is_object()) return;
  for (const auto& [name, amount] : amounts->items()) {
    const std::string field = EntryPath(DottedPath(path), name);
    CheckAmountName(check, name, field);
    if (name.find('/') == std::string::npos && !IsQuotaAmount(name)) {
      check.Invalid(field, name, "must be a standard resource for quota");
    }
    const std::string text = amount.is_string() ? amount.get<std::string>() : "";
    if (CompareQuantities(text, "0") < 0) {
      check.Invalid(field, amount, "must be greater than or equal to 0");
    }
    const auto millis = QuantityMillis(text);
    if (IsWholeAmount(name) && millis && *millis % 1000 != 0) {
      check.Invalid(field, amount, "must be an integer");
    }
  }
}

class ScopesCheck {
 public:
  explicit ScopesCheck(const BuiltinCheck& check)
      : check_(check), scopes_(StringsAt(check.object, {"spec", "scopes"})) {
    const Json* amounts = Find(check.object, {"spec", "hard"});
    if (amounts == nullptr || !amounts->is_object()) return;
    for (const auto& [amount, value] : amounts->items()) {
      if (!IsQuotaAmount(amount)) continue;
      for (const Counts counts : {Counts::kPods, Counts::kPodsAndCompute, Counts::kClaims}) {
        unfit_[counts] += Fits(counts, amount) ? 0 : 1;
      }
    }
  }

  void CheckList() const {
    if (scopes_.empty()) return;
    const std::string path = "spec.scopes", shown = Rendered(Listed());
    for (std::size_t i = 0; i < scopes_.size() && !check_.causes.full(); ++i) {
      if (FindScope(scopes_[i]) == nullptr) {
        check_.causes.push_back(InvalidValue(path, shown, "unsupported scope"));
      }
      CheckFit(scopes_[i], path, shown);
    }
    CheckConflicts(scopes_, path);
  }

  void CheckSelector() const {
    if (Find(check_.object, {"spec", "scopeSelector"}) == nullptr) return;
    const std::string path = "spec.scopeSelector.matchExpressions";
    const std::string shown = SelectorText();
    std::vector<std::string> names;
    for (const Json& term : ArrayAt(check_.object, {"spec", "scopeSelector", "matchExpressions"})) {
      if (check_.causes.full()) return;
      names.push_back(StringAt(term, {"scopeName"}));
      CheckTerm(term, names.back(), path, shown);
    }
    CheckConflicts(names, path);
  }

  void CheckUnchanged() const {
    if (check_.old == nullptr) return;
    const auto before = StringsAt(*check_.old, {"spec", "scopes"});
    if (std::set(before.begin(), before.end()) != std::set(scopes_.begin(), scopes_.end())) {
      check_.Invalid("spec.scopes", Listed(), "field is immutable");
    }
  }

 private:
  Json Listed() const { return scopes_.empty() ? Json() : Json(scopes_); }

  void CheckTerm(const Json& term, const std::string& name, const std::string& path,
                 const std::string& shown) const {
    const Scope* scope = FindScope(name);
    if (scope == nullptr) check_.Invalid(path + ".scopeName", name, "unsupported scope");
    CheckFit(name, path, shown);
    const std::string op = StringAt(term, {"operator"});
    if (scope != nullptr && !scope->selected && op != "Exists") {
      check_.Invalid(path + ".operator", op,
                     "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                     "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                     "ResourceQuotaScopeNotBestEffort or "
                     "ResourceQuotaScopeCrossNamespacePodAffinity");
    }
    const Json& values = ArrayAt(term, {"values"});
    if (op == "In" || op == "NotIn") {
      if (values.empty()) {
        check_.Required(path + ".values",
                        "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                        "selector");
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (!values.empty()) {
        check_.Invalid(path + ".values", values,
                       "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                       "selector");
      }
    } else {
      check_.Invalid(path + ".operator", op, "not a valid selector operator");
    }
  }

  // The scope suits all that is counted.
  void CheckFit(const std::string& name, const std::string& path, const std::string& shown) const {
    const Scope* scope = FindScope(name);
    const auto unfit = scope == nullptr ? unfit_.end() : unfit_.find(scope->counts);
    if (unfit == unfit_.end()) return;
    for (std::size_t i = 0; i < unfit->second && !check_.causes.full(); ++i) {
      check_.causes.push_back(InvalidValue(path, shown, "unsupported scope applied to resource"));
    }
  }

  void CheckConflicts(const std::vector<std::string>& names, const std::string& path) const {
    const std::set<std::string> known(names.begin(), names.end());
    for (const auto& [one, other] :
         {std::pair("BestEffort", "NotBestEffort"), std::pair("Terminating", "NotTerminating")}) {
      if (known.contains(one) && known.contains(other)) {
        check_.Invalid(path, Listed(), "conflicting scopes");
      }
    }
  }

  // The selector as errors show it: under other names of its members, in their own order.
  std::string SelectorText() const {
    std::string out;
    for (const Json& term : ArrayAt(check_.object, {"spec", "scopeSelector", "matchExpressions"})) {
      const Json& values = ArrayAt(term, {"values"});
      out += out.empty() ? "" : ",";
      out += "{\"ScopeName\":" + Rendered(StringAt(term, {"scopeName"})) +
             ",\"Operator\":" + Rendered(StringAt(term, {"operator"})) +
             ",\"Values\":" + (values.empty() ? "null" : Rendered(values)) + "}";
    }
    return "{\"MatchExpressions\":[" + out + "]}";
  }

  const BuiltinCheck& check_;
  const std::vector<std::string> scopes_;
  // How many amounts a scope does not suit; it may be named very often.
  std::map<Counts, std::size_t> unfit_;
};

}  // namespace

void CheckResourceQuota(const BuiltinCheck& check) {
  if (check.subresource == "status") {
    CheckAmounts(check, {"status", "hard"});
    CheckAmounts(check, {"status", "used"});
    return;
  }
  CheckAmounts(check, {"spec", "hard"});
  const ScopesCheck scopes(check);
  scopes.CheckList();
  scopes.CheckSelector();
  scopes.CheckUnchanged();
}

}  // namespace mailroom::openapi
