// Annotations of pods that mean something: mirrors of a node's own pods, the price of deletion, and
// profiles from before there were members for them.
#include <charconv>
#include <optional>
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kPodSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccomp = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kArmor = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view kLocal = "localhost/";

std::string TextOf(const Json* annotations, std::string_view key) {
  return annotations == nullptr ? "" : StringAt(*annotations, {key});
}

bool Has(const Json* annotations, std::string_view key) {
  return annotations != nullptr && Find(*annotations, {key}) != nullptr;
}

// A number of 32 bits without a plus or zeros before it.
bool IsCost(const std::string& text) {
  if (text.empty()) return false;
  const char first = text.front();
  if (first != '-' && text != "0" && (first < '1' || first > '9')) return false;
  std::int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() && end == text.data() + text.size();
}

bool HasBadCost(const Json* annotations) {
  return Has(annotations, kCost) && !IsCost(TextOf(annotations, kCost));
}

void CheckSeccompText(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  if (text == "runtime/default" || text == "docker/default" || text == "unconfined") return;
  if (text.starts_with(kLocal)) return CheckDescending(check, text.substr(kLocal.size()), path);
  check.Invalid(path, text, "must be a valid seccomp profile");
}

std::set<std::string> ContainersOf(const Json& spec) {
  std::set<std::string> names;
  ForEachContainer(spec, "", [&](const Json& container, const std::string&) {
    names.insert(StringAt(container, {"name"}));
  });
  return names;
}

void CheckArmorText(const BuiltinCheck& check, const std::set<std::string>& containers,
                    const std::string& key, const std::string& text, const std::string& path) {
  const std::string name = key.substr(kArmor.size());
  if (!containers.contains(name)) check.Invalid(path, name, "container not found");
  if (text.empty() || text == "runtime/default" || text == "unconfined" || text.starts_with(kLocal)) {
    return;
  }
  check.Invalid(path, text, "invalid AppArmor profile name: " + Quoted(text));
}

// Whether the annotation says what the profile does; `kind` names the profile in complaints.
void CheckSame(const BuiltinCheck& check, const std::string& text, const Json& profile,
               const std::string& path, const std::string& kind) {
  const std::string type = StringAt(profile, {"type"});
  const auto differ = [&](const char* member, const char* what) {
    check.Forbidden(path + "." + member, kind + " " + what + " in annotation and field must match");
  };
  if (type == "Unconfined") {
    if (text != "unconfined") differ("type", "type");
  } else if (type == "RuntimeDefault") {
    const bool old_name = kind == "seccomp" && text == "docker/default";
    if (text != "runtime/default" && !old_name) differ("type", "type");
  } else if (type == "Localhost") {
    const Json* file = Find(profile, {"localhostProfile"});
    if (!text.starts_with(kLocal)) {
      differ("type", "type");
    } else if (file == nullptr || *file != text.substr(kLocal.size())) {
      differ("localhostProfile", "profile");
    }
  }
}

void CheckSeccompSame(const PodCheck& pod, const Json* annotations) {
  const Json* of_pod = Find(pod.spec, {"securityContext", "seccompProfile"});
  if (of_pod != nullptr && Has(annotations, kPodSeccomp)) {
    CheckSame(pod.check, TextOf(annotations, kPodSeccomp), *of_pod,
              pod.path + ".securityContext.seccompProfile", "seccomp");
  }
  ForEachContainer(pod.spec, pod.path, [&](const Json& container, const std::string& path) {
    const Json* profile = Find(container, {"securityContext", "seccompProfile"});
    const std::string key = std::string(kSeccomp) + StringAt(container, {"name"});
    if (profile == nullptr || !Has(annotations, key)) return;
    CheckSame(pod.check, TextOf(annotations, key), *profile, path + ".securityContext.seccompProfile",
              "seccomp");
  });
}

void CheckArmorSame(const PodCheck& pod, const Json* annotations) {
  if (StringAt(pod.spec, {"os", "name"}) == "windows") return;
  const Json* of_pod = Find(pod.spec, {"securityContext", "appArmorProfile"});
  ForEachContainer(pod.spec, pod.path, [&](const Json& container, const std::string& path) {
    const Json* own = Find(container, {"securityContext", "appArmorProfile"});
    const Json* profile = own == nullptr ? of_pod : own;
    const std::string key = std::string(kArmor) + StringAt(container, {"name"});
    if (profile == nullptr || !Has(annotations, key)) return;
    CheckSame(pod.check, TextOf(annotations, key), *profile,
              path + ".securityContext.appArmorProfile", "apparmor");
  });
}

void ForbidChange(const BuiltinCheck& check, const std::string& key, const std::string& verb) {
  const std::string path = EntryPath("metadata.annotations", key);
  if (key.starts_with(kArmor)) check.Forbidden(path, "may not " + verb + " AppArmor annotations");
  if (key == kMirror) check.Forbidden(path, "may not " + verb + " mirror pod annotation");
}

}  // namespace

void CheckPodAnnotations(const PodCheck& pod, const Json* annotations, const std::string& path) {
  if (annotations == nullptr || !annotations->is_object()) return;
  const BuiltinCheck& check = pod.check;
  if (Has(annotations, kMirror) && StringAt(pod.spec, {"nodeName"}).empty()) {
    check.Invalid(EntryPath(path, kMirror), TextOf(annotations, kMirror),
                  "must set spec.nodeName if mirror pod annotation is set");
  }
  const std::string home = pod.path.substr(0, pod.path.size() - std::string_view("spec").size());
  const Json* before =
      check.old == nullptr ? nullptr : FindDotted(*check.old, home + "metadata.annotations");
  if (HasBadCost(annotations) && !HasBadCost(before)) {
    check.Invalid(EntryPath(path, kCost), TextOf(annotations, kCost), "must be a 32bit integer");
  }
  if (Has(annotations, kPodSeccomp)) {
    CheckSeccompText(check, TextOf(annotations, kPodSeccomp), MemberPath(path, kPodSeccomp));
  }
  for (const auto& [key, value] : annotations->items()) {
    if (!key.starts_with(kSeccomp)) continue;
    CheckSeccompText(check, TextOf(annotations, key), MemberPath(path, key));
  }
  std::optional<std::set<std::string>> containers;
  for (const auto& [key, value] : annotations->items()) {
    if (!key.starts_with(kArmor)) continue;
    if (!containers) containers = ContainersOf(pod.spec);
    CheckArmorText(check, *containers, key, TextOf(annotations, key), EntryPath(path, key));
  }
}

void CheckAnnotationChanges(const BuiltinCheck& check) {
  const Json* found = Find(check.object, {"metadata", "annotations"});
  const Json* found_before = Find(*check.old, {"metadata", "annotations"});
  const Json& now = found == nullptr ? PodCheck::kNoSpec : *found;
  const Json& before = found_before == nullptr ? PodCheck::kNoSpec : *found_before;
  for (const auto& [key, value] : before.items()) {
    const Json* kept = Find(now, {key});
    if (kept == nullptr || *kept != value) ForbidChange(check, key, "remove or update");
  }
  for (const auto& [key, value] : now.items()) {
    if (Find(before, {key}) == nullptr) ForbidChange(check, key, "add");
  }
}

void CheckAnnotatedProfiles(const PodCheck& pod, const Json* annotations) {
  CheckSeccompSame(pod, annotations);
  CheckArmorSame(pod, annotations);
}

}  // namespace mailroom::openapi
