// The parts of a pod's spec, one function each, for pods and everything with a pod template. They
// add field errors in kube-apiserver's words; what the type facts already say (required members,
// enumerations) is checked elsewhere. Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

struct PodCheck {
  const BuiltinCheck& check;
  const Json& spec;
  std::string path;  // where the spec stands
  // Volumes that a container may mount: their sources, by name; null when only the name is known.
  std::map<std::string, const Json*, std::less<>> volumes = {};
};

// `path[i]`
std::string Indexed(const std::string& path, std::size_t i);

// Also fills `volumes`.
void CheckVolumes(PodCheck& pod);
// Containers, init containers and ephemeral containers.
void CheckContainers(const PodCheck& pod);
void CheckPodSecurity(const PodCheck& pod);
// Node selector, affinity, tolerations, spreading and gates.
void CheckGatedSecurity(const PodCheck& pod);
void CheckGatedTolerations(const PodCheck& pod);
void CheckScheduling(const PodCheck& pod);

// What few pods have.
void CheckPodDetails(const PodCheck& pod);

// Key and value of a toleration.
void CheckToleration(const BuiltinCheck& check, const Json& toleration, const std::string& path);
// A selector of nodes; `strict`: values must be label values.
void CheckNodeSelector(const BuiltinCheck& check, const Json& selector, const std::string& path,
                       bool strict);
// Whether all values of the expressions of a selector of nodes are label values.
bool HasLabelValues(const Json& node_selector);
// Values in label selectors are checked, unless the object was stored with other ones.
SelectorValues SelectorRule(const BuiltinCheck& check);

// What an update may change, by the subresource it is written through.
void CheckPodChange(const BuiltinCheck& check);

// Parts of one container; `path` is where it stands.
void CheckEnvironment(const BuiltinCheck& check, const Json& container, const std::string& path);
void CheckMounts(const PodCheck& pod, const Json& container, const std::string& path);
void CheckContainerSecurity(const BuiltinCheck& check, const Json& container,
                            const std::string& path, bool host_users);
void CheckAmounts(const BuiltinCheck& check, const Json& container, const std::string& path);
// Probes and lifecycle handlers; `optional` ones are refused (init containers that end).
void CheckHandlers(const BuiltinCheck& check, const Json& container, const std::string& path);

// A reference to a field or an amount, in an environment variable or a volume.
enum class RefHome { kEnvironment, kVolume };
void CheckFieldRef(const BuiltinCheck& check, const Json& ref, const std::string& path, RefHome home);
void CheckAmountRef(const BuiltinCheck& check, const Json& ref, const std::string& path,
                    RefHome home);
// A relative path without "..".
void CheckDescending(const BuiltinCheck& check, const std::string& text, const std::string& path);
bool HasBackstep(std::string_view text);

}  // namespace mailroom::openapi
