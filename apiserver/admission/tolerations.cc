#include "apiserver/admission/tolerations.h"

#include <algorithm>

#include "apiserver/admission/plugins.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

constexpr std::int64_t kSeconds = 300;  // as kube-apiserver

// Whether whatever `narrow` tolerates, `wide` tolerates for at least as long.
bool Includes(const Json& wide, const Json& narrow) {
  if (wide == narrow) return true;
  const std::string key = StringAt(wide, {"key"});
  const std::string how = StringAt(wide, {"operator"});
  if (key != StringAt(narrow, {"key"}) && !(key.empty() && how == "Exists")) return false;
  const std::string effect = StringAt(wide, {"effect"});
  if (!effect.empty() && effect != StringAt(narrow, {"effect"})) return false;
  if (effect == "NoExecute" && Find(wide, {"tolerationSeconds"}) != nullptr) {
    const Json* least = Find(narrow, {"tolerationSeconds"});
    if (least == nullptr || *least > *Find(wide, {"tolerationSeconds"})) return false;
  }
  if (how == "Exists") return true;
  return (how.empty() || how == "Equal") && StringAt(narrow, {"operator"}) == "Equal" &&
         StringAt(wide, {"value"}) == StringAt(narrow, {"value"});
}

bool Tolerates(const Json& tolerations, const std::string& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Json& toleration) {
    const std::string key = StringAt(toleration, {"key"});
    const std::string effect = StringAt(toleration, {"effect"});
    return (key.empty() || key == taint) && (effect.empty() || effect == "NoExecute");
  });
}

}  // namespace

Json MergeTolerations(const Json& first, const Json& second) {
  Json all = first.is_array() ? first : Json::array();
  if (second.is_array()) all.insert(all.end(), second.begin(), second.end());
  Json merged = Json::array();
  for (auto at = all.begin(); at != all.end(); ++at) {
    const bool known = std::any_of(merged.begin(), merged.end(),
                                   [&](const Json& other) { return Includes(other, *at); });
    const bool later = std::any_of(at + 1, all.end(), [&](const Json& other) {
      return other != *at && Includes(other, *at);
    });
    if (!known && !later) merged.push_back(*at);
  }
  return merged;
}

Result<void> AddTolerations(const PluginCall&, Json& pod) {
  Json list = openapi::ArrayAt(pod, {"spec", "tolerations"});
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (Tolerates(list, taint)) continue;
    list.push_back({{"key", taint},
                    {"operator", "Exists"},
                    {"effect", "NoExecute"},
                    {"tolerationSeconds", kSeconds}});
  }
  if (!list.empty()) Set(pod, {"spec", "tolerations"}, std::move(list));
  return Ok();
}

}  // namespace mailroom::admission
