// Resource quantities: exact to a billionth, as the API's.
#include <cmath>

#include "openapi/cel/library.h"
#include "openapi/cel/wide.h"

namespace mailroom::cel {
namespace {

constexpr Wide kBillion = 1'000'000'000;
constexpr Wide kMost = static_cast<Wide>(INT64_MAX) * kBillion;

struct Quantity : Opaque {
  Wide nanos = 0;
  std::string_view type_name() const override { return "kubernetes.Quantity"; }
  bool Equals(const Opaque& other) const override {
    return nanos == static_cast<const Quantity&>(other).nanos;
  }
};

Value Make(Wide nanos) {
  auto node = std::make_shared<Quantity>();
  node->nanos = std::min(std::max(nanos, -kMost), kMost);
  return Value::Of(std::shared_ptr<const Opaque>(std::move(node)));
}
Wide NanosOf(const Value& value) {
  return static_cast<const Quantity*>(value.opaque())->nanos;
}

// Power of ten or two that a suffix stands for.
bool Suffix(std::string_view text, int& tens, int& twos) {
  struct Unit {
    std::string_view text;
    int tens, twos;
  };
  static constexpr Unit kUnits[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},
                                    {"k", 3, 0},   {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},
                                    {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
                                    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}};
  for (const Unit& unit : kUnits) {
    if (unit.text != text) continue;
    tens = unit.tens;
    twos = unit.twos;
    return true;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  std::size_t at = text[1] == '+' || text[1] == '-' ? 2 : 1;
  if (at >= text.size()) return false;
  for (; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') return false;
    tens = std::min(tens * 10 + (text[at] - '0'), 1000);
  }
  if (text[1] == '-') tens = -tens;
  return true;
}

bool Parse(std::string_view text, Wide& nanos) {
  const bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::string digits;
  int scale = 9;  // the point moves right by this much
  bool point = false;
  std::size_t at = 0, seen = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[at] < '0' || text[at] > '9') break;
    ++seen;
    if (digits.empty() && text[at] == '0') {
      if (point) --scale;
      continue;
    }
    digits += text[at];
    if (point) --scale;
  }
  int tens = 0, twos = 0;
  if (seen == 0 || !Suffix(text.substr(at), tens, twos)) return false;
  scale += tens;
  // Past 2^63 the amount is capped; below a billionth it is rounded up.
  Wide value = 0;
  bool rest = false;
  const std::int64_t whole = static_cast<std::int64_t>(digits.size()) + std::min(scale, 0);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (static_cast<std::int64_t>(i) >= whole && scale < 0) {
      rest |= digits[i] != '0';
      continue;
    }
    value = value * 10 + (digits[i] - '0');
    if (value > kMost) break;
  }
  for (int i = 0; i < scale && value <= kMost && value > 0; ++i) value *= 10;
  for (int i = 0; i < twos && value <= kMost; ++i) value *= 2;
  if (rest) ++value;
  nanos = std::min(value, kMost);
  if (minus) nanos = -nanos;
  return true;
}

Value FromText(Meter&, Args a) {
  Wide nanos = 0;
  if (Parse(a[0].text(), nanos)) return Make(nanos);
  return Value::Error(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
Value IsQuantity(Meter&, Args a) {
  Wide nanos = 0;
  return Value::Bool(Parse(a[0].text(), nanos));
}
int Order(Args a) {
  const Wide left = NanosOf(a[0]), right = NanosOf(a[1]);
  return left < right ? -1 : (left > right ? 1 : 0);
}
Value SignOf(Meter&, Args a) {
  const Wide nanos = NanosOf(a[0]);
  return Value::Int(nanos < 0 ? -1 : (nanos > 0 ? 1 : 0));
}
Value Greater(Meter&, Args a) { return Value::Bool(Order(a) > 0); }
Value Less(Meter&, Args a) { return Value::Bool(Order(a) < 0); }
Value CompareTo(Meter&, Args a) { return Value::Int(Order(a)); }
Value AsFloat(Meter&, Args a) {
  const Wide nanos = NanosOf(a[0]);
  if (nanos % kBillion == 0) return Value::Double(static_cast<double>(nanos / kBillion));
  return Value::Double(static_cast<double>(nanos) / 1e9);
}
Value AsInteger(Meter&, Args a) {
  const Wide nanos = NanosOf(a[0]);
  if (nanos % kBillion != 0) return Value::Error("cannot convert value to integer");
  return Value::Int(static_cast<std::int64_t>(nanos / kBillion));
}
Value IsInteger(Meter&, Args a) { return Value::Bool(NanosOf(a[0]) % kBillion == 0); }
Wide Amount(const Value& value) {
  return value.is(Kind::kInt) ? static_cast<Wide>(value.integer()) * kBillion : NanosOf(value);
}
Value Add(Meter&, Args a) { return Make(NanosOf(a[0]) + Amount(a[1])); }
Value Sub(Meter&, Args a) { return Make(NanosOf(a[0]) - Amount(a[1])); }

constexpr Row kRows[] = {
    {"quantity", "(string) kubernetes.Quantity", FromText, TraverseFirst},
    {"isQuantity", "(string) bool", IsQuantity, TraverseFirst},
    {"sign", "(kubernetes.Quantity) int", SignOf},
    {"sign", "kubernetes.Quantity.() int", SignOf},
    {"isGreaterThan", "kubernetes.Quantity.(kubernetes.Quantity) bool", Greater},
    {"isLessThan", "kubernetes.Quantity.(kubernetes.Quantity) bool", Less},
    {"compareTo", "kubernetes.Quantity.(kubernetes.Quantity) int", CompareTo},
    {"asApproximateFloat", "kubernetes.Quantity.() double", AsFloat},
    {"asInteger", "kubernetes.Quantity.() int", AsInteger},
    {"isInteger", "kubernetes.Quantity.() bool", IsInteger},
    {"add", "kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity", Add},
    {"add", "kubernetes.Quantity.(int) kubernetes.Quantity", Add},
    {"sub", "kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity", Sub},
    {"sub", "kubernetes.Quantity.(int) kubernetes.Quantity", Sub},
};

}  // namespace

std::span<const Row> QuantityRows() { return kRows; }

}  // namespace mailroom::cel
