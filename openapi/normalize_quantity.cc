#include "openapi/normalize_quantity.h"

#include <array>
#include <charconv>
#include <utility>

namespace mailroom::openapi {
namespace {

__extension__ using Wide = __int128;

enum class Format { kDecimal, kExponent, kBinary };

// mantissa * 10^exponent
struct Amount {
  Wide mantissa = 0;
  int exponent = 0;
  Format format = Format::kDecimal;
};

constexpr std::array<std::pair<std::string_view, int>, 10> kDecimalSuffixes = {{{"n", -9},
                                                                                {"u", -6},
                                                                                {"m", -3},
                                                                                {"", 0},
                                                                                {"k", 3},
                                                                                {"M", 6},
                                                                                {"G", 9},
                                                                                {"T", 12},
                                                                                {"P", 15},
                                                                                {"E", 18}}};
constexpr std::array<std::string_view, 7> kBinarySuffixes = {"",   "Ki", "Mi", "Gi",
                                                             "Ti", "Pi", "Ei"};

constexpr std::size_t kDigits = 18;  // what fits a Wide together with the largest suffix

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Parts {
  bool negative = false;
  std::string digits;  // before and after the point
  int fraction = 0;    // how many of them are after it
  std::string_view suffix;
};

std::optional<Parts> Split(std::string_view text) {
  Parts parts;
  if (text.starts_with('+') || text.starts_with('-')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  bool point = false;
  for (; at < text.size() && (IsDigit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
    } else {
      parts.digits += text[at];
      parts.fraction += point ? 1 : 0;
    }
  }
  if (parts.digits.empty()) return std::nullopt;
  parts.suffix = text.substr(at);
  return parts;
}

// Applies the suffix; false when it is none.
bool Scale(std::string_view suffix, Amount& amount) {
  for (const auto& [name, exponent] : kDecimalSuffixes) {
    if (name != suffix) continue;
    amount.exponent += exponent;
    return true;
  }
  for (std::size_t i = 1; i < kBinarySuffixes.size(); ++i) {
    if (kBinarySuffixes[i] != suffix) continue;
    amount.mantissa *= static_cast<Wide>(1) << (10 * i);
    amount.format = Format::kBinary;
    return true;
  }
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return false;
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  amount.exponent += exponent;
  amount.format = Format::kExponent;
  return true;
}

std::optional<Amount> Parse(std::string_view text) {
  std::optional<Parts> parts = Split(text);
  if (!parts) return std::nullopt;
  const std::size_t zeros = parts->digits.find_first_not_of('0');
  std::string_view digits = parts->digits;
  digits.remove_prefix(zeros == std::string::npos ? digits.size() : zeros);
  if (digits.size() > kDigits) return std::nullopt;
  Amount amount;
  for (char c : digits) amount.mantissa = amount.mantissa * 10 + (c - '0');
  amount.exponent = -parts->fraction;
  if (!Scale(parts->suffix, amount)) return std::nullopt;
  if (parts->negative) amount.mantissa = -amount.mantissa;
  if (amount.exponent > 60 || amount.exponent < -60) return std::nullopt;
  return amount;
}

// Drops digits below 10^floor, away from zero.
void RoundUp(Amount& amount, int floor) {
  while (amount.exponent < floor) {
    const Wide rest = amount.mantissa % 10;
    amount.mantissa /= 10;
    if (rest > 0) ++amount.mantissa;
    if (rest < 0) --amount.mantissa;
    ++amount.exponent;
  }
}

std::string WideText(Wide value) {
  std::string text;
  const bool negative = value < 0;
  while (value != 0) {
    const int digit = static_cast<int>(value % 10);
    text.insert(text.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  }
  return (negative ? "-" : "") + text;
}

// The whole number, when the amount is one.
std::optional<Wide> Whole(const Amount& amount) {
  Wide value = amount.mantissa;
  for (int e = amount.exponent; e < 0; ++e) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  return amount.exponent <= 0 ? std::optional<Wide>(value) : std::nullopt;
}

std::string BinaryText(Wide value) {
  std::size_t suffix = 0;
  while (value % 1024 == 0 && suffix + 1 < kBinarySuffixes.size()) {
    value /= 1024;
    ++suffix;
  }
  return WideText(value) + std::string(kBinarySuffixes[suffix]);
}

// The canonical spelling; nothing when there is none.
std::optional<std::string> Spell(Amount amount) {
  if (amount.mantissa == 0) return "0";
  if (amount.format == Format::kBinary) {
    const std::optional<Wide> whole = Whole(amount);
    if (whole && (*whole >= 1024 || *whole <= -1024)) return BinaryText(*whole);
    amount.format = Format::kDecimal;
  }
  RoundUp(amount, -9);
  while (amount.mantissa % 10 == 0) {
    amount.mantissa /= 10;
    ++amount.exponent;
  }
  while (amount.exponent % 3 != 0 || (amount.format == Format::kDecimal && amount.exponent > 18)) {
    amount.mantissa *= 10;
    --amount.exponent;
  }
  const std::string number = WideText(amount.mantissa);
  if (amount.format == Format::kExponent) {
    return amount.exponent == 0 ? number : number + "e" + std::to_string(amount.exponent);
  }
  for (const auto& [suffix, exponent] : kDecimalSuffixes) {
    if (exponent == amount.exponent) return number + std::string(suffix);
  }
  return std::nullopt;
}

constexpr Wide kLargest = (static_cast<Wide>(1) << 125) - 1;

void Clamp(Amount& amount) {
  if (amount.mantissa > kLargest) amount.mantissa = kLargest;
  if (amount.mantissa < -kLargest) amount.mantissa = -kLargest;
}

// Gives both the smaller exponent.
void Align(Amount& a, Amount& b) {
  auto lower = [](Amount& amount, int exponent) {
    for (; amount.exponent > exponent; --amount.exponent) {
      if (__builtin_mul_overflow(amount.mantissa, static_cast<Wide>(10), &amount.mantissa)) {
        amount.mantissa = kLargest;
      }
    }
    Clamp(amount);
  };
  lower(a, b.exponent);
  lower(b, a.exponent);
}

Amount ParseOrZero(std::string_view text) { return Parse(text).value_or(Amount()); }

std::string Sum(Amount a, Amount b) {
  if (a.mantissa == 0) a.format = b.format;
  Align(a, b);
  a.mantissa += b.mantissa;
  Clamp(a);
  return Spell(a).value_or("0");
}

}  // namespace

bool IsQuantity(std::string_view text) {
  std::optional<Parts> parts = Split(text);
  Amount scratch;
  return parts && Scale(parts->suffix, scratch);
}

std::string CanonicalQuantity(std::string_view text) {
  std::optional<Amount> parsed = Parse(text);
  if (!parsed) return std::string(text);
  return Spell(*parsed).value_or(std::string(text));
}

int CompareQuantities(std::string_view a, std::string_view b) {
  Amount left = ParseOrZero(a), right = ParseOrZero(b);
  Align(left, right);
  if (left.mantissa == right.mantissa) return 0;
  return left.mantissa < right.mantissa ? -1 : 1;
}

std::string AddQuantities(std::string_view a, std::string_view b) {
  return Sum(ParseOrZero(a), ParseOrZero(b));
}

std::string SubtractQuantities(std::string_view a, std::string_view b) {
  Amount right = ParseOrZero(b);
  right.mantissa = -right.mantissa;
  return Sum(ParseOrZero(a), right);
}

std::string WholeQuantity(std::string_view text) {
  Amount amount = ParseOrZero(text);
  RoundUp(amount, 0);
  return Spell(amount).value_or("0");
}

std::optional<long long> QuantityMillis(std::string_view text) {
  std::optional<Amount> parsed = Parse(text);
  if (!parsed) return std::nullopt;
  Amount amount = *parsed;
  RoundUp(amount, -3);
  constexpr Wide kLimit = static_cast<Wide>(1) << 62;
  while (amount.exponent > -3) {
    amount.mantissa *= 10;
    --amount.exponent;
    if (amount.mantissa > kLimit || amount.mantissa < -kLimit) return std::nullopt;
  }
  if (amount.mantissa > kLimit || amount.mantissa < -kLimit) return std::nullopt;
  return static_cast<long long>(amount.mantissa);
}

}  // namespace mailroom::openapi
