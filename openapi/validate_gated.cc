// Values of pods that belong to features which are off: refused, unless the stored object of the
// same place has them already.
#include <algorithm>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

const Json& SpecBefore(const PodCheck& pod) {
  static const Json kNone = Json::object();
  const Json* before = pod.check.old == nullptr ? nullptr : FindDotted(*pod.check.old, pod.path);
  return before != nullptr ? *before : kNone;
}

bool Compares(const Json& toleration) {
  const std::string op = StringAt(toleration, {"operator"});
  return op == "Gt" || op == "Lt";
}

bool AnyCompares(const Json& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(), Compares);
}

bool SharesNetworkApart(const Json& spec) {
  return !BoolAt(spec, {"hostUsers"}, true) && BoolAt(spec, {"hostNetwork"});
}

}  // namespace

void CheckGatedSecurity(const PodCheck& pod) {
  const Json* policy = Find(pod.spec, {"securityContext", "seLinuxChangePolicy"});
  const Json& before = SpecBefore(pod);
  if (policy != nullptr && *policy != "Recursive" &&
      StringAt(before, {"securityContext", "seLinuxChangePolicy"}) != *policy) {
    pod.check.causes.push_back(NotSupported(
        pod.path + ".securityContext.seLinuxChangePolicy", *policy, {"Recursive"}));
  }
  if (SharesNetworkApart(pod.spec) && !SharesNetworkApart(before)) {
    pod.check.Forbidden(pod.path + ".hostNetwork", "when `hostUsers` is false");
  }
}

void CheckGatedTolerations(const PodCheck& pod) {
  const Json& tolerations = ArrayAt(pod.spec, {"tolerations"});
  if (AnyCompares(ArrayAt(SpecBefore(pod), {"tolerations"}))) return;
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    if (!Compares(tolerations[i])) continue;
    pod.check.causes.push_back(NotSupported(Indexed(pod.path + ".tolerations", i) + ".operator",
                                            tolerations[i]["operator"],
                                            {"Equal", "Exists", "Lt", "Gt"}));
  }
}

}  // namespace mailroom::openapi
