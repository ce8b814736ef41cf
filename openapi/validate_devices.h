// What claims on devices, their classes and the slices that offer them have in common, in
// kube-apiserver's words. Pure functions; any thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// Whether a list is no longer than `most`; else that is said, and no more need be.
bool FitsIn(const BuiltinCheck& check, const Json& list, std::size_t most, const std::string& path);
// Elements that were there before, by `key_of`; said after what is said of each.
template <typename KeyOf>
void CheckUnique(const BuiltinCheck& check, const Json& list, const std::string& path, KeyOf key_of) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < list.size() && !check.causes.full(); ++i) {
    const std::string key = key_of(list[i]);
    if (!known.insert(key).second) {
      check.causes.push_back(DuplicateValue(ElementPath(path, i), Quoted(key)));
    }
  }
}
std::string NameOf(const Json& element);

// The requests of a claim, and the alternatives of each.
class RequestNames {
 public:
  explicit RequestNames(const Json& devices);
  // `request` or `request/alternative`.
  void CheckRef(const BuiltinCheck& check, const std::string& name, const std::string& path) const;
  // The `requests` of a constraint or configuration.
  void CheckRefs(const BuiltinCheck& check, const Json& owner, const std::string& path) const;

 private:
  std::map<std::string, std::set<std::string>> names_;
};

void CheckDeviceDriver(const BuiltinCheck& check, const std::string& name, const std::string& path);
void CheckPoolName(const BuiltinCheck& check, const std::string& name, const std::string& path);
// `[domain/]identifier`
void CheckAttributeName(const BuiltinCheck& check, const std::string& name, const std::string& path);
void CheckShareId(const BuiltinCheck& check, const std::string& id, const std::string& path);
// An object of whatever members; `bounded`: of at most so many bytes.
enum class Size { kBounded, kAny };
void CheckRawObject(const BuiltinCheck& check, const Json* raw, const std::string& path, Size size);
// Expressions that choose devices: the `selectors` of `owner`.
void CheckDeviceSelectors(const BuiltinCheck& check, const Json& owner, const std::string& path);
// `opaque` of a configuration.
void CheckDeviceConfig(const BuiltinCheck& check, const Json& config, const std::string& path,
                       Size size);
// bindingConditions and bindingFailureConditions.
void CheckBindingConditions(const BuiltinCheck& check, const Json& owner, const std::string& path);
void CheckDeviceTolerations(const BuiltinCheck& check, const Json& owner, const std::string& path);
void CheckDeviceTaint(const BuiltinCheck& check, const Json& taint, const std::string& path);

// What a claim holds, and whom it serves.
void CheckClaimStatus(const BuiltinCheck& check);

// Checks of single kinds.
void CheckDeviceClass(const BuiltinCheck& check);
void CheckDeviceClaim(const BuiltinCheck& check);
void CheckDeviceClaimTemplate(const BuiltinCheck& check);
void CheckDeviceSlice(const BuiltinCheck& check);

}  // namespace mailroom::openapi
