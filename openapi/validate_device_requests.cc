#include "openapi/validate_devices.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kRequests = 32;
constexpr const char* kRule =
    "must be the name of a request in the claim or the name of a request and a subrequest separated "
    "by '/'";

}  // namespace

RequestNames::RequestNames(const Json& devices) {
  for (const Json& request : ArrayAt(devices, {"requests"})) {
    auto& alternatives = names_[NameOf(request)];
    alternatives.clear();
    for (const Json& each : ArrayAt(request, {"firstAvailable"})) alternatives.insert(NameOf(each));
  }
}

void RequestNames::CheckRef(const BuiltinCheck& check, const std::string& name,
                            const std::string& path) const {
  const std::size_t slash = name.find('/');
  if (slash != name.rfind('/')) return check.Invalid(path, name, kRule);
  const std::string request = name.substr(0, slash);
  AddInvalid(check.causes, path, request, CheckLabel(request));
  const auto found = names_.find(request);
  bool known = found != names_.end();
  if (slash != std::string::npos) {
    const std::string alternative = name.substr(slash + 1);
    AddInvalid(check.causes, path, alternative, CheckLabel(alternative));
    known = known && found->second.contains(alternative);
  }
  if (!known) check.Invalid(path, name, kRule);
}

void RequestNames::CheckRefs(const BuiltinCheck& check, const Json& owner,
                             const std::string& path) const {
  const Json& requests = ArrayAt(owner, {"requests"});
  const std::string list = path + ".requests";
  if (!FitsIn(check, requests, kRequests, list)) return;
  const auto text = [](const Json& name) { return name.is_string() ? name.get<std::string>() : ""; };
  for (std::size_t i = 0; i < requests.size() && !check.causes.full(); ++i) {
    CheckRef(check, text(requests[i]), ElementPath(list, i));
  }
  CheckUnique(check, requests, list, text);
}

}  // namespace mailroom::openapi
