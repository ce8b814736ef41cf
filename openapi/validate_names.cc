#include "openapi/validate_names.h"

#include <arpa/inet.h>

#include <charconv>
#include <cmath>
#include <cstdint>

#include "openapi/go_json.h"
#include "storage/object/label_key.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerAlnum(char c) { return IsLower(c) || IsDigit(c); }

bool IsLabelText(std::string_view text) {
  if (text.empty() || !IsLowerAlnum(text.front()) || !IsLowerAlnum(text.back())) return false;
  for (char c : text) {
    if (!IsLowerAlnum(c) && c != '-') return false;
  }
  return true;
}

bool IsSubdomainText(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsLabelText(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string TooLongText(std::size_t limit) {
  return "must be no more than " + std::to_string(limit) + " characters";
}

}  // namespace

Complaints CheckSubdomain(std::string_view text) {
  Complaints out;
  if (text.size() > 253) out.push_back(TooLongText(253));
  if (!IsSubdomainText(text)) {
    out.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return out;
}

Complaints CheckLabel(std::string_view text) {
  Complaints out;
  if (text.size() > 63) out.push_back(TooLongText(63));
  if (IsLabelText(text)) return out;
  if (IsSubdomainText(text)) {
    out.emplace_back("must not contain dots");
  } else {
    out.emplace_back(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
        "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
        "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  }
  return out;
}

Complaints Check1035Label(std::string_view text) {
  Complaints out;
  if (text.size() > 63) out.push_back(TooLongText(63));
  if (!IsLabelText(text) || !IsLower(text.front())) {
    out.emplace_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
        "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  }
  return out;
}

Complaints CheckPathSegment(std::string_view text) {
  if (text == "." || text == "..") return {"may not be '" + std::string(text) + "'"};
  Complaints out;
  for (char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) {
      out.push_back("may not contain '" + std::string(1, c) + "'");
    }
  }
  return out;
}

Complaints CheckQualifiedName(std::string_view text) {
  return LabelKeyFaults(text);
}

Complaints CheckConfigKey(std::string_view text) {
  Complaints out;
  if (text.size() > 253) out.push_back(TooLongText(253));
  bool plain = !text.empty();
  for (char c : text) {
    plain &= IsLowerAlnum(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
  }
  if (!plain) {
    out.emplace_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')");
  }
  if (text == "." || text == "..") {
    out.push_back("must not be '" + std::string(text) + "'");
  } else if (text.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
  return out;
}

Complaints CheckPortName(std::string_view text) {
  Complaints out;
  if (text.size() > 15) out.push_back(TooLongText(15));
  bool charset = !text.empty(), letter = false;
  for (char c : text) {
    charset &= IsLowerAlnum(c) || c == '-';
    letter |= IsLower(c);
  }
  if (!charset) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!letter) out.emplace_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (text.starts_with('-') || text.ends_with('-')) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

Complaints CheckPort(std::int64_t port) {
  if (port >= 1 && port <= 65535) return {};
  return {"must be between 1 and 65535, inclusive"};
}

bool IsIpv4(std::string_view text) {
  in_addr address{};
  return inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool IsIpAddress(std::string_view text) {
  in6_addr address{};
  return IsIpv4(text) || inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

std::string Rendered(const Json& value) {
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  if (IsFloat(value)) return RenderedNumber(value.get<double>());
  return GoJson(value);
}

bool IsFloat(const Json& value) {
  return value.is_number_float() ||
         (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
}

std::string RenderedNumber(double value) {
  char buffer[64];
  const double size = std::fabs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e6);
  auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(buffer, end);
}

Cause NotSupported(std::string field, const Json& value,
                   const std::vector<std::string>& supported) {
  return UnsupportedValue(std::move(field), Rendered(value), supported);
}

void AddInvalid(Causes& causes, const std::string& field, const Json& value,
                const Complaints& complaints) {
  for (const std::string& complaint : complaints) {
    causes.push_back(InvalidValue(field, Rendered(value), complaint));
  }
}

void CheckImmutable(Causes& causes, const std::string& field, const Json* value,
                    const Json* old_value) {
  static const Json kNull;
  const Json& now = value == nullptr ? kNull : *value;
  const Json& before = old_value == nullptr ? kNull : *old_value;
  if (now != before) causes.push_back(InvalidValue(field, Rendered(now), "field is immutable"));
}

}  // namespace mailroom::openapi
