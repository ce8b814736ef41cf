#include "apiserver/pod_create.h"

#include "openapi/builtin.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kProfileBytes = 4095;
constexpr std::string_view kArmor = "container.apparmor.security.beta.kubernetes.io/";

// The array at `path`, or nothing to go through.
Json& ItemsAt(Json& object, Path path) {
  static thread_local Json none;
  Json* found = Find(object, path);
  if (found != nullptr && found->is_array()) return *found;
  none = Json::array();
  return none;
}

void AddGatedCondition(const Call& call, Json& pod) {
  const Json* gates = Find(pod, {"spec", "schedulingGates"});
  if (gates == nullptr || gates->empty()) return;
  Set(pod, {"status", "conditions"},
      Json::array({{{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", "SchedulingGated"},
                    {"message", "Scheduling is blocked due to non-empty scheduling gates"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", FormatTime(call.hub.clock.Now())}}}));
}

// The selector of `term` asks for the pod's own values of the labels that `member` names.
void SelectByLabels(const Json& pod, Json& term, const char* member, const char* by) {
  if (!term.is_object()) return;
  Json* selector = Find(term, {"labelSelector"});
  const Json* labels = Find(pod, {"metadata", "labels"});
  if (selector == nullptr || !selector->is_object() || labels == nullptr) return;
  for (const std::string& key : StringsAt(term, {member})) {
    const auto value = labels->find(key);
    if (value == labels->end()) continue;
    Json& expressions = (*selector)["matchExpressions"];
    if (!expressions.is_array()) expressions = Json::array();
    expressions.push_back({{"key", key}, {"operator", by}, {"values", Json::array({*value})}});
  }
}

void SelectByOwnLabels(Json& pod) {
  auto merge = [&](Json& term) {
    SelectByLabels(pod, term, "matchLabelKeys", "In");
    SelectByLabels(pod, term, "mismatchLabelKeys", "NotIn");
  };
  for (Json& term : ItemsAt(pod, {"spec", "topologySpreadConstraints"})) {
    SelectByLabels(pod, term, "matchLabelKeys", "In");
  }
  for (const char* affinity : {"podAffinity", "podAntiAffinity"}) {
    for (Json& item : ItemsAt(pod, {"spec", "affinity", affinity,
                                    "preferredDuringSchedulingIgnoredDuringExecution"})) {
      if (Json* term = Find(item, {"podAffinityTerm"})) merge(*term);
    }
    for (Json& term : ItemsAt(pod, {"spec", "affinity", affinity,
                                    "requiredDuringSchedulingIgnoredDuringExecution"})) {
      merge(term);
    }
  }
}

// The profile that an annotation names; null when it names none.
Json ProfileOf(std::string_view annotation) {
  constexpr std::string_view kLocal = "localhost/";
  if (annotation == "unconfined") return {{"type", "Unconfined"}};
  if (annotation == "runtime/default") return {{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocal)) return nullptr;
  const std::string_view name = annotation.substr(kLocal.size());
  constexpr const char* kBlanks = " \t\n\v\f\r";
  if (name.empty() || name.size() > kProfileBytes || name.find_first_of(kBlanks) == 0 ||
      name.find_last_of(kBlanks) == name.size() - 1) {
    return nullptr;
  }
  return {{"type", "Localhost"}, {"localhostProfile", std::string(name)}};
}

void TakeArmorFromAnnotations(Call& call, Json& pod) {
  if (StringAt(pod, {"spec", "os", "name"}) == "windows") return;
  const Json* found = Find(pod, {"spec", "securityContext", "appArmorProfile"});
  const Json common = found != nullptr ? *found : Json();
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (Json& container : ItemsAt(pod, {"spec", list})) {
      const std::string key = std::string(kArmor) + StringAt(container, {"name"});
      const Json* annotation = Find(pod, {"metadata", "annotations", key});
      if (annotation == nullptr || !annotation->is_string()) continue;
      if (Find(container, {"securityContext", "appArmorProfile"}) != nullptr) continue;
      const Json profile = ProfileOf(annotation->get_ref<const std::string&>());
      if (!profile.is_null() && profile == common) continue;
      if (!profile.is_null()) Set(container, {"securityContext", "appArmorProfile"}, profile);
      call.Warn("metadata.annotations[" + key +
                "]: deprecated since v1.30; use the \"appArmorProfile\" field instead");
    }
  }
}

}  // namespace

void FillPod(Call& call, Json& object, const Json* live) {
  if (live != nullptr || !openapi::PolicyIsLive(call.workspace.type)) return;
  AddGatedCondition(call, object);
  SelectByOwnLabels(object);
  TakeArmorFromAnnotations(call, object);
}

}  // namespace mailroom::apiserver
