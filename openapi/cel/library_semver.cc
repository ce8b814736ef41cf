// Semantic versions.
#include <charconv>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

struct Semver : Opaque {
  std::uint64_t parts[3] = {0, 0, 0};
  std::vector<std::string> pre;
  std::string build;
  std::string_view type_name() const override { return "kubernetes.Semver"; }
  bool Equals(const Opaque& other) const override;
};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}
bool IsWord(std::string_view text) {
  for (char c : text) {
    if (c != '-' && !(c >= '0' && c <= '9') && !((c | 32) >= 'a' && (c | 32) <= 'z')) return false;
  }
  return !text.empty();
}

// What is wrong, or "".
std::string Read(std::string_view text, Semver& out) {
  if (text.empty()) return "Version string empty";
  const std::size_t plus = text.find('+');
  const std::string_view build =
      plus == std::string_view::npos ? std::string_view() : text.substr(plus + 1);
  std::string_view core = text.substr(0, plus);
  const std::size_t dash = core.find('-');
  if (dash != std::string_view::npos) {
    for (std::string& word : Split(core.substr(dash + 1), '.')) {
      if (!IsWord(word)) return "Invalid character(s) found in prerelease \"" + word + "\"";
      if (IsNumber(word) && word.size() > 1 && word[0] == '0') {
        return "Numeric PreRelease version must not contain leading zeroes \"" + word + "\"";
      }
      out.pre.push_back(std::move(word));
    }
    core = core.substr(0, dash);
  }
  if (plus != std::string_view::npos) {
    for (const std::string& word : Split(build, '.')) {
      if (!IsWord(word)) return "Invalid character(s) found in build meta data \"" + word + "\"";
    }
    out.build = build;
  }
  const std::vector<std::string> numbers = Split(core, '.');
  if (numbers.size() != 3) return "No Major.Minor.Patch elements found";
  static constexpr const char* kNames[] = {"major", "minor", "patch"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!IsNumber(numbers[i])) {
      return std::string("Invalid character(s) found in ") + kNames[i] + " number \"" +
             numbers[i] + "\"";
    }
    if (numbers[i].size() > 1 && numbers[i][0] == '0') {
      return std::string(1, static_cast<char>(kNames[i][0] - 32)) + (kNames[i] + 1) +
             " number must not contain leading zeroes \"" + numbers[i] + "\"";
    }
    const char* end = numbers[i].data() + numbers[i].size();
    if (std::from_chars(numbers[i].data(), end, out.parts[i]).ec != std::errc()) {
      return "value out of range \"" + numbers[i] + "\"";
    }
  }
  return "";
}

// Missing parts become zero, a leading v and leading zeros go.
std::string Normalized(std::string_view text, std::string& fault) {
  if (text.starts_with("v")) text.remove_prefix(1);
  std::vector<std::string> parts = Split(text, '.');
  while (parts.size() > 3) {
    parts[2] += "." + parts[3];
    parts.erase(parts.begin() + 3);
  }
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    const std::size_t first = part.find_first_not_of('0');
    part.erase(0, std::min(first, part.size()));
    if (part.empty() || part[0] < '0' || part[0] > '9') part = "0" + part;
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    fault = "short version cannot contain PreRelease/Build meta data";
  }
  while (parts.size() < 3) parts.emplace_back("0");
  return parts[0] + "." + parts[1] + "." + parts[2];
}

int Order(const Semver& a, const Semver& b) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (a.parts[i] != b.parts[i]) return a.parts[i] < b.parts[i] ? -1 : 1;
  }
  if (a.pre.empty() || b.pre.empty()) {
    return a.pre.empty() == b.pre.empty() ? 0 : (a.pre.empty() ? 1 : -1);
  }
  for (std::size_t i = 0; i < a.pre.size() && i < b.pre.size(); ++i) {
    const std::string& left = a.pre[i];
    const std::string& right = b.pre[i];
    if (left == right) continue;
    const bool number_left = IsNumber(left), number_right = IsNumber(right);
    if (number_left != number_right) return number_left ? -1 : 1;
    if (number_left && left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.pre.size() == b.pre.size() ? 0 : (a.pre.size() < b.pre.size() ? -1 : 1);
}

bool Semver::Equals(const Opaque& other) const {
  return Order(*this, static_cast<const Semver&>(other)) == 0;
}

std::string ReadArgument(Args a, Semver& out) {
  if (a.size() < 2 || !a[1].truth()) return Read(a[0].text(), out);
  std::string fault;
  const std::string text = Normalized(a[0].text(), fault);
  return fault.empty() ? Read(text, out) : fault;
}
Value FromText(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size() * 2)) return {};
  auto node = std::make_shared<Semver>();
  std::string fault = ReadArgument(a, *node);
  if (!fault.empty()) return Value::Error(std::move(fault));
  return Value::Of(std::shared_ptr<const Opaque>(std::move(node)));
}
Value IsSemver(Meter&, Args a) {
  Semver version;
  return Value::Bool(ReadArgument(a, version).empty());
}
const Semver& Of(const Value& value) { return *static_cast<const Semver*>(value.opaque()); }
template <std::size_t Part>
Value Get(Meter&, Args a) {
  return Value::Int(static_cast<std::int64_t>(Of(a[0]).parts[Part]));
}
Value Greater(Meter&, Args a) { return Value::Bool(Order(Of(a[0]), Of(a[1])) > 0); }
Value Less(Meter&, Args a) { return Value::Bool(Order(Of(a[0]), Of(a[1])) < 0); }
Value CompareTo(Meter&, Args a) { return Value::Int(Order(Of(a[0]), Of(a[1]))); }

constexpr Row kRows[] = {
    {"semver", "(string) kubernetes.Semver", FromText, TraverseFirst},
    {"semver", "(string, bool) kubernetes.Semver", FromText, TraverseFirst},
    {"isSemver", "(string) bool", IsSemver, TraverseFirst},
    {"isSemver", "(string, bool) bool", IsSemver, TraverseFirst},
    {"major", "kubernetes.Semver.() int", Get<0>},
    {"minor", "kubernetes.Semver.() int", Get<1>},
    {"patch", "kubernetes.Semver.() int", Get<2>},
    {"isGreaterThan", "kubernetes.Semver.(kubernetes.Semver) bool", Greater},
    {"isLessThan", "kubernetes.Semver.(kubernetes.Semver) bool", Less},
    {"compareTo", "kubernetes.Semver.(kubernetes.Semver) int", CompareTo},
};

}  // namespace

std::span<const Row> SemverRows() { return kRows; }

}  // namespace mailroom::cel
