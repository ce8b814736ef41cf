// The levels of the Pod Security Standards, and which of them the labels of a namespace ask for.
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/object/json_fwd.h"
#include "storage/object/status.h"

namespace mailroom::admission {

enum class SecurityLevel { kPrivileged, kBaseline, kRestricted };  // from lax to strict

// A level as some minor version of Kubernetes defined it.
struct LevelVersion {
  static constexpr std::int64_t kLatest = -1;

  SecurityLevel level = SecurityLevel::kPrivileged;
  std::int64_t minor = kLatest;

  std::string Text() const;  // `restricted:v1.25`
  friend auto operator<=>(const LevelVersion&, const LevelVersion&) = default;
};

struct SecurityPolicy {
  LevelVersion enforce, audit, warn;
  // What is wrong with the labels. A level to enforce that is none is taken for the strictest,
  // one to audit or to warn about for the laxest; a version that is none, for the latest.
  std::vector<Cause> problems;

  bool AllowsAll() const;  // there is nothing to check, and the labels are in order
};

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

inline constexpr const char* kSecurityPrefix = "pod-security.kubernetes.io/";

// Of an object's metadata; views into it.
Labels LabelsOf(const Json& object);
bool HasSecurityLabels(const Labels& labels);
SecurityPolicy ReadSecurityPolicy(const Labels& labels);

}  // namespace mailroom::admission
