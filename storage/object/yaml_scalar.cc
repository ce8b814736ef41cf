#include "storage/object/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace mailroom {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes digits off the front; how many there were.
std::size_t TakeDigits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end;
}

// Whether text is `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
bool IsFloat(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool whole = TakeDigits(text) > 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (TakeDigits(text) == 0 && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (TakeDigits(text) == 0) return false;
  }
  return text.empty();
}

// Takes the mark of a base off the front of a number without sign; a zero before other digits is one.
int TakeBase(std::string_view& digits) {
  struct Mark {
    char lower, upper;
    int base;
  };
  if (digits.size() < 2 || digits[0] != '0') return 10;
  for (const Mark mark : {Mark{'x', 'X', 16}, Mark{'o', 'O', 8}, Mark{'b', 'B', 2}}) {
    if (digits[1] != mark.lower && digits[1] != mark.upper) continue;
    digits.remove_prefix(2);
    return mark.base;
  }
  digits.remove_prefix(1);
  return 8;
}

// A whole number of 64 bits; null when the text is none.
Json Integer(std::string_view text) {
  constexpr std::uint64_t kSmallest = std::uint64_t{1} << 63;  // negated
  const bool negative = text.starts_with('-');
  const bool sign = negative || text.starts_with('+');
  std::string_view digits = text.substr(sign ? 1 : 0);
  const int base = TakeBase(digits);
  std::uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, magnitude, base);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return nullptr;
  if (magnitude < kSmallest) {
    const auto value = static_cast<std::int64_t>(magnitude);
    return negative ? -value : value;
  }
  if (negative && magnitude == kSmallest) return INT64_MIN;
  return sign ? Json() : Json(magnitude);
}

// A number of that form; null when it is too large.
Json Float(const std::string& text) {
  double value = 0;
  const char* start = text.data() + (text.front() == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(start, end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return nullptr;
  return value;
}

bool HasOnlyInnerUnderscores(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i == 0 || !IsDigit(text[i - 1]) || i + 1 == text.size() || !IsDigit(text[i + 1])) return false;
  }
  return true;
}

bool IsAmong(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Whether others would take it for a number of base 60: `1:30:00`.
bool IsSixties(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !IsDigit(text.front())) return false;
  text.remove_prefix(std::min(text.find_first_not_of("0123456789_"), text.size()));
  if (!text.starts_with(':')) return false;
  while (text.starts_with(':')) {
    text.remove_prefix(1);
    const std::string_view before = text;
    const std::size_t digits = TakeDigits(text);
    if (digits == 0 || digits > 2 || (digits == 2 && before.front() > '5')) return false;
  }
  if (text.starts_with('.')) text.remove_prefix(1);
  return text.find_first_not_of("0123456789_") == std::string_view::npos;
}

// Whether others would take it for a date: `2006-1-2`, alone or before a time.
bool IsDate(std::string_view text) {
  if (TakeDigits(text) != 4) return false;
  for (int part = 0; part < 2; ++part) {
    if (!text.starts_with('-')) return false;
    text.remove_prefix(1);
    if (const std::size_t digits = TakeDigits(text); digits == 0 || digits > 2) return false;
  }
  return text.empty() || text.front() == 'T' || text.front() == 't' || text.front() == ' ';
}

// A key that is a number, as Go prints one of 32 bits.
std::string FloatKey(double value) {
  if (std::isnan(value)) return ".nan";
  const auto narrow = static_cast<float>(value);
  if (std::isinf(narrow)) return narrow > 0 ? ".inf" : "-.inf";
  const float size = std::fabs(narrow);
  const bool fixed = size == 0 || (size >= 1e-4f && size < 1e6f);
  char buffer[64];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, narrow,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(buffer, written.ptr);
}

}  // namespace

Json PlainScalar(const std::string& text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (IsAmong(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (IsAmong(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return true;
  }
  if (IsAmong(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return false;
  }
  if (IsAmong(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (IsAmong(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) return kInfinity;
  if (IsAmong(text, {"-.inf", "-.Inf", "-.INF"})) return -kInfinity;
  const char first = text.front();
  if (first != '-' && first != '+' && first != '.' && !IsDigit(first)) return text;
  if (first == '.' && !HasOnlyInnerUnderscores(text)) return text;
  std::string digits = text;
  std::erase(digits, '_');
  if (first != '.') {
    if (Json whole = Integer(digits); !whole.is_null()) return whole;
  }
  if (IsFloat(digits)) {
    if (Json value = Float(digits); !value.is_null()) return value;
  }
  return text;
}

Json KeyOfScalar(const Json& key) {
  if (key.is_string()) return key;
  if (key.is_number_float()) return FloatKey(key.get<double>());
  if (key.is_boolean() || (key.is_number_integer() && !key.is_number_unsigned())) return DumpJson(key);
  return nullptr;
}

bool MayMisleadOthers(std::string_view text) { return IsSixties(text) || IsDate(text); }

}  // namespace mailroom
