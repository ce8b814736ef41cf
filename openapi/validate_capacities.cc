#include "openapi/validate_capacities.h"

#include <limits>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_devices.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kChoices = 10;

// Rounded up; what is out of range is the most there is.
std::int64_t Whole(const std::string& amount) {
  const auto millis = QuantityMillis(amount);
  if (!millis) return std::numeric_limits<std::int64_t>::max();
  return *millis / 1000 + (*millis % 1000 > 0 ? 1 : 0);
}

// A member that is there, though it may be shown as null when it is not.
const Json* Given(const Json& owner, std::string_view member) {
  const Json* found = Find(owner, {member});
  return found == nullptr || found->is_null() ? nullptr : found;
}

// A policy of one capacity, whose value is `most`.
class PolicyCheck {
 public:
  PolicyCheck(const BuiltinCheck& check, const Json& policy, std::string most, std::string path)
      : check_(check), policy_(policy), most_(std::move(most)), path_(std::move(path)) {}

  void Run() const {
    const Json& choices = ArrayAt(policy_, {"validValues"});
    const Json* range = Given(policy_, "validRange");
    if (!choices.empty() && range != nullptr) {
      return check_.Forbidden(path_, "exactly one policy can be specified, cannot specify "
                                     "\"validValues\" and \"validRange\" at the same time");
    }
    if (choices.empty() && range == nullptr) return;
    const std::string member = range == nullptr ? "validValues" : "validRange";
    if (Given(policy_, "default") == nullptr) {
      return check_.Required(path_ + ".default", "required when " + member + " is defined");
    }
    const std::string field = path_ + "." + member;
    const std::string usual = Amount(policy_, "default");
    if (range != nullptr) return CheckRange(*range, usual, field);
    CheckChoices(choices, usual, field);
  }

 private:
  static std::string Text(const Json& amount) {
    return CanonicalQuantity(amount.is_string() ? amount.get<std::string>() : amount.dump());
  }
  static std::string Amount(const Json& owner, const char* member) {
    const Json* found = Given(owner, member);
    return found == nullptr ? "" : Text(*found);
  }

  void Fault(const std::string& field, const std::string& amount, const std::string& why) const {
    check_.Invalid(field, amount, why);
  }

  void CheckChoices(const Json& choices, const std::string& usual, const std::string& field) const {
    for (std::size_t i = 1; i < choices.size() && !check_.causes.full(); ++i) {
      if (CompareQuantities(Text(choices[i - 1]), Text(choices[i])) <= 0) continue;
      Fault(ElementPath(field, i), Text(choices[i]), "values must be sorted in ascending order");
    }
    bool found = false;
    if (FitsIn(check_, choices, kChoices, field)) {
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const std::string choice = Text(choices[i]);
        if (CompareQuantities(choice, most_) > 0) {
          Fault(ElementPath(field, i), choice, "option is larger than capacity value: " + most_);
        }
        found = found || CompareQuantities(choice, usual) == 0;
      }
      CheckUnique(check_, choices, field,
                  [](const Json& choice) { return std::to_string(Whole(Text(choice))); });
    }
    if (!found) Fault(field, usual, "default value is not valid according to the requestPolicy");
  }

  void CheckRange(const Json& range, const std::string& usual, const std::string& field) const {
    if (Given(range, "min") == nullptr) {
      return check_.Required(field + ".min", "required when validRange is defined");
    }
    const std::string min = Amount(range, "min"), max = Amount(range, "max");
    const std::string step = Amount(range, "step");
    if (CompareQuantities(min, most_) > 0) {
      Fault(field + ".min", min, "min is larger than capacity value: " + most_);
    }
    if (CompareQuantities(usual, min) < 0) {
      Fault(field + ".min", usual, "default is less than min: " + min);
    }
    if (!max.empty()) {
      if (CompareQuantities(min, max) > 0) Fault(field + ".max", min, "min is larger than max: " + max);
      if (CompareQuantities(max, most_) > 0) {
        Fault(field + ".max", max, "max is larger than capacity value: " + most_);
      }
      if (CompareQuantities(usual, max) > 0) {
        Fault(field + ".max", usual, "default is more than max: " + max);
      }
    }
    if (step.empty()) return;
    const std::string first = AddQuantities(min, step);
    if (CompareQuantities(first, most_) > 0) {
      Fault(field + ".step", step, "one step " + first + " is larger than capacity value: " + most_);
    }
    CheckStep(usual, min, step, field + ".step");
    if (!max.empty()) CheckStep(max, min, step, field + ".step");
  }

  // A step of zero divides nothing: the original fails there, and so does the value. One of -1 divides all,
  // the least number included, where the processor fails. Between two amounts may lie more than fits.
  void CheckStep(const std::string& amount, const std::string& min, const std::string& step,
                 const std::string& field) const {
    const std::int64_t width = Whole(step);
    std::int64_t between = 0;
    (void)__builtin_sub_overflow(Whole(amount), Whole(min), &between);
    if (width == -1 || (width != 0 && between % width == 0)) return;
    Fault(field, amount, "value is not a multiple of a given step (" + step + ") from (" + min + ")");
  }

  const BuiltinCheck& check_;
  const Json& policy_;
  std::string most_, path_;
};

}  // namespace

void CheckCapacity(const BuiltinCheck& check, const Json& capacity, bool shared,
                   const std::string& path) {
  const Json* policy = Given(capacity, "requestPolicy");
  if (policy == nullptr) return;
  const std::string field = path + ".requestPolicy";
  if (!shared) return check.Forbidden(field, "allowMultipleAllocations must be true");
  PolicyCheck(check, *policy, CanonicalQuantity(StringAt(capacity, {"value"})), field).Run();
}

}  // namespace mailroom::openapi
