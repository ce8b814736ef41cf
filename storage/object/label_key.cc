#include "storage/object/label_key.h"

#include <algorithm>

#include "storage/object/limits.h"

namespace mailroom {
namespace {

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsSubdomain(std::string_view text) {
  auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty()) return false;
  std::size_t start = 0;
  while (start <= text.size()) {
    std::size_t dot = std::min(text.find('.', start), text.size());
    std::string_view label = text.substr(start, dot - start);
    if (label.empty() || !lower(label.front()) || !lower(label.back())) return false;
    for (char c : label) {
      if (!lower(c) && c != '-') return false;
    }
    start = dot + 1;
  }
  return true;
}

}  // namespace

bool IsNameText(std::string_view text) {
  if (text.empty() || !IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::vector<std::string> LabelKeyFaults(std::string_view key) {
  std::vector<std::string> out;
  std::string_view name = key;
  if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must "
              "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
              "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
              "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > limits::kNameBytes) {
        out.emplace_back("prefix part must be no more than 253 bytes");
      }
      if (!IsSubdomain(prefix)) {
        out.emplace_back(
            "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
            "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
      }
    }
  }
  if (name.empty()) out.emplace_back("name part must be non-empty");
  if (name.size() > 63) out.emplace_back("name part must be no more than 63 bytes");
  if (!IsNameText(name)) {
    out.emplace_back(
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
        "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  }
  return out;
}

}  // namespace mailroom
