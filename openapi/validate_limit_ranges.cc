// LimitRanges: bounds and defaults that agree with each other.
#include <cstdio>
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

// One entry of spec.limits; `path` is where it stands.
class LimitCheck {
 public:
  LimitCheck(const BuiltinCheck& check, const Json& limit, std::string path)
      : check_(check), limit_(limit), path_(std::move(path)), type_(StringAt(limit, {"type"})) {}

  // `repeated`: an entry before has the same type.
  void Run(bool repeated) {
    CheckType();
    if (repeated) check_.causes.push_back(DuplicateValue(path_ + ".type", Quoted(type_)));
    CheckNames("max");
    CheckNames("min");
    for (const char* member : {"default", "defaultRequest"}) {
      if (type_ != "Pod") {
        CheckNames(member);
      } else if (const Json* amounts = Find(limit_, {member});
                 amounts != nullptr && !amounts->empty()) {
        check_.Forbidden(path_ + "." + member, "may not be specified when `type` is 'Pod'");
      }
    }
    if (type_ == "PersistentVolumeClaim" && !At("min", "storage") && !At("max", "storage")) {
      check_.Required(
          path_ + ".limits",
          "either minimum or maximum storage value is required, but neither was provided");
    }
    CheckNames("maxLimitRequestRatio");
    for (const std::string& name : names_) {
      if (check_.causes.full()) return;
      CheckBounds(name);
      CheckRatio(name);
      CheckEqual(name);
    }
  }

 private:
  using Amount = std::optional<std::string>;

  Amount At(const char* member, const std::string& name) const {
    const Json* found = Find(limit_, {member, name});
    if (found == nullptr || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  }

  // Of pods nothing but the bounds counts.
  Amount DefaultAt(const char* member, const std::string& name) const {
    return type_ == "Pod" ? std::nullopt : At(member, name);
  }

  void CheckType() const {
    const Complaints complaints = CheckQualifiedName(type_);
    AddInvalid(check_.causes, path_ + ".type", type_, complaints);
    if (complaints.empty() && type_.find('/') == std::string::npos && type_ != "Pod" &&
        type_ != "Container" && type_ != "PersistentVolumeClaim") {
      check_.Invalid(path_ + ".type", type_, "must be a standard limit type or fully qualified");
    }
  }

  void CheckNames(const char* member) {
    const Json* amounts = Find(limit_, {member});
    if (amounts == nullptr || !amounts->is_object()) return;
    for (const auto& [name, amount] : amounts->items()) {
      names_.insert(name);
      const std::string field = EntryPath(path_ + "." + member, name);
      if (type_ == "Pod" || type_ == "Container") {
        CheckContainerAmountName(check_, name, field);
      } else {
        CheckAmountName(check_, name, field);
      }
    }
  }

  // `less`, called `word`, is not above `more`; else `shown` is refused at `member`.
  void CheckOrder(const Amount& less, const char* word, const Amount& more, const char* other,
                  const char* member, const Amount& shown, const std::string& name) const {
    if (!less || !more || CompareQuantities(*less, *more) <= 0) return;
    check_.Invalid(
        EntryPath(path_ + "." + member, name), *shown,
        std::string(word) + " value " + *less + " is greater than " + other + " value " + *more);
  }

  void CheckBounds(const std::string& name) const {
    const Amount least = At("min", name), most = At("max", name);
    const Amount limit = DefaultAt("default", name), request = DefaultAt("defaultRequest", name);
    CheckOrder(least, "min", most, "max", "min", least, name);
    CheckOrder(least, "min", request, "default request", "defaultRequest", request, name);
    CheckOrder(request, "default request", most, "max", "defaultRequest", request, name);
    CheckOrder(request, "default request", limit, "default limit", "defaultRequest", request, name);
    CheckOrder(least, "min", limit, "default", "default", least, name);
    CheckOrder(limit, "default", most, "max", "default", most, name);
  }

  void CheckRatio(const std::string& name) const {
    const Amount ratio = At("maxLimitRequestRatio", name);
    if (!ratio) return;
    const std::string field = EntryPath(path_ + ".maxLimitRequestRatio", name);
    if (CompareQuantities(*ratio, "1") < 0) {
      check_.Invalid(field, *ratio, "ratio " + *ratio + " is less than 1");
    }
    const Amount least = At("min", name), most = At("max", name);
    if (!least || !most) return;
    const auto asked = QuantityMillis(*ratio), low = QuantityMillis(*least),
               high = QuantityMillis(*most);
    if (!asked || !low || !high) return;  // too large to be divided
    const double bound = static_cast<double>(*high) / static_cast<double>(*low);
    if (!(static_cast<double>(*asked) / 1000 > bound)) return;
    char text[400];
    std::snprintf(text, sizeof text, "%f", bound);
    check_.Invalid(field, *ratio, "ratio " + *ratio + " is greater than max/min = " + text);
  }

  // What nobody gets more of than was asked for.
  void CheckEqual(const std::string& name) const {
    const Amount limit = DefaultAt("default", name), request = DefaultAt("defaultRequest", name);
    if (!limit || !request || (IsNativeAmount(name) && !IsHugePages(name))) return;
    if (CompareQuantities(*limit, *request) == 0) return;
    check_.Invalid(EntryPath(path_ + ".defaultRequest", name), *request,
                   "default value " + *limit + " must equal to defaultRequest value " + *request +
                       " in " + name);
  }

  const BuiltinCheck& check_;
  const Json& limit_;
  const std::string path_, type_;
  std::set<std::string> names_;  // of all amounts that count
};

}  // namespace

void CheckLimitRange(const BuiltinCheck& check) {
  const Json& limits = ArrayAt(check.object, {"spec", "limits"});
  std::set<std::string> types;
  for (std::size_t i = 0; i < limits.size() && !check.causes.full(); ++i) {
    const std::string path = Indexed("spec.limits", i), type = StringAt(limits[i], {"type"});
    const bool repeated = !types.insert(type).second;
    LimitCheck(check, limits[i], path).Run(repeated);
  }
}

}  // namespace mailroom::openapi
