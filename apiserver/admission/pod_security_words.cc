#include "apiserver/admission/pod_security_words.h"

namespace mailroom::admission {
namespace {

template <typename Names>
std::string Join(const Names& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "\"" : ", \"") + name + "\"";
  return out;
}

}  // namespace

std::string_view Plural(std::string_view one, std::string_view many, std::size_t count) {
  return count == 1 ? one : many;
}

std::string InQuotes(const std::vector<std::string>& names) { return Join(names); }
std::string InQuotes(const std::set<std::string>& names) { return Join(names); }

std::string ContainersText(const std::vector<std::string>& names) {
  return std::string(Plural("container ", "containers ", names.size())) + InQuotes(names);
}

std::string SettersText(bool pod, const std::vector<std::string>& containers) {
  std::string out = pod ? "pod" : "";
  if (pod && !containers.empty()) out += " and ";
  return containers.empty() ? out : out + ContainersText(containers);
}

bool HasOwnUsers(const PodUnderCheck& pod) { return !BoolAt(pod.spec, {"hostUsers"}, true); }

bool IsForWindows(const PodUnderCheck& pod) {
  return StringAt(pod.spec, {"os", "name"}) == "windows";
}

std::optional<Violation> UnsafeSeccomp(const PodUnderCheck& pod) {
  std::set<std::string> types;
  auto unsafe = [&](const Json& holder) {
    if (Find(holder, {"securityContext", "seccompProfile"}) == nullptr) return false;
    std::string type = StringAt(holder, {"securityContext", "seccompProfile", "type"});
    if (type == "Localhost" || type == "RuntimeDefault") return false;
    types.insert(std::move(type));
    return true;
  };
  const bool whole = unsafe(pod.spec);
  const auto bad = ContainersThat(pod, unsafe);
  if (types.empty()) return std::nullopt;
  return Violation{"seccompProfile", SettersText(whole, bad) +
                                         " must not set securityContext.seccompProfile.type to " +
                                         InQuotes(types)};
}

std::optional<Violation> UnmaskedProc(const PodUnderCheck& pod) {
  std::set<std::string> mounts;
  const auto bad = ContainersThat(pod, [&](const Json& container) {
    const Json* mount = Find(container, {"securityContext", "procMount"});
    if (mount == nullptr || *mount == "Default") return false;
    mounts.insert(StringAt(container, {"securityContext", "procMount"}));
    return true;
  });
  if (bad.empty()) return std::nullopt;
  return Violation{"procMount", ContainersText(bad) + " must not set securityContext.procMount to " +
                                    InQuotes(mounts)};
}

}  // namespace mailroom::admission
