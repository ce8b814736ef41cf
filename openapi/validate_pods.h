// The parts of a pod's spec, one function each, for pods and everything with a pod template. They
// say all that is wrong, in kube-apiserver's words and order; the type facts are not asked about a
// pod's spec. Pure functions; any thread.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

struct PodCheck {
  const BuiltinCheck& check;
  const Json& spec;
  std::string path;  // where the spec stands
  const Json& before = kNoSpec;  // what stood there; {} when nothing did
  // Volumes that a container may mount: their sources, by name; null when only the name is known.
  std::map<std::string, const Json*, std::less<>> volumes = {};
  std::set<std::string> claims = {};  // names of the pod's resource claims

  static const Json kNoSpec;
  // A pod itself, not the template of one.
  bool IsPod() const { return path == "spec"; }
  bool HostUsers() const { return BoolAt(spec, {"hostUsers"}, true); }
};

// `path[i]`
std::string Indexed(const std::string& path, std::size_t i);

// A text that is one of a few; "" is missing, or as unknown as any other.
using Choices = std::initializer_list<std::string_view>;
void CheckChoice(const BuiltinCheck& check, const std::string& text, const std::string& path,
                 Choices choices);
void CheckNeededChoice(const BuiltinCheck& check, const std::string& text, const std::string& path,
                       Choices choices);
// The member at `path`, when it is there.
void CheckGivenChoice(const BuiltinCheck& check, const Json* text, const std::string& path,
                      Choices choices);

// Init containers, containers, then those that look in: `visit(container, path)`.
template <typename Visit>
void ForEachContainer(const Json& spec, const std::string& path, Visit visit) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Json& containers = ArrayAt(spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      visit(containers[i], Indexed(path + "." + list, i));
    }
  }
}

// Also fills `volumes`.
void CheckVolumes(PodCheck& pod);
// Also fills `claims`.
void CheckPodClaims(PodCheck& pod);
// Containers, init containers and ephemeral containers.
void CheckContainers(const PodCheck& pod);
void CheckPodSecurity(const PodCheck& pod);
void CheckHostProcess(const PodCheck& pod);
void CheckHostUsers(const PodCheck& pod);
// What fits the system the pod is for.
void CheckSystem(const PodCheck& pod);
// Amounts of the pod as a whole.
void CheckPodAmounts(const PodCheck& pod);

void CheckAffinity(const PodCheck& pod);
void CheckGates(const PodCheck& pod);
void CheckSpread(const PodCheck& pod);
void CheckTolerations(const BuiltinCheck& check, const Json& tolerations, const std::string& path,
                      bool comparing);
// Whether tolerations may compare; only where they did before.
bool MayCompare(const PodCheck& pod);

// Annotations that say something of a pod's containers; `path` is where they stand.
void CheckPodAnnotations(const PodCheck& pod, const Json* annotations, const std::string& path);
void CheckAnnotationChanges(const BuiltinCheck& check);
// Annotations and members that say the same say it alike.
void CheckAnnotatedProfiles(const PodCheck& pod, const Json* annotations);

// A selector of nodes; `strict`: values must be label values.
void CheckNodeSelector(const BuiltinCheck& check, const Json& selector, const std::string& path,
                       bool strict);
// Whether all values of the expressions of a selector of nodes are label values.
bool HasLabelValues(const Json& node_selector);
// Values in label selectors are checked, unless the object was stored with other ones.
SelectorValues SelectorRule(const BuiltinCheck& check);
bool HasValidSelectors(const Json& value);

// What an update may change, by the subresource it is written through.
void CheckPodChange(const BuiltinCheck& check);

void CheckImageBlanks(const BuiltinCheck& check, const Json& container, const std::string& path);

// Parts of one container; `path` is where it stands.
void CheckEnvironment(const BuiltinCheck& check, const Json& container, const std::string& path);
void CheckFileVariables(const PodCheck& pod);
void CheckMounts(const PodCheck& pod, const Json& container, const std::string& path);
void CheckContainerSecurity(const PodCheck& pod, const Json& container, const std::string& path);
// Requirements of a container.
void CheckAmounts(const PodCheck& pod, const Json& requirements, const std::string& path);
void CheckOverhead(const PodCheck& pod);
void CheckResizePolicy(const PodCheck& pod, const Json& container, const std::string& path);
void CheckRestartPolicy(const PodCheck& pod, const Json& container, const std::string& path);
// Probes and lifecycle handlers.
void CheckHandlers(const PodCheck& pod, const Json& container, const std::string& path);

// Parts of a security context, whose member stands at `path`.
void CheckId(const BuiltinCheck& check, const Json* id, const std::string& path);
void CheckSeccomp(const BuiltinCheck& check, const Json* profile, const std::string& path);
void CheckAppArmor(const BuiltinCheck& check, const Json* profile, const std::string& path);
void CheckWindowsOptions(const BuiltinCheck& check, const Json* options, const std::string& path);

// Files of volumes; `path` is where the source stands.
void CheckProjected(const PodCheck& pod, const Json& projected, const std::string& path);
void CheckItems(const BuiltinCheck& check, const Json& source, const std::string& path);
void CheckPodFiles(const BuiltinCheck& check, const Json& source, const std::string& path);
void CheckMode(const BuiltinCheck& check, const Json& source, const char* member,
               const std::string& path);

// A reference to a field or an amount, in an environment variable or a volume.
enum class RefHome { kEnvironment, kVolume };
void CheckFieldRef(const BuiltinCheck& check, const Json& ref, const std::string& path, RefHome home);
void CheckAmountRef(const BuiltinCheck& check, const Json& ref, const std::string& path,
                    RefHome home);
// A path without "..", one that is relative, too, and one that does not look like the kubelet's own.
void CheckNoBacksteps(const BuiltinCheck& check, const std::string& text, const std::string& path);
void CheckFilePath(const BuiltinCheck& check, const std::string& text, const std::string& path);
void CheckDescending(const BuiltinCheck& check, const std::string& text, const std::string& path);
bool HasBackstep(std::string_view text);

}  // namespace mailroom::openapi
