// The rules of the Pod Security Standards: what a pod may not ask for at a level, as every version
// of Kubernetes defined it. Pure functions over a pod's metadata and spec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/admission/pod_security_levels.h"

namespace mailroom::admission {

// Why a pod is not allowed: in a word, and with the names it is about.
struct Violation {
  std::string reason;
  std::string detail;  // may be empty
};

// All that forbids the pod, in the order in which it is told. `pod` is a Pod or a template of one.
std::vector<Violation> FindViolations(const LevelVersion& asked, const Json& pod);

std::string ReasonsText(const std::vector<Violation>& violations);  // `hostPort, privileged`
std::string DetailsText(const std::vector<Violation>& violations);  // `hostPort (...), ...`

// What one rule looks at.
struct PodUnderCheck {
  const Json& annotations;
  const Json& spec;
  std::int64_t minor;  // the version whose rule is asked for
};
using SecurityRule = std::optional<Violation> (*)(const PodUnderCheck& pod);

struct SecurityCheck {
  SecurityRule rule;
  std::int64_t since = 0;  // the first version that has it
  // From this version on a stricter rule takes its place in the restricted level.
  std::optional<std::int64_t> replaced = {};
};

// Both in the order in which they are told.
const std::vector<SecurityCheck>& BaselineChecks();
const std::vector<SecurityCheck>& RestrictedChecks();

}  // namespace mailroom::admission
