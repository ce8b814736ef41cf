#include "apiserver/admission/pod_security_levels.h"

#include <algorithm>
#include <charconv>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

constexpr std::string_view kNames[] = {"privileged", "baseline", "restricted"};
constexpr std::string_view kLatestText = "latest";

// Reads the labels of one policy, noting what is wrong with them.
class LabelReader {
 public:
  LabelReader(const Labels& labels, std::vector<Cause>& problems)
      : labels_(labels), problems_(problems) {}

  bool Has(const std::string& name) const { return Value(name) != nullptr; }

  // Whether the label names a level; one that names none leaves `level` at `otherwise`.
  bool Level(const std::string& name, SecurityLevel otherwise, SecurityLevel& level) const {
    const std::string_view* value = Value(name);
    if (value == nullptr) return false;
    const auto* found = std::find(std::begin(kNames), std::end(kNames), *value);
    if (found == std::end(kNames)) {
      level = otherwise;
      Note(name, *value, "must be one of privileged, baseline, restricted");
      return false;
    }
    level = static_cast<SecurityLevel>(found - std::begin(kNames));
    return true;
  }

  void Version(const std::string& name, std::int64_t& minor) const {
    const std::string_view* value = Value(name);
    if (value == nullptr) return;
    minor = LevelVersion::kLatest;
    if (*value == kLatestText || Parse(*value, minor)) return;
    Note(name, *value, "must be \"latest\" or \"v1.x\"");
  }

 private:
  const std::string_view* Value(const std::string& name) const {
    const std::string key = kSecurityPrefix + name;
    for (const auto& [label, value] : labels_) {
      if (label == key) return &value;
    }
    return nullptr;
  }
  void Note(const std::string& name, std::string_view value, std::string detail) const {
    problems_.push_back(InvalidValue("metadata.labels[" + (kSecurityPrefix + name) + "]",
                                     Quoted(value), std::move(detail)));
  }
  static bool Parse(std::string_view text, std::int64_t& minor) {
    constexpr std::string_view kMajor = "v1.";
    if (!text.starts_with(kMajor)) return false;
    text.remove_prefix(kMajor.size());
    if (text.empty() || text.front() == '-' || (text.size() > 1 && text.front() == '0')) return false;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    minor = number;
    return true;
  }

  const Labels& labels_;
  std::vector<Cause>& problems_;
};

}  // namespace

std::string LevelVersion::Text() const {
  return std::string(kNames[static_cast<std::size_t>(level)]) + ":" +
         (minor == kLatest ? std::string(kLatestText) : "v1." + std::to_string(minor));
}

bool SecurityPolicy::AllowsAll() const {
  return problems.empty() && enforce.level == SecurityLevel::kPrivileged &&
         audit.level == SecurityLevel::kPrivileged && warn.level == SecurityLevel::kPrivileged;
}

Labels LabelsOf(const Json& object) {
  Labels out;
  const Json* labels = Find(object, {"metadata", "labels"});
  if (labels == nullptr || !labels->is_object()) return out;
  for (const auto& [key, value] : labels->items()) {
    if (value.is_string()) out.emplace_back(key, value.get_ref<const std::string&>());
  }
  return out;
}

bool HasSecurityLabels(const Labels& labels) {
  return std::any_of(labels.begin(), labels.end(),
                     [](const auto& label) { return label.first.starts_with(kSecurityPrefix); });
}

SecurityPolicy ReadSecurityPolicy(const Labels& labels) {
  SecurityPolicy policy;
  if (!HasSecurityLabels(labels)) return policy;
  const LabelReader reader(labels, policy.problems);
  const bool enforces =
      reader.Level("enforce", SecurityLevel::kRestricted, policy.enforce.level);
  reader.Version("enforce-version", policy.enforce.minor);
  reader.Level("audit", SecurityLevel::kPrivileged, policy.audit.level);
  reader.Version("audit-version", policy.audit.minor);
  reader.Level("warn", SecurityLevel::kPrivileged, policy.warn.level);
  reader.Version("warn-version", policy.warn.minor);
  // Who enforces a level on pods is warned about it in what makes pods.
  if (enforces && !reader.Has("warn") && policy.enforce.level > policy.warn.level) {
    policy.warn.level = policy.enforce.level;
    if (!reader.Has("warn-version")) policy.warn.minor = policy.enforce.minor;
  }
  return policy;
}

}  // namespace mailroom::admission
