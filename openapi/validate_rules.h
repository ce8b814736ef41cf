// Checks that webhook configurations and admission policies share: which requests they name.
#pragma once

#include <string>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// `path[index]`
inline std::string At(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

// A list of rules with operations; `path` is where the list stands.
void CheckAdmissionRules(const BuiltinCheck& check, const Json& rules, const std::string& path);
// Names and expressions of matchConditions; `scope` is what these may refer to.
class PolicyScope;
void CheckMatchConditions(const BuiltinCheck& check, const Json& owner, const PolicyScope& scope,
                          const std::string& path);
// namespaceSelector and objectSelector of `owner`.
void CheckAdmissionSelectors(const BuiltinCheck& check, const Json& owner, const std::string& path,
                             SelectorValues values);
// `value` must be one of `supported`.
void CheckOneOf(const BuiltinCheck& check, const std::string& field, const std::string& value,
                const std::vector<std::string>& supported);
// The same of a member, when it is there.
void CheckGiven(const BuiltinCheck& check, const Json& owner, const std::string& path,
                const char* member, const std::vector<std::string>& supported);

// Where a webhook is; `field` is where that stands.
void CheckClientConfig(const BuiltinCheck& check, const Json& config, const std::string& field);
// Versions of reviews that a webhook knows; `required` is said when there are none.
void CheckReviewVersions(const BuiltinCheck& check, const std::vector<std::string>& versions,
                         const std::string& field, const std::string& required);

// Checks of single kinds.
void CheckValidatingPolicy(const BuiltinCheck& check);
void CheckValidatingBinding(const BuiltinCheck& check);
void CheckMutatingPolicy(const BuiltinCheck& check);
void CheckMutatingBinding(const BuiltinCheck& check);

}  // namespace mailroom::openapi
