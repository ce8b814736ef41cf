// String formats and patterns of definitions.
#include <re2/re2.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "openapi/base64.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/clock.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

// Compiled patterns, shared by all schemas of the process.
class PatternTable {
 public:
  std::shared_ptr<const RE2> Get(const std::string& pattern) {
    std::lock_guard lock(mutex_);
    if (auto at = table_.find(pattern); at != table_.end()) return at->second;
    if (table_.size() >= limits::kCompiledPatterns) table_.clear();
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(limits::kPatternBytes);
    auto compiled = std::make_shared<const RE2>(pattern, options);
    table_.emplace(pattern, compiled);
    return compiled;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const RE2>> table_;
};

PatternTable& Patterns() {
  static PatternTable* table = new PatternTable;
  return *table;
}

std::string_view FaultText(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

// Numbers of IPv4 addresses may begin with zeros, as they might before Go 1.17.
std::string WithoutZeros(const std::string& address) {
  static const RE2 kZeros(R"((^|[.:])0+([0-9]+))");
  const std::size_t colon = address.rfind(':');
  const std::size_t start = colon == std::string::npos ? 0 : colon + 1;
  std::string last = address.substr(start);
  if (last.find('.') == std::string::npos) return address;
  RE2::GlobalReplace(&last, kZeros, R"(\1\2)");
  return address.substr(0, start) + last;
}

bool HasFormOfIpv4(const std::string& text) {
  return text.find('.') != std::string::npos && IsIpAddress(WithoutZeros(text));
}

bool IsIpv6(const std::string& text) {
  return text.find(':') != std::string::npos && IsIpAddress(text);
}

bool IsCidr(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  const std::string address = WithoutZeros(text.substr(0, slash)), bits = text.substr(slash + 1);
  if (bits.empty() || bits.size() > 3 ||
      bits.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  const int limit = IsIpv4(address) ? 32 : (IsIpv6(address) ? 128 : -1);
  return std::stoi(bits) <= limit;
}

// Dot-separated labels of letters, digits and inner dashes; beyond ASCII everything counts as a
// letter. The last of several labels has letters only.
bool IsHostname(const std::string& text) {
  if (text.size() > 255) return false;
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) > 127;
  };
  std::size_t start = 0;
  while (true) {
    const std::size_t dot = text.find('.', start);
    const std::string_view label = std::string_view(text).substr(start, dot - start);
    const bool last = dot == std::string::npos;
    if (label.empty() || label.size() > 63 || label.starts_with('-') || label.ends_with('-')) {
      return false;
    }
    if (last && start > 0 && label.size() < 2) return false;
    for (char c : label) {
      const bool inner = (c >= '0' && c <= '9') || c == '-';
      if (!is_letter(c) && (!inner || (last && start > 0))) return false;
    }
    if (last) return true;
    start = dot + 1;
  }
}

bool IsDate(const std::string& text) {
  return text.size() == 10 && ParseTime(text + "T00:00:00Z") != -1;
}

bool IsDateTime(const std::string& text) {
  static const std::string kPattern = R"(^\d{4}-\d{2}-\d{2}[tT]([01]\d|2[0-3]):[0-5]\d:[0-5]\d)"
                                      R"((.\d+)?([zZ]|[+-]\d{2}:\d{2})$)";
  return MatchesPattern(kPattern, text) && IsDate(text.substr(0, 10));
}

bool IsDuration(const std::string& text) {
  return MatchesPattern(R"(^[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$)", text) ||
         MatchesPattern(
             R"((?i)\d+\s*(ns|nano[a-z]*|us|µs|micro[a-z]*|ms|milli[a-z]*|s|sec[a-z]*|m|min[a-z]*|)"
             R"(h|hr|hour[a-z]*|d|day[a-z]*|w|wk|week[a-z]*)\b)",
             text);
}

bool IsIsbn(const std::string& text, std::size_t length) {
  std::string digits;
  for (char c : text) {
    if (c != '-' && c != ' ') digits += c;
  }
  if (digits.size() != length) return false;
  int sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    int digit = digits[i] - '0';
    if (length == 10 && i == 9 && digits[i] == 'X') digit = 10;
    if (digit < 0 || digit > 10 || (digit > 9 && digits[i] != 'X')) return false;
    sum += length == 10 ? static_cast<int>(10 - i) * digit : (i % 2 == 0 ? 1 : 3) * digit;
  }
  return sum % (length == 10 ? 11 : 10) == 0;
}

