#include "apiserver/admission/pod_security_checks.h"

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

// The last version that changed a rule; later ones are as it is.
constexpr std::int64_t kLastChange = 35;

void Run(const std::vector<SecurityCheck>& checks, const PodUnderCheck& pod, bool restricted,
         std::vector<Violation>& out) {
  for (const SecurityCheck& check : checks) {
    if (pod.minor < check.since) continue;
    if (restricted && check.replaced && pod.minor >= *check.replaced) continue;
    if (auto violation = check.rule(pod)) out.push_back(std::move(*violation));
  }
}

const Json& ObjectAt(const Json& root, Path path) {
  static const Json kNone = Json::object();
  const Json* found = Find(root, path);
  return found != nullptr && found->is_object() ? *found : kNone;
}

}  // namespace

std::vector<Violation> FindViolations(const LevelVersion& asked, const Json& pod) {
  std::vector<Violation> out;
  if (asked.level == SecurityLevel::kPrivileged) return out;
  const bool latest = asked.minor == LevelVersion::kLatest || asked.minor > kLastChange;
  const PodUnderCheck under{ObjectAt(pod, {"metadata", "annotations"}), ObjectAt(pod, {"spec"}),
                            latest ? kLastChange : asked.minor};
  const bool restricted = asked.level == SecurityLevel::kRestricted;
  Run(BaselineChecks(), under, restricted, out);
  if (restricted) Run(RestrictedChecks(), under, restricted, out);
  return out;
}

std::string ReasonsText(const std::vector<Violation>& violations) {
  std::string out;
  for (const Violation& violation : violations) out += (out.empty() ? "" : ", ") + violation.reason;
  return out;
}

std::string DetailsText(const std::vector<Violation>& violations) {
  std::string out;
  for (const Violation& violation : violations) {
    out += (out.empty() ? "" : ", ") + violation.reason;
    if (!violation.detail.empty()) out += " (" + violation.detail + ")";
  }
  return out;
}

}  // namespace mailroom::admission
