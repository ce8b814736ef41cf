#include "openapi/validate_numbers.h"

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

bool IsWhole(double number) { return std::isfinite(number) && number == std::trunc(number); }

// Whether a number that is no integer in JSON can be one of the type and format of the node.
bool IsInRange(const Schema& schema, double number) {
  if (schema.type == Type::kInteger) {
    constexpr double kMost = 9223372036854775808.0;
    if (!IsWhole(number) || number < -kMost || number >= kMost) return false;
    return schema.format != "int32" || (number >= INT32_MIN && number <= INT32_MAX);
  }
  const bool single = schema.type == Type::kNumber && schema.format == "float";
  return !single || std::fabs(number) <= FLT_MAX;
}

std::string RangeText(const Schema& schema, const std::string& what) {
  const bool integer = schema.type == Type::kInteger;
  const bool known = integer ? schema.format == "int32" || schema.format == "int64"
                             : schema.format == "float" || schema.format == "double";
  return what + " value must be of type " + (integer ? "integer" : "number") +
         (known ? " with format " + schema.format : " (default format)") + " in ";
}

class NumberCheck {
 public:
  NumberCheck(const Schema& schema, const Json& value, const std::string& path)
      : schema_(schema), value_(value), path_(path), number_(value.get<double>()) {}

  Causes Run() {
    InRange(number_, "Checked");
    if (schema_.multiple_of) MultipleOf(Fitted(*schema_.multiple_of, "MultipleOf"));
    if (schema_.minimum) {
      const double bound = Fitted(*schema_.minimum, "Minimum boundary");
      const bool out = schema_.exclusive_minimum ? number_ <= bound : number_ < bound;
      if (out) {
        Add((schema_.exclusive_minimum ? "be greater than " : "be greater than or equal to ") +
            Printed(bound));
      }
    }
    if (schema_.maximum) {
      const double bound = Fitted(*schema_.maximum, "Maximum boundary");
      const bool out = schema_.exclusive_maximum ? number_ >= bound : number_ > bound;
      if (out) {
        Add((schema_.exclusive_maximum ? "be less than " : "be less than or equal to ") +
            Printed(bound));
      }
    }
    return std::move(causes_);
  }

 private:
  std::string Field() const { return path_.empty() ? "<nil>" : path_; }

  void Add(const std::string& text) {
    causes_.push_back(InvalidValue(Field(), Rendered(value_), path_ + " in body should " + text));
  }

  bool InRange(double number, const char* what) {
    if (IsInRange(schema_, number)) return true;
    causes_.push_back(InvalidValue("<nil>", "\"\"", RangeText(schema_, what) + path_));
    return false;
  }

  // The constraint as it is compared: beside a whole number it loses its fraction, unless it is of
  // no use to the type anyway.
  double Fitted(double constraint, const char* what) {
    whole_ = InRange(constraint, what) && !IsFloat(value_);
    return whole_ && std::fabs(constraint) < 9e18 ? std::trunc(constraint) : constraint;
  }

  std::string Printed(double constraint) const {
    if (!whole_ || std::fabs(constraint) >= 9e18) return RenderedNumber(constraint);
    return std::to_string(static_cast<std::int64_t>(constraint));
  }

  void MultipleOf(double factor) {
    if (factor <= 0) {
      causes_.push_back(InvalidValue(Field(), Printed(factor),
                                     "factor MultipleOf declared for " + path_ +
                                         " must be positive: " + Printed(factor)));
      return;
    }
    if (whole_) {
      if (value_.get<std::int64_t>() % static_cast<std::int64_t>(factor) == 0) return;
    } else {
      const double times = factor < 1 ? 1 / factor * number_ : number_ / factor;
      if (std::fabs(times - std::round(times)) <= 1e-9 * std::fmax(1.0, std::fabs(times))) return;
    }
    Add("be a multiple of " + Printed(factor));
  }

  const Schema& schema_;
  const Json& value_;
  const std::string& path_;
  const double number_;
  bool whole_ = false;  // how the constraint at hand is compared and printed
  Causes causes_;
};

}  // namespace

Causes CheckNumber(const Schema& schema, const Json& value, const std::string& path) {
  return NumberCheck(schema, value, path).Run();
}

}  // namespace mailroom::openapi