bool IsCreditCard(const std::string& text) {
  std::string digits;
  for (char c : text) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (!MatchesPattern(R"(^(4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|)"
                      R"(3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11})$)",
                      digits)) {
    return false;
  }
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

// An absolute URI or an absolute path, without control characters or spaces.
bool IsUri(const std::string& text) {
  return MatchesPattern(R"(^([a-zA-Z][a-zA-Z0-9+.-]*:[^\s\x00-\x1f\x7f]+|/[^\s\x00-\x1f\x7f]*)$)",
                        text);
}

using FormatCheck = bool (*)(const std::string&);

struct FormatRow {
  std::string_view name;  // without dashes
  FormatCheck check;
};

constexpr std::array<FormatRow, 26> kFormats = {{
    {"bsonobjectid", [](const std::string& t) { return MatchesPattern("^[0-9a-fA-F]{24}$", t); }},
    {"uri", IsUri},
    {"email",
     [](const std::string& t) {
       return MatchesPattern(R"(^([^<>]*<)?[^\s@<>"(),:;\[\]\\]+@[^\s@<>"(),:;\\]+>?$)", t);
     }},
    {"hostname", IsHostname},
    {"ipv4", HasFormOfIpv4},
    {"ipv6", IsIpv6},
    {"cidr", IsCidr},
    {"mac",
     [](const std::string& t) {
       return MatchesPattern(
           R"(^([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}([0-9a-fA-F:]{6}|[0-9a-fA-F:]{42})?|)"
           R"([0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}|([0-9a-fA-F]{4}\.){2,3}[0-9a-fA-F]{4})$)",
           t);
     }},
    {"uuid",
     [](const std::string& t) {
       return MatchesPattern(
           "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$", t);
     }},
    {"uuid3",
     [](const std::string& t) {
       return MatchesPattern(
           "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$", t);
     }},
    {"uuid4",
     [](const std::string& t) {
       return MatchesPattern(
           "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$", t);
     }},
    {"uuid5",
     [](const std::string& t) {
       return MatchesPattern(
           "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$", t);
     }},
    {"isbn", [](const std::string& t) { return IsIsbn(t, 10) || IsIsbn(t, 13); }},
    {"isbn10", [](const std::string& t) { return IsIsbn(t, 10); }},
    {"isbn13", [](const std::string& t) { return IsIsbn(t, 13); }},
    {"creditcard", IsCreditCard},
    {"ssn",
     [](const std::string& t) { return MatchesPattern(R"(^\d{3}[- ]?\d{2}[- ]?\d{4}$)", t); }},
    {"hexcolor",
     [](const std::string& t) { return MatchesPattern("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", t); }},
    {"rgbcolor",
     [](const std::string& t) {
       return MatchesPattern(
           R"(^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|)"
           R"(2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$)",
           t);
     }},
    {"byte", [](const std::string& t) { return !t.empty() && !Base64Fault(t); }},
    {"password", [](const std::string&) { return true; }},
    {"date", IsDate},
    {"duration", IsDuration},
    {"datetime", IsDateTime},
    {"k8sshortname", [](const std::string& t) { return CheckLabel(t).empty(); }},
    {"k8slongname", [](const std::string& t) { return CheckSubdomain(t).empty(); }},
}};

const FormatRow* FindFormat(std::string_view format) {
  std::string name;
  for (char c : format) {
    if (c != '-') name += c;
  }
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

bool HasFormat(std::string_view format, const std::string& text) {
  const FormatRow* row = FindFormat(format);
  return row == nullptr || row->check(text);
}

bool IsKnownFormat(Type type, std::string_view format) {
  switch (type) {
    case Type::kAny:
    case Type::kString:
      return FindFormat(format) != nullptr;
    case Type::kInteger:
      return format == "int32" || format == "int64";
    case Type::kNumber:
      return format == "float" || format == "double";
    default:
      return false;
  }
}

bool MatchesPattern(const std::string& pattern, const std::string& text) {
  const auto compiled = Patterns().Get(pattern);
  return compiled->ok() && RE2::PartialMatch(text, *compiled);
}

std::string PatternFault(const std::string& pattern) {
  const auto compiled = Patterns().Get(pattern);
  if (compiled->ok()) return "";
  return "error parsing regexp: " + std::string(FaultText(compiled->error_code())) + ": `" +
         compiled->error_arg() + "`";
}

}  // namespace mailroom::openapi
