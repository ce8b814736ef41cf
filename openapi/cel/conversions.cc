// Conversions between types: int(x), string(x), timestamp(x), ...
#include <charconv>
#include <cmath>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

Value Itself(Meter&, Args a) { return a[0]; }

Value Unconvertible(const Value& value, const char* type) {
  return Value::Error("type conversion error from '" + value.TypeName() + "' to '" + type + "'");
}

Value DoubleToInt(Meter&, Args a) {
  const double number = a[0].real();
  if (std::isnan(number) || number <= -9223372036854775808.0 || number >= 9223372036854775808.0) {
    return Value::Error("integer overflow");
  }
  return Value::Int(static_cast<std::int64_t>(number));
}
Value UintToInt(Meter&, Args a) {
  if (a[0].natural() > INT64_MAX) return Value::Error("integer overflow");
  return Value::Int(static_cast<std::int64_t>(a[0].natural()));
}
template <typename T>
bool ReadWhole(std::string_view text, T& out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}
Value StringToInt(Meter&, Args a) {
  std::int64_t out = 0;
  return ReadWhole(a[0].text(), out) ? Value::Int(out) : Unconvertible(a[0], "int");
}
Value StringToUint(Meter&, Args a) {
  std::uint64_t out = 0;
  if (a[0].text().starts_with("-") || !ReadWhole(a[0].text(), out)) {
    return Unconvertible(a[0], "uint");
  }
  return Value::Uint(out);
}
Value MomentToInt(Meter&, Args a) { return Value::Int(a[0].moment().seconds); }
Value DurationToInt(Meter&, Args a) { return Value::Int(a[0].nanos()); }

Value DoubleToUint(Meter&, Args a) {
  const double number = a[0].real();
  if (std::isnan(number) || number < 0 || number >= 18446744073709551616.0) {
    return Value::Error("unsigned integer overflow");
  }
  return Value::Uint(static_cast<std::uint64_t>(number));
}
Value IntToUint(Meter&, Args a) {
  if (a[0].integer() < 0) return Value::Error("unsigned integer overflow");
  return Value::Uint(static_cast<std::uint64_t>(a[0].integer()));
}

Value IntToDouble(Meter&, Args a) { return Value::Double(static_cast<double>(a[0].integer())); }
Value UintToDouble(Meter&, Args a) { return Value::Double(static_cast<double>(a[0].natural())); }
Value StringToDouble(Meter&, Args a) {
  std::string_view text = a[0].text();
  if (text == "NaN") return Value::Double(std::nan(""));
  if (text == "Infinity" || text == "+Infinity" || text == "Inf" || text == "+Inf") {
    return Value::Double(HUGE_VAL);
  }
  if (text == "-Infinity" || text == "-Inf") return Value::Double(-HUGE_VAL);
  double out = 0;
  return !text.empty() && ReadWhole(text, out) ? Value::Double(out)
                                               : Unconvertible(a[0], "double");
}

Value StringToBool(Meter&, Args a) {
  const std::string_view text = a[0].text();
  for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return Value::Bool(true);
  }
  for (const char* no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return Value::Bool(false);
  }
  return Unconvertible(a[0], "bool");
}

Value BoolToString(Meter&, Args a) { return Value::Borrowed(a[0].truth() ? "true" : "false"); }
Value IntToString(Meter&, Args a) { return Value::String(std::to_string(a[0].integer())); }
Value UintToString(Meter&, Args a) { return Value::String(std::to_string(a[0].natural())); }
Value DoubleToString(Meter&, Args a) { return Value::String(FormatDouble(a[0].real())); }
Value MomentToString(Meter&, Args a) { return Value::String(FormatMoment(a[0].moment())); }
Value DurationToString(Meter&, Args a) { return Value::String(FormatSeconds(a[0].nanos())); }
Value StringToBytes(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size())) return {};
  return Value::Bytes(std::string(a[0].text()));
}
bool IsUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t j = 1; j < length; ++j) {
      if ((static_cast<unsigned char>(text[i + j]) & 0xc0) != 0x80) return false;
    }
    if (length > 1) {
      const auto second = static_cast<unsigned char>(text[i + 1]);
      if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
          (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
        return false;
      }
    }
    i += length;
  }
  return true;
}
Value BytesToString(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size())) return {};
  if (!IsUtf8(a[0].text())) return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
  return Value::String(std::string(a[0].text()));
}

Value IntToMoment(Meter&, Args a) { return Value::Timestamp({a[0].integer(), 0}); }
Value StringToMoment(Meter&, Args a) {
  Moment moment;
  if (!ParseMoment(a[0].text(), moment)) {
    return Unconvertible(a[0], "google.protobuf.Timestamp");
  }
  return Value::Timestamp(moment);
}
Value StringToDuration(Meter&, Args a) {
  std::int64_t nanos = 0;
  if (!ParseDuration(a[0].text(), nanos)) return Unconvertible(a[0], "google.protobuf.Duration");
  return Value::Duration(nanos);
}
Value TypeOf(Meter&, Args a) { return Value::TypeNamed(a[0].TypeName()); }

constexpr Row kRows[] = {
    {"type", "(A) type<A>", TypeOf},
    {"dyn", "(A) dyn", Itself},
    {"bool", "(bool) bool", Itself},
    {"bool", "(string) bool", StringToBool},
    {"bytes", "(bytes) bytes", Itself},
    {"bytes", "(string) bytes", StringToBytes, TraverseFirst},
    {"double", "(double) double", Itself},
    {"double", "(int) double", IntToDouble},
    {"double", "(string) double", StringToDouble},
    {"double", "(uint) double", UintToDouble},
    {"duration", "(duration) duration", Itself},
    {"duration", "(string) duration", StringToDuration},
    {"int", "(int) int", Itself},
    {"int", "(double) int", DoubleToInt},
    {"int", "(duration) int", DurationToInt},
    {"int", "(string) int", StringToInt},
    {"int", "(timestamp) int", MomentToInt},
    {"int", "(uint) int", UintToInt},
    {"string", "(string) string", Itself},
    {"string", "(bool) string", BoolToString},
    {"string", "(bytes) string", BytesToString, TraverseFirst},
    {"string", "(double) string", DoubleToString},
    {"string", "(duration) string", DurationToString},
    {"string", "(int) string", IntToString},
    {"string", "(timestamp) string", MomentToString},
    {"string", "(uint) string", UintToString},
    {"timestamp", "(timestamp) timestamp", Itself},
    {"timestamp", "(int) timestamp", IntToMoment},
    {"timestamp", "(string) timestamp", StringToMoment},
    {"uint", "(uint) uint", Itself},
    {"uint", "(double) uint", DoubleToUint},
    {"uint", "(int) uint", IntToUint},
    {"uint", "(string) uint", StringToUint},
};

}  // namespace

std::span<const Row> ConversionRows() { return kRows; }

}  // namespace mailroom::cel
