// The policy phases of one request: mutating and validating admission policies with their
// bindings and parameters.
#pragma once

#include <vector>

#include "apiserver/admission/policy.h"
#include "apiserver/admission/webhooks.h"
#include "storage/cached_store.h"

namespace mailroom::admission {

struct PolicyContext {
  const storage::CachedStore& store;
  const FindNamespace& find_namespace;
};

// Changes `object`; refusals are those of policies that failed and may not be ignored.
Result<void> MutateByPolicies(const PolicyContext& context,
                              const std::vector<BoundPolicy>& policies, Attributes& attributes,
                              Json* object, Reinvocation& reinvocation);
Result<void> ValidateByPolicies(const PolicyContext& context,
                                const std::vector<BoundPolicy>& policies, Attributes& attributes,
                                const Json* object);

// One application of a policy by a binding with one parameter object (or none).
struct PolicyUse {
  const Policy* policy = nullptr;
  const Binding* binding = nullptr;
  Invocation invocation = {};
  std::optional<Json> params = {};
  std::string error = {};  // it could not be set up: why. The binding is null when the policy is
                           // to blame.
};
// All that apply to this request, in order of policies and bindings.
std::vector<PolicyUse> FindUses(const PolicyContext& context,
                                const std::vector<BoundPolicy>& policies,
                                const Attributes& attributes, const Json* object);
// The namespace that expressions see.
ObjectPtr NamespaceFor(const PolicyContext& context, const Attributes& attributes);

}  // namespace mailroom::admission
