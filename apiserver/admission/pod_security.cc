#include "apiserver/admission/pod_security.h"

#include <map>
#include <set>

#include "apiserver/admission/pod_security_checks.h"
#include "apiserver/admission/pod_security_existing.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"
#include "storage/object/problems.h"

namespace mailroom::admission {
namespace {

const GroupResource kNamespaces{"", "namespaces"};
const GroupResource kPods{"", "pods"};

constexpr std::chrono::milliseconds kExistingPodsTime{1000};  // to look at those already there

// Where the template stands in objects that make pods.
const std::map<GroupResource, const char*>& Templates() {
  static const std::map<GroupResource, const char*> paths = {
      {{"", "podtemplates"}, "template"},      {{"", "replicationcontrollers"}, "spec.template"},
      {{"apps", "daemonsets"}, "spec.template"}, {{"apps", "deployments"}, "spec.template"},
      {{"apps", "replicasets"}, "spec.template"}, {{"apps", "statefulsets"}, "spec.template"},
      {{"batch", "jobs"}, "spec.template"},
      {{"batch", "cronjobs"}, "spec.jobTemplate.spec.template"}};
  return paths;
}

void Annotate(Attributes& attributes, const char* key, std::string value) {
  attributes.annotations[std::string(kSecurityPrefix) + key] = std::move(value);
}

std::string ProblemsText(const std::vector<Cause>& problems) {
  std::string out;
  for (const Cause& cause : problems) {
    out += (out.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  }
  return problems.size() == 1 ? out : "[" + out + "]";
}

bool SameProblems(const std::vector<Cause>& a, const std::vector<Cause>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Cause& x, const Cause& y) {
    return x.field == y.field && x.message == y.message;
  });
}

// A pod's verdict by level; the three policies are often one.
class Verdicts {
 public:
  explicit Verdicts(const Json& pod) : pod_(pod) {}

  bool Allows(const LevelVersion& level) { return Of(level).empty(); }
  std::string Text(const char* verb, const LevelVersion& level) {
    return std::string(verb) + " PodSecurity " + Quoted(level.Text()) + ": " + DetailsText(Of(level));
  }

 private:
  const std::vector<Violation>& Of(const LevelVersion& level) {
    const auto [known, added] = by_level_.try_emplace(level);
    if (added) known->second = FindViolations(level, pod_);
    return known->second;
  }

  const Json& pod_;
  std::map<LevelVersion, std::vector<Violation>> by_level_;
};

enum class Enforce { kYes, kNo };

// `pod` is a Pod or a template of one.
Result<void> Judge(const SecurityPolicy& policy, Enforce enforce, const Json& pod,
                   Attributes& attributes) {
  if (!policy.problems.empty()) {
    Annotate(attributes, "error", "Failed to parse policy: " + ProblemsText(policy.problems));
  }
  Verdicts verdicts(pod);
  bool allowed = true;
  if (enforce == Enforce::kYes) {
    Annotate(attributes, "enforce-policy", policy.enforce.Text());
    allowed = verdicts.Allows(policy.enforce);
  }
  if (!verdicts.Allows(policy.audit)) {
    Annotate(attributes, "audit-violations", verdicts.Text("would violate", policy.audit));
  }
  if (!allowed) return Refuse(attributes, verdicts.Text("violates", policy.enforce));
  if (!verdicts.Allows(policy.warn)) {
    attributes.warnings.push_back(verdicts.Text("would violate", policy.warn));
  }
  return Ok();
}

const Json& List(const Json& pod, const char* list) { return openapi::ArrayAt(pod, {"spec", list}); }

bool SameImage(const Json& a, const Json& b) {
  return StringAt(a, {"image"}) == StringAt(b, {"image"});
}

bool SameImages(const Json& a, const Json& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameImage);
}

// Of what may change in a pod, only containers can make it break a rule.
bool Matters(const Json& old, const Json& pod) {
  for (const char* list : {"containers", "initContainers"}) {
    if (!SameImages(List(pod, list), List(old, list))) return true;
  }
  const Json& before = List(old, "ephemeralContainers");
  for (const Json& container : List(pod, "ephemeralContainers")) {
    const auto known = std::find_if(before.begin(), before.end(), [&](const Json& other) {
      return StringAt(other, {"name"}) == StringAt(container, {"name"});
    });
    if (known == before.end() || !SameImage(container, *known)) return true;
  }
  return false;
}

// The namespace of the write, as it is stored.
ObjectPtr NamespaceOf(const storage::CachedStore& store, const Attributes& attributes) {
  return store.Get({attributes.workspace, kNamespaces, "", attributes.ns});
}

