// What the rules of pod security share: the walk over containers, and their way of naming things.
// Pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/pod_security_checks.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json.h"

namespace mailroom::admission {

// Calls `see` with every container: those that run first, the usual ones, those added later.
template <typename See>
void ForContainers(const PodUnderCheck& pod, const See& see) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const Json& container : openapi::ArrayAt(pod.spec, {list})) see(container);
  }
}

// The names of the containers that `is_bad`.
template <typename IsBad>
std::vector<std::string> ContainersThat(const PodUnderCheck& pod, const IsBad& is_bad) {
  std::vector<std::string> names;
  ForContainers(pod, [&](const Json& container) {
    if (is_bad(container)) names.push_back(StringAt(container, {"name"}));
  });
  return names;
}

std::string_view Plural(std::string_view one, std::string_view many, std::size_t count);
std::string InQuotes(const std::vector<std::string>& names);  // `"a", "b"`, nothing escaped
std::string InQuotes(const std::set<std::string>& names);
std::string ContainersText(const std::vector<std::string>& names);  // `containers "a", "b"`

// Who sets something: `pod and container "a"`.
std::string SettersText(bool pod, const std::vector<std::string>& containers);

// Whether the pod has users of its own, so that its root is not that of the node.
bool HasOwnUsers(const PodUnderCheck& pod);
bool IsForWindows(const PodUnderCheck& pod);
// A seccomp profile that is neither the runtime's nor one of the node's.
std::optional<Violation> UnsafeSeccomp(const PodUnderCheck& pod);
// A mount of /proc that shows what is hidden by default.
std::optional<Violation> UnmaskedProc(const PodUnderCheck& pod);

}  // namespace mailroom::admission