Result<void> CheckPod(const storage::CachedStore& store, Attributes& attributes, const Json& pod) {
  static const std::set<std::string> ignored = {"exec", "attach",      "binding", "eviction",
                                                "log",  "portforward", "proxy",   "status"};
  if (ignored.contains(attributes.subresource)) return Ok();
  const ObjectPtr ns = NamespaceOf(store, attributes);
  if (ns == nullptr) {
    const Status gone = Internal("failed to lookup namespace " + Quoted(attributes.ns));
    Annotate(attributes, "error", gone.message());
    return gone;
  }
  const SecurityPolicy policy = ReadSecurityPolicy(ns->meta().labels);
  if (policy.AllowsAll()) {
    Annotate(attributes, "enforce-policy", LevelVersion().Text());
    return Ok();
  }
  if (attributes.old != nullptr && !Matters(*attributes.old, pod)) return Ok();
  return Judge(policy, Enforce::kYes, pod, attributes);
}

Result<void> CheckTemplate(const storage::CachedStore& store, const char* path,
                           Attributes& attributes, const Json& object) {
  if (!attributes.subresource.empty()) return Ok();
  const ObjectPtr ns = NamespaceOf(store, attributes);
  if (ns == nullptr) return Ok();  // nothing is enforced here; the write itself will fail
  const SecurityPolicy policy = ReadSecurityPolicy(ns->meta().labels);
  if (policy.problems.empty() && policy.audit.level == SecurityLevel::kPrivileged &&
      policy.warn.level == SecurityLevel::kPrivileged) {
    return Ok();
  }
  const Json* pod = FindDotted(object, path);
  return pod == nullptr ? Ok() : Judge(policy, Enforce::kNo, *pod, attributes);
}

void WarnOfStricter(const storage::CachedStore& store, const Clock& clock,
                    const LevelVersion& enforce, Attributes& attributes) {
  const auto until =
      clock.Monotonic() + attributes.deadline.Left(2 * kExistingPodsTime) / 2;
  const auto list = store.List({.scope = {attributes.workspace, kPods, attributes.name}});
  if (!list.ok()) return;
  std::vector<ObjectPtr> pods;
  for (const storage::Entry& entry : list->entries) pods.push_back(entry.object);
  for (std::string& warning :
       WarnOfExistingPods(pods, attributes.name, enforce,
                          [&] { return clock.Monotonic() >= until; })) {
    attributes.warnings.push_back(std::move(warning));
  }
}

Result<void> CheckNamespace(const storage::CachedStore& store, const Clock& clock,
                            Attributes& attributes, const Json& object) {
  if (!attributes.subresource.empty()) return Ok();
  const SecurityPolicy policy = ReadSecurityPolicy(LabelsOf(object));
  const SecurityPolicy before = attributes.old == nullptr
                                    ? SecurityPolicy()
                                    : ReadSecurityPolicy(LabelsOf(*attributes.old));
  if (!policy.problems.empty() && !SameProblems(policy.problems, before.problems)) {
    return Invalid(attributes.kind.kind, attributes.kind.group, attributes.name, policy.problems);
  }
  const LevelVersion &now = policy.enforce, &then = before.enforce;
  if (attributes.old == nullptr || now.level == SecurityLevel::kPrivileged) return Ok();
  if (now.minor == then.minor && now.level <= then.level) return Ok();
  WarnOfStricter(store, clock, now, attributes);
  return Ok();
}

}  // namespace

bool PodSecurityConcerns(const storage::CachedStore& store, const Workspace& workspace,
                         const openapi::ResourceType& type, const std::string& ns) {
  if (type.stored_as == kPods || type.stored_as == kNamespaces) return true;
  if (ns.empty() || !Templates().contains(type.stored_as)) return false;
  const ObjectPtr found = store.Get({workspace, kNamespaces, "", ns});
  return found != nullptr && HasSecurityLabels(found->meta().labels);
}

Result<void> CheckPodSecurity(const storage::CachedStore& store, const Clock& clock,
                              Attributes& attributes, const Json& object) {
  if (attributes.operation != Operation::kCreate && attributes.operation != Operation::kUpdate) {
    return Ok();
  }
  const GroupResource& resource = attributes.type->stored_as;
  if (resource == kPods) return CheckPod(store, attributes, object);
  if (resource == kNamespaces) return CheckNamespace(store, clock, attributes, object);
  const auto path = Templates().find(resource);
  if (path == Templates().end()) return Ok();
  return CheckTemplate(store, path->second, attributes, object);
}

}  // namespace mailroom::admission
